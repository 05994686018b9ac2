/** The operator's notify command: one start, bounded, with everything that it started. */

import { isAbsolute } from "@std/path";
import { targetKind } from "../../platform/path_kind.ts";
import { type GroupEnd, runGroup } from "../../platform/process_group.ts";

/** Seconds that the command may take. */
export const NOTIFY_LIMIT_SECONDS = 30;

/** How a start of the command ended. */
export type NotifyEnd =
  | { readonly kind: "told" }
  | { readonly kind: "failed"; readonly because: string }
  /** This process was asked to stop. */
  | { readonly kind: "stopped" };

/**
 * Starts the command with `message` as its last argument and as a line on its standard input.
 *
 * No shell is involved. It is told once it has ended with status 0; whatever it left running in its
 * process group is ended then, and after {@link NOTIFY_LIMIT_SECONDS} in any case.
 */
export async function notify(
  [path, ...args]: readonly [string, ...string[]],
  message: string,
  stop: Promise<unknown>,
): Promise<NotifyEnd> {
  const end = await runGroup({
    path,
    args: [...args, message],
    workingDirectory: "/",
    input: `${message}\n`,
  }, {
    deadlineMs: NOTIFY_LIMIT_SECONDS * 1_000,
    outputLimitBytes: 0,
    tick: () => {},
    stop,
  });
  return notifyEndOf(end);
}

function notifyEndOf(end: GroupEnd): NotifyEnd {
  switch (end.kind) {
    case "not-started":
      return { kind: "failed", because: `it cannot be started: ${end.because}` };
    case "timed-out":
      return { kind: "failed", because: `it took longer than ${NOTIFY_LIMIT_SECONDS} s` };
    case "stopped":
      return { kind: "stopped" };
    case "ended":
      return end.status === 0
        ? { kind: "told" }
        : { kind: "failed", because: `it ended with status ${end.status ?? "unknown"}` };
  }
}

/**
 * The command as it is recorded, its program by absolute path; `undefined` when there is no such
 * program. `PATH` is asked here, once, and not by the scheduler, whose own is another.
 */
export function resolveCommand(
  [name, ...args]: readonly [string, ...string[]],
  search: { readonly path: string | undefined; readonly workingDirectory: () => string },
): readonly [string, ...string[]] | undefined {
  const found = candidates(name, search).find(isProgram);
  return found === undefined ? undefined : [found, ...args];
}

function candidates(
  name: string,
  { path = "", workingDirectory }: Parameters<typeof resolveCommand>[1],
): readonly string[] {
  if (isAbsolute(name)) return [name];
  if (name.includes("/")) return [`${workingDirectory()}/${name}`];
  return path.split(":").filter(isAbsolute).map((folder) => `${folder}/${name}`);
}

function isProgram(path: string): boolean {
  if (targetKind(path) !== "file") return false;
  return ((Deno.statSync(path).mode ?? 0o111) & 0o111) !== 0;
}
