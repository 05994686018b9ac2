/** From the words of a command line to an exit status; nothing that happens in between escapes. */

import type { Environment } from "../platform/environment.ts";
import { errorMessage } from "../platform/file_text.ts";
import { nowMs } from "../platform/clock.ts";
import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import type { HookFailure } from "./failure_journal.ts";
import { Deadline } from "./deadline.ts";
import { type Call, EXIT, type ExitStatus, modeCalled, type ModeSpec } from "./mode.ts";
import { parseArguments, type UsageError } from "./parse.ts";
import { MODES } from "./table.ts";

/** Runs the mode that `args` name and returns its exit status. Never throws. */
export async function run(
  args: readonly string[],
  environment: Environment,
): Promise<ExitStatus> {
  const startedAtMs = nowMs();
  const [word, ...rest] = args;
  const row = word === undefined ? undefined : modeCalled(MODES, word);
  if (row === undefined) return await explainCall(word);
  const mode = await row.load();
  const parsed = parseArguments(mode, rest);
  if (parsed.kind === "help") {
    const { describeMode } = await import("./help.ts");
    await writeTo("stdout", describeMode(mode, row.aliases ?? []));
    return EXIT.ok;
  }
  if (parsed.kind === "usage") {
    if (mode.silent?.(rest) === true) return EXIT.ok;
    await writeTo(
      "stderr",
      `turnguard ${mode.name}: ${await complaint(mode, parsed)}; nothing was done\n`,
    );
    // 2 would be read as a verdict by the host of a hook.
    return mode.usageStatus ?? (mode.kind === "hook" ? EXIT.failure : EXIT.usage);
  }
  giveUpPermissions(mode);
  return await guarded(mode, { ...parsed, modes: MODES, environment, startedAtMs });
}

/** What to say to a call that names no mode. */
async function explainCall(word: string | undefined): Promise<ExitStatus> {
  const { overview, unknownMode } = await import("./help.ts");
  await writeTo("stderr", word === undefined ? await overview(MODES) : unknownMode(word, MODES));
  return EXIT.noMode;
}

async function complaint(mode: ModeSpec, usage: UsageError): Promise<string> {
  if (usage.unknownFlag === undefined) return usage.message;
  const { closest } = await import("./suggest.ts");
  const near = closest(usage.unknownFlag, mode.flags.map((flag) => flag.name));
  return near === undefined ? usage.message : `${usage.message}; did you mean --${near}?`;
}

/** What a mode does not need it cannot be made to do, whatever a payload or a file holds. */
function giveUpPermissions(mode: ModeSpec): void {
  if (!mode.startsPrograms) Deno.permissions.revokeSync({ name: "run" });
  if (mode.kind === "read-only") Deno.permissions.revokeSync({ name: "write" });
}

/**
 * Runs a mode to its exit status, and allows for a hook that fails or is too late. Never throws.
 *
 * A mode that settled its verdict in time keeps its status, however long it takes to be told.
 */
export async function guarded(mode: ModeSpec, parts: Omit<Call, "deadline">): Promise<ExitStatus> {
  const limitMs = mode.deadlineMs?.(parts);
  const deadline = new Deadline(limitMs);
  const call: Call = { ...parts, deadline };
  try {
    const late = deadline.passed.then(() => undefined);
    const status = await Promise.race([mode.run(call), late]);
    if (status !== undefined) return status;
    return await allowUnjudged(mode, call, {
      code: "deadline",
      because: `no verdict within ${limitMs} ms`,
    });
  } catch (error) {
    const because = errorMessage(error);
    // A hook that cannot know allows: only a verdict may block.
    if (mode.kind === "hook") {
      return await allowUnjudged(mode, call, { code: "internal-error", because });
    }
    await writeTo("stderr", `turnguard ${mode.name}: stopped: ${printable(because)}\n`);
    return EXIT.failure;
  } finally {
    deadline.settle();
  }
}

async function allowUnjudged(
  mode: ModeSpec,
  call: Call,
  failure: HookFailure,
): Promise<ExitStatus> {
  if (mode.silent !== undefined) return EXIT.ok;
  try {
    const { journalFailure } = await import("./failure_journal.ts");
    journalFailure(call, mode.name, failure);
  } catch {
    // Loading the journal failed as well; the turn ends all the same.
  }
  return EXIT.ok;
}
