/**
 * What was measured, which limits it keeps, and both as a table.
 *
 * @module
 */

import type { Measured } from "./measure.ts";

/** The limits of one case; what is absent is not limited. */
export interface Limits {
  /** Median wall time as a multiple of the empty program's. */
  readonly ratio?: number;
  /** Peak memory in MiB. */
  readonly peakMiB?: number;
  /** Other programs started. */
  readonly started?: number;
}

/** One case, measured. */
export interface Row {
  readonly name: string;
  readonly medianMs: number;
  readonly ratio: number;
  readonly peak: Measured<number>;
  readonly started: Measured<number>;
  readonly limits: Limits;
}

/** One limit and whether it is kept. */
export interface Gate {
  readonly name: string;
  readonly value: number | null;
  readonly limit: number;
  readonly outcome: "pass" | "fail" | "skipped";
  readonly because?: string;
}

/** Every limit of every row. */
export function gates(rows: readonly Row[]): readonly Gate[] {
  return rows.flatMap(({ name, ratio, peak, started, limits }) => [
    ...gate(`${name}: ratio`, { kind: "measured", value: ratio }, limits.ratio),
    ...gate(`${name}: peak MiB`, peak, limits.peakMiB),
    ...gate(`${name}: programs started`, started, limits.started),
  ]);
}

/** One limit, or none. */
export function gate(
  name: string,
  measured: Measured<number>,
  limit: number | undefined,
): readonly Gate[] {
  if (limit === undefined) return [];
  if (measured.kind === "skipped") {
    return [{ name, value: null, limit, outcome: "skipped", because: measured.because }];
  }
  const { value } = measured;
  return [{ name, value, limit, outcome: value <= limit ? "pass" : "fail" }];
}

/** Table and verdicts, at most 80 columns wide. */
export function asText(rows: readonly Row[], extra: readonly Gate[], runs: number): string {
  const all = [...gates(rows), ...extra];
  const failed = all.filter(({ outcome }) => outcome === "fail");
  const skipped = all.filter(({ outcome }) => outcome === "skipped");
  return [
    line("case", "median ms", "ratio", "limit", "peak MiB", "starts"),
    line("-".repeat(28), "---------", "-----", "-----", "--------", "------"),
    ...rows.map(rowLine),
    "",
    ...extra.map(({ name, value, limit, outcome }) =>
      `${name}: ${shown(value, 1)} of ${limit}, ${outcome}`
    ),
    `Medians of ${runs} runs each, interleaved; * marks a limit that is not kept.`,
    ...skipped.map(({ name, because }) => `skipped: ${name}: ${because}`),
    ...failed.map(({ name, value, limit }) =>
      `FAIL: ${name}: ${shown(value, 2)} is more than ${limit}`
    ),
    failed.length === 0 ? "all limits are kept" : `${failed.length} of ${all.length} limits fail`,
    "",
  ].join("\n");
}

function rowLine({ name, medianMs, ratio, peak, started, limits }: Row): string {
  return line(
    name,
    medianMs.toFixed(1),
    ratio.toFixed(2) + mark(ratio, limits.ratio),
    limits.ratio?.toFixed(2) ?? "",
    cell(peak, limits.peakMiB, 1),
    cell(started, limits.started, 0),
  );
}

function cell(measured: Measured<number>, limit: number | undefined, digits: number): string {
  if (measured.kind === "skipped") return "-";
  return measured.value.toFixed(digits) + mark(measured.value, limit);
}

function mark(value: number, limit: number | undefined): string {
  return limit !== undefined && value > limit ? "*" : "";
}

function shown(value: number | null, digits: number): string {
  return value === null ? "-" : value.toFixed(digits);
}

function line(...cells: readonly [name: string, ...numbers: string[]]): string {
  const [name, ...numbers] = cells;
  return (name.padEnd(28) + numbers.map((text) => text.padStart(10)).join("")).trimEnd();
}

/** The middle of a list of numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}
