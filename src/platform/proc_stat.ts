/** The two files under `/proc/<pid>` that describe a process, taken apart without trusting them. */

import { parsePid, type Pid } from "./pid.ts";

/** What `/proc/<pid>/stat` and `/proc/<pid>/cmdline` say about a process. */
export interface ProcRecord {
  /** Kernel name, at most 15 characters for a user process; it may hold anything. */
  readonly name: string;
  /** State letter; `Z` is a zombie. */
  readonly state: string;
  /** Parent, or `undefined` for pid 0. */
  readonly parent: Pid | undefined;
  /** Field 22: start in clock ticks since boot, digits. */
  readonly startTicks: string;
  /** Raw command line: NUL after each argument; empty for zombies and kernel threads. */
  readonly commandLine: Uint8Array;
}

/**
 * Longest distance from the start of the file to the `)` that ends the name: ten digits, a blank,
 * the parentheses and 64 characters of a kernel worker's name. The numbers that follow take longer
 * than what is left, so a `)` of the command line can never be taken for it.
 */
const NAME_END_LIMIT = 80;

const CLOSING_PARENTHESIS = 0x29;
const NEWLINE = 0x0a;

/**
 * Splits the output of one `cat` over both files.
 *
 * A name may hold blanks, parentheses and newlines, so the boundary is the first newline after the
 * name's last `)`. Returns `undefined` for anything that is not such an output.
 */
export function parseProcOutput(bytes: Uint8Array): ProcRecord | undefined {
  const nameEnd = bytes.subarray(0, NAME_END_LIMIT).lastIndexOf(CLOSING_PARENTHESIS);
  if (nameEnd < 0) return undefined;
  const statEnd = bytes.indexOf(NEWLINE, nameEnd);
  if (statEnd < 0) return undefined;
  return parseProcFiles(bytes.subarray(0, statEnd), bytes.subarray(statEnd + 1));
}

/** Builds the record from the contents of `stat` and `cmdline` read apart. */
export function parseProcFiles(stat: Uint8Array, commandLine: Uint8Array): ProcRecord | undefined {
  const text = new TextDecoder().decode(stat);
  const nameStart = text.indexOf("(");
  const nameEnd = text.lastIndexOf(")");
  if (nameStart < 0 || nameEnd < nameStart) return undefined;
  const words = text.slice(nameEnd + 1).split(/\s+/).filter((word) => word !== "");
  const [state, parent] = words;
  const startTicks = words[19];
  if (state === undefined || parent === undefined || startTicks === undefined) return undefined;
  if (!/^[0-9]+$/.test(startTicks)) return undefined;
  return {
    name: text.slice(nameStart + 1, nameEnd),
    state,
    parent: parsePid(parent),
    startTicks,
    commandLine,
  };
}
