/** `install`: registers the turn-end guard with harnesses, without disturbing what is there. */

import type { ExtraHooks } from "../harness/registration/extra_hooks.ts";
import { hasHomeShape } from "../observe/home.ts";
import { carryOut } from "./install/carry_out.ts";
import { ALL, HARNESS_WORDS, whatIsWrong } from "./install/harness_words.ts";
import { INTEGRATIONS } from "./install/integrations.ts";
import { leavesTraces } from "./install/traces.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complain, complainUsage } from "./person_output.ts";
import { executableOf, rootOf } from "./registered_paths.ts";

/** The mode. */
export const installMode: ModeSpec = {
  name: "install",
  kind: "person",
  summary: "Register the turn-end guard with a harness.",
  operands: `${HARNESS_WORDS.join(" | ")} ... | ${ALL}`,
  maximumOperands: HARNESS_WORDS.length,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "user", summary: "Use the files of the user, which hold for every project." },
    { name: "dry-run", summary: "Print the change as a unified diff and write nothing." },
    { name: "activity", summary: "Register what the idle watchdog needs as well." },
    {
      name: "all-hooks",
      summary: "Register every hook there is: with --activity, and what makes it finer.",
    },
    {
      name: "replace-shell",
      summary: "Put ours in the place of the hooks of the fm-*.sh scripts.",
    },
    {
      name: "executable",
      value: "PATH",
      summary: "Path to register, instead of the one this was started as.",
    },
    { name: "json", summary: "Print what was done as JSON." },
  ],
  details: [
    "Everything else in a file stays byte for byte, comments and layout included; a file that " +
    "cannot be read is left alone. Doing it again changes nothing. Of several harnesses either all " +
    "are registered or none. turnguard uninstall gives every file back as it was.",
    "In a project that is no home only the entries of --activity can be registered.",
    `${ALL} stands for those that are in use: a harness that has a folder in the root or in your ` +
    "own folder, or whose program is on PATH.",
    ...INTEGRATIONS.map(({ details }) => details),
    "The path that is registered keeps its links, so that it stays right after an upgrade.",
  ],
  startsPrograms: false,
  run: install,
};

async function install(call: Call): Promise<ExitStatus> {
  const wrong = whatIsWrong(call.operands);
  if (wrong !== undefined) return await complainUsage("install", wrong);
  const root = rootOf(call);
  const isForUser = hasFlag(call, "user");
  const executable = executableOf(call);
  if (executable.kind === "refused") {
    return await refuse(
      `${executable.path} ${executable.because}`,
      "name another path of turnguard with --executable PATH, a link to it for example",
    );
  }
  const { environment } = call;
  const guards = isForUser || hasHomeShape(root);
  const isAll = call.operands.includes(ALL);
  const wanted = INTEGRATIONS.filter(({ harness, hasUserPlace, hasActivity }) =>
    isAll
      ? leavesTraces(harness, root, environment) && (!isForUser || hasUserPlace) &&
        (guards || hasActivity)
      : call.operands.includes(harness)
  );
  if (wanted.length === 0) {
    return await refuse(
      "no harness was found: none has a folder in the root or in yours, or a program on PATH",
      `name those that are meant: ${HARNESS_WORDS.join(", ")}`,
    );
  }
  const request = {
    root,
    isForUser,
    environment,
    executable: executable.path,
    replacesShell: hasFlag(call, "replace-shell"),
    guards,
    extras: extrasOf(call, guards),
    modes: call.modes.map(({ name }) => name),
  };
  const plans = [];
  for (const integration of wanted) plans.push(await integration.plan(request));
  const passedOver = isAll
    ? INTEGRATIONS.filter((each) => !wanted.includes(each)).map(({ harness }) => harness)
    : [];
  return await carryOut(call, "install", plans, passedOver);
}

/** Which entries besides the guard's are wanted; each flag includes what comes before it. */
function extrasOf(call: Call, guards: boolean): readonly ExtraHooks["when"][] {
  return [
    ...guards ? ["always" as const] : [],
    ...hasFlag(call, "activity") || hasFlag(call, "all-hooks") ? ["activity" as const] : [],
    ...hasFlag(call, "all-hooks") ? ["all" as const] : [],
  ];
}

async function refuse(wrong: string, todo: string): Promise<ExitStatus> {
  await complain({ mode: "install", wrong, untouched: "nothing was written", todo });
  return EXIT.failure;
}
