/** What `install` and `uninstall` tell: to people, and to machines. */

import { writeTo } from "../../platform/output.ts";
import { printable } from "../../platform/printable.ts";
import { complain, labelled, say, sayJson } from "../person_output.ts";
import { diffText, printableDiff } from "./diff_text.ts";
import type { Plan, PlannedFile } from "./plan.ts";

/** Name of the object that `--json` prints. */
const SCHEMA = "turnguard-install.v1";

/** What is told besides the plans. */
export interface Telling {
  readonly mode: "install" | "uninstall";
  readonly isDryRun: boolean;
  /** Harnesses that `all` passed over, since nothing of them is here. */
  readonly passedOver: readonly string[];
  readonly attention: readonly string[];
}

/** Complains about every refused plan; whether there was one. */
export async function tellRefusals(mode: string, plans: readonly Plan[]): Promise<boolean> {
  const refused = plans.filter((plan) => plan.kind === "refused");
  for (const plan of refused) await complain({ ...plan, mode });
  return refused.length > 0;
}

/** Tells people what was done, or what would be. The diff of a dry run stands alone on its stream. */
export async function tellPeople(plans: readonly Plan[], telling: Telling): Promise<void> {
  const { mode, isDryRun, passedOver, attention } = telling;
  for (const plan of plans) {
    if (plan.kind === "refused") continue;
    const changed = plan.files.filter(({ change }) => change !== undefined);
    if (isDryRun && changed.length > 0) {
      const diff = changed.flatMap(({ change }) => change ? [diffText(change)] : []).join("");
      await writeTo("stdout", Deno.stdout.isTerminal() ? printableDiff(diff) : diff);
      continue;
    }
    await say(reportOf(plan, mode));
  }
  const extra = [
    ...attention.flatMap((text) => labelled("Attention: ", printable(text))),
    ...(passedOver.length === 0 ? [] : labelled(
      "",
      `Passed over, since nothing of them was found here: ${passedOver.join(", ")}.`,
    )),
  ];
  if (!isDryRun) await say(extra);
  else {
    const end = `turnguard ${mode}: dry run; nothing was written`;
    await writeTo("stderr", [...extra, end].map((line) => `${line}\n`).join(""));
  }
}

function reportOf(plan: Extract<Plan, { kind: "planned" }>, mode: string): readonly string[] {
  const isUpdate = plan.files.some(({ how }) => how === "updated");
  const guarded = plan.files.some(({ how }) => how === "guarded");
  const trust = plan.trust === undefined || guarded ? [] : labelled("", plan.trust);
  return [
    ...filesToTell(plan.files).flatMap((file) => aboutFile(file, mode)),
    ...(isUpdate ? plan.afterUpdate : []).flatMap((text) => labelled("", text)),
    ...trust,
    ...plan.attention.flatMap((text) => labelled("Attention: ", printable(text))),
  ];
}

/** A file in which nothing happens is worth a line only when nothing happens at all. */
function filesToTell(files: readonly PlannedFile[]): readonly PlannedFile[] {
  const active = files.filter(({ how }) => how !== "none");
  return active.length > 0 ? active : files.slice(0, 1);
}

function aboutFile(file: PlannedFile, mode: string): readonly string[] {
  const path = `  ${printable(file.path)}`;
  switch (file.how) {
    case "added":
      if (file.isWhole) return ["Wrote, as turnguard's own:", path];
      return [`Added ${file.what} to`, path, ...inTheWay(file)];
    case "updated":
      if (file.isWhole) return ["Brought up to date, turnguard's own:", path];
      return [`Brought turnguard's own ${file.what} up to date in`, path, ...inTheWay(file)];
    case "removed":
      if (file.isWhole) return ["Removed, turnguard's own:", path];
      return [`Took ${file.what} of turnguard out of`, path];
    case "none":
      return mode === "install"
        ? ["Already registered; nothing was written:", path]
        : ["Nothing of turnguard is in there; nothing was written:", path];
    case "guarded":
      return inTheWay(file);
  }
}

function inTheWay({ path, references }: PlannedFile): readonly string[] {
  const [first] = references;
  if (first === undefined) return [];
  return [
    "A guard of the fm-*.sh scripts is already registered in",
    `  ${printable(path)}:${first.line}`,
    ...labelled(
      "",
      "It was left as it is: with two guards every turn would be blocked twice. To put this one in " +
        "its place, install again with --replace-shell; --dry-run shows the change.",
    ),
  ];
}

/** Tells machines the same. */
export async function tellJson(plans: readonly Plan[], telling: Telling): Promise<void> {
  const { mode, isDryRun, passedOver, attention } = telling;
  await sayJson({
    schema: SCHEMA,
    mode,
    dryRun: isDryRun,
    ok: plans.every(({ kind }) => kind === "planned"),
    harnesses: plans.map((plan) =>
      plan.kind === "refused" ? { harness: plan.harness, refused: plan.wrong, todo: plan.todo } : {
        harness: plan.harness,
        files: plan.files.map((file) => ({
          path: file.path,
          outcome: file.how,
          ...(file.change === undefined ? {} : { diff: diffText(file.change) }),
        })),
        trust: plan.trust ?? null,
        attention: [
          ...(plan.files.some(({ how }) => how === "updated") ? plan.afterUpdate : []),
          ...plan.attention,
        ],
      }
    ),
    passedOver,
    attention,
  });
}
