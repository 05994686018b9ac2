/** `.<task>.home-appends`: parts of a status log that the home wrote itself. */

import { readText } from "../platform/file_text.ts";
import { classifiedOffset, type SignalFile } from "./signal_marker.ts";

/**
 * Whether everything that a status log has grown by since it was last judged was written by the home.
 *
 * Such growth is no signal. Every doubt about the record is a "no".
 */
export function isOwnGrowth(state: string, file: SignalFile): boolean {
  if (!file.name.endsWith(".status")) return false;
  const task = file.name.slice(0, -".status".length);
  const content = readText(`${state}/.${task}.home-appends`);
  if (content.kind !== "text") return false;
  const [version, identity, ...lines] = content.text.trimEnd().split("\n");
  if (version !== "v1" || identity !== `ident=${file.fileIdentity}`) return false;
  const ranges = lines.map(parseRange);
  const start = classifiedOffset(state, file);
  return start < file.size && coveredUntil(start, ranges) >= file.size;
}

type Range = readonly [start: number, end: number];

/** A malformed line covers nothing. */
function parseRange(line: string): Range {
  const [, start, end] = /^([0-9]{1,15})\t([0-9]{1,15})$/.exec(line) ?? [];
  return start === undefined || end === undefined ? [0, 0] : [Number(start), Number(end)];
}

/** Where the unbroken cover that begins at `offset` ends. */
function coveredUntil(offset: number, ranges: readonly Range[]): number {
  let end = offset;
  for (const [from, to] of ranges.toSorted((one, other) => one[0] - other[0])) {
    if (from <= end && to > end) end = to;
  }
  return end;
}
