/** One run of one check: a verified copy, a group of its own, a deadline, and its output as text. */

import type { Home } from "../../observe/home.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { printable } from "../../platform/printable.ts";
import { type GroupEnd, type GroupLimits, runGroup } from "../../platform/process_group.ts";
import { readPlainFile, sha256Hex, TRUST_PERMISSIONS } from "../../state/check_trust.ts";
import { writeExclusively } from "../../state/create_file.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import { copyName } from "./abandoned.ts";
import type { Candidate } from "./candidates.ts";

/** Bytes of output that are used. */
export const OUTPUT_LIMIT_BYTES = 65_536;

/** What bounds one check. */
export interface CheckLimits extends Pick<GroupLimits, "tick" | "stop"> {
  readonly timeoutSeconds: number;
}

/** How one check came out. */
export type CheckRun =
  | {
    readonly kind: "ran";
    readonly how: "ended" | "timed-out";
    /** Output as text, empty when there was none. */
    readonly output: string;
  }
  | { readonly kind: "stopped" }
  | { readonly kind: "group-not-gone" }
  /** It was not run, because its copy does not hold what was trusted. */
  | { readonly kind: "rejected"; readonly because: string }
  /** It was not run, through no fault of its own. */
  | { readonly kind: "unable"; readonly because: string };

/** A candidate that may be run. */
export type Runnable = Extract<Candidate, { kind: "trusted" | "relay" }>;

/** Runs a check that was judged runnable. The copy is gone afterwards, whatever happened. */
export async function runCheck(
  home: Home,
  candidate: Runnable,
  limits: CheckLimits,
): Promise<CheckRun> {
  if (candidate.kind === "relay") {
    return await runScript(candidate.pollScript, { FM_HOME: home.home }, limits);
  }
  const copy = `${home.state}/${copyName()}`;
  try {
    const fault = await makeCopy(copy, candidate);
    return fault ?? await runScript(copy, {}, limits);
  } finally {
    removeQuietly(copy);
  }
}

/** What runs is a copy, so that an edit in the middle of a run cannot change what was trusted. */
async function makeCopy(
  path: string,
  { script, hash }: Extract<Runnable, { kind: "trusted" }>,
): Promise<CheckRun | undefined> {
  try {
    writeExclusively(path, script, TRUST_PERMISSIONS);
  } catch (error) {
    return { kind: "unable", because: `the check cannot be copied: ${errorMessage(error)}` };
  }
  const copied = readPlainFile(path, script.length);
  return copied !== undefined && await sha256Hex(copied) === hash
    ? undefined
    : { kind: "rejected", because: "its copy does not hold what was registered" };
}

async function runScript(
  path: string,
  environment: Readonly<Record<string, string>>,
  { timeoutSeconds, tick, stop }: CheckLimits,
): Promise<CheckRun> {
  const shell = bash();
  if (shell === undefined) return { kind: "unable", because: "there is no bash on this machine" };
  const end = await runGroup({ path: shell, args: [path], environment }, {
    deadlineMs: timeoutSeconds * 1_000,
    outputLimitBytes: OUTPUT_LIMIT_BYTES,
    tick,
    stop,
  });
  return checkRunOf(end);
}

function checkRunOf(end: GroupEnd): CheckRun {
  switch (end.kind) {
    case "not-started":
      return { kind: "unable", because: `bash cannot be started: ${end.because}` };
    case "stopped":
      return { kind: "stopped" };
    case "ended":
    case "timed-out":
      if (end.group === "remains") return { kind: "group-not-gone" };
      return { kind: "ran", how: end.kind, output: outputText(end.output) };
  }
}

/** Where bash is; `PATH` is never asked, since it is whatever the session made of it. */
const BASH_PLACES = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];

function bash(): string | undefined {
  return BASH_PLACES.find((path) => targetKind(path) === "file");
}

/**
 * What a check printed as lines of text: as a shell captures it (no NUL, no trailing newlines), with
 * everything that could steer a terminal shown as an escape, since it is printed and queued.
 */
export function outputText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, OUTPUT_LIMIT_BYTES))
    .replaceAll("\0", "").replaceAll("\r\n", "\n").replace(/\n+$/, "");
  // Escapes are longer than what they stand for; the limit holds for the result too.
  return text.replaceAll(/[^\n\t]+/g, printable).slice(0, OUTPUT_LIMIT_BYTES);
}
