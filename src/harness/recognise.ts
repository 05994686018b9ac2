/** Which processes are harnesses that may own a session lock. */

import { basename } from "@std/path";
import type { ProcessInfo } from "../platform/process_info.ts";
import type { HarnessName } from "./names.ts";

/** The part of a process that recognition looks at. */
export type ProcessLook = Pick<ProcessInfo, "command" | "args" | "argv0">;

/** A recognised harness. `claudeShaped` processes may stack: Claude starts itself again. */
export interface RecognisedHarness {
  readonly name: HarnessName;
  readonly claudeShaped: boolean;
}

/** Names that are recognised anywhere in a program's own name. */
const NAME_PARTS = ["claude", "codex", "opencode", "grok", "kimi"] as const;

/** Names so short that only an exact match counts. */
const EXACT_NAMES = ["pi", "pi-signed", "omp"] as const;

/** Names that are recognised as a whole component of the program's path, in this order. */
const PATH_COMPONENTS = [...NAME_PARTS, "pi-signed", "pi", "omp"] as const;

/**
 * Recognises the harness that a process is, or `undefined`.
 *
 * Arguments are looked at only for `node` and `python`, which run somebody else's program: a flag or
 * a script path of any other program says nothing about what it is, ours included.
 */
export function recogniseHarness(process: ProcessLook): RecognisedHarness | undefined {
  return byName(process) ?? byPathComponent(process) ?? byInterpreter(process) ?? byCursor(process);
}

function byName({ command }: ProcessLook): RecognisedHarness | undefined {
  const base = basename(command);
  const part = NAME_PARTS.find((name) => base.includes(name));
  if (part !== undefined) return recognised(part, base.includes("claude"));
  const exact = EXACT_NAMES.find((name) => base === name);
  return exact === undefined ? undefined : recognised(exact, false);
}

/** A native build may be named after its version and be known only by the folder it lies in. */
function byPathComponent({ command, argv0 }: ProcessLook): RecognisedHarness | undefined {
  for (const path of [command, argv0]) {
    const components = path.split("/");
    const name = PATH_COMPONENTS.find((candidate) => components.includes(candidate));
    if (name !== undefined) return recognised(name, name === "claude");
  }
  return undefined;
}

function byInterpreter({ command, args }: ProcessLook): RecognisedHarness | undefined {
  if (!command.includes("node") && !command.includes("python")) return undefined;
  const lines = args.split("\n");
  const part = NAME_PARTS.find((name) => lines.some((line) => line.includes(name)));
  const name = part ?? EXACT_NAMES.find((exact) => lines.includes(exact));
  return name === undefined ? undefined : recognised(name, args.includes("claude"));
}

function recognised(name: HarnessName, claudeShaped: boolean): RecognisedHarness {
  return { name, claudeShaped };
}

/** Names under which the Cursor agent's own runtime appears. */
const CURSOR_RUNTIMES = /^(?:agent|MainThread|node(?:-.*|[0-9].*)?|python(?:[0-9].*)?)$/;

/** How many links are followed before a path is given up. */
const LINK_LIMIT = 16;

function byCursor({ command, argv0 }: ProcessLook): RecognisedHarness | undefined {
  const base = basename(command).replace(/^-/, "");
  if (base === "cursor-agent") return recognised("cursor", false);
  const matches = CURSOR_RUNTIMES.test(base)
    ? argv0 !== "MainThread" &&
      (argv0 === "cursor-agent" || isCursorAgent(argv0) || isCursorAgent(command))
    : command.includes("/") && isCursorAgent(command);
  return matches ? recognised("cursor", false) : undefined;
}

/** Whether a path leads to the Cursor agent; a folder that merely has its name is not enough. */
function isCursorAgent(path: string): boolean {
  if (!path.startsWith("/")) return false;
  const target = followLinks(path);
  return basename(target) === "cursor-agent" || /\/cursor-agent\/versions\/[^/]+\//.test(target);
}

function followLinks(path: string): string {
  let current = path;
  for (let followed = 0; followed < LINK_LIMIT; followed++) {
    const next = linkTarget(current);
    if (next === undefined) break;
    current = next;
  }
  return current;
}

function linkTarget(path: string): string | undefined {
  try {
    return new URL(Deno.readLinkSync(path), `file://${path}`).pathname;
  } catch {
    return undefined;
  }
}
