/** Where a child process can be killed, and how a test starts it there. */

import { assert } from "@std/assert";
import { dirname, fromFileUrl } from "@std/path";

const PROJECT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));

/** A place to be killed at. */
export interface KillPoint {
  /** In words, for a complaint. */
  readonly where: string;
  /** Variables by which the child knows it. */
  readonly env: Readonly<Record<string, string>>;
}

/** The command that runs a child of the tests with the project's own Deno and cache. */
export function childCommand(script: string, words: readonly string[]): readonly string[] {
  const flags = ["--no-check", "--cached-only", `--config=${PROJECT}/deno.json`, "-A"];
  return [Deno.execPath(), "run", ...flags, script, ...words];
}

/** Variables that such a command needs in an environment of its own. */
export function childVariables(): Readonly<Record<string, string>> {
  const inherited = ["DENO_DIR", "HOME"].map((name) => [name, Deno.env.get(name)] as const)
    .filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  return { DENO_NO_UPDATE_CHECK: "1", ...Object.fromEntries(inherited) };
}

/** All points of a child that has told its steps: in front of each, and inside each write. */
export function killPoints(told: string): readonly KillPoint[] {
  const [, steps = "", writes = ""] = /changes ([0-9]+), writes ([0-9,]*)/.exec(told) ?? [];
  assert(Number(steps) >= 1, `the child must have its steps: ${told}`);
  const point = (at: string, inside: boolean): KillPoint => ({
    where: `killed ${inside ? "inside" : "before"} step ${at} of ${steps}`,
    env: { KILL_AT: at, KILL_INSIDE: inside ? "1" : "0" },
  });
  return [
    ...Array.from({ length: Number(steps) }, (_, at) => point(String(at + 1), false)),
    ...writes.split(",").filter((at) => at !== "").map((at) => point(at, true)),
  ];
}
