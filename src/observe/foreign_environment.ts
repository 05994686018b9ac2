/** Variables of another home that a hook has inherited from the session that started its own. */

import type { Environment } from "../platform/environment.ts";

/** Everything that would lead to the other home's files. */
const LEADING: readonly string[] = [
  "FM_ROOT_OVERRIDE",
  "FM_STATE_OVERRIDE",
  "FM_DATA_OVERRIDE",
  "FM_PROJECTS_OVERRIDE",
  "FM_CONFIG_OVERRIDE",
];

/**
 * The values by which a hook of the checkout `root` and its children tell nothing of another home; none
 * when the variables are its own. An empty value counts as unset everywhere.
 *
 * An override that leads nowhere may be meant, and stays.
 */
export function foreignVariables(
  environment: Environment,
  root: string | undefined,
): Readonly<Record<string, string>> {
  const override = environment.get("FM_ROOT_OVERRIDE");
  if (override === undefined || root === undefined) return {};
  const [own, other] = [physical(root), physical(override)];
  if (own === undefined || other === undefined || own === other) return {};
  return { ...Object.fromEntries(LEADING.map((name) => [name, ""])), FM_HOME: root };
}

function physical(path: string): string | undefined {
  try {
    const real = Deno.realPathSync(path);
    return Deno.statSync(real).isDirectory ? real : undefined;
  } catch {
    return undefined;
  }
}
