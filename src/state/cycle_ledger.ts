/** `.watch-cycle-exits.log`: one row for each watch that an arm has seen end, for diagnosis alone. */

/** A watch that an arm has seen. */
export interface CycleRow {
  readonly armPid: number;
  readonly armIdentity: string;
  readonly watcherPid: number;
  /** Whether the watcher was the arm's own. */
  readonly origin: "started" | "attached";
  /** Seconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly exitCode: number | "unknown";
  /** Name without `SIG`. */
  readonly signal: string;
  readonly reason: string;
  /** Seconds since the last beat, where there was one. */
  readonly beaconAge: number | "none";
  readonly lockBefore: string;
  readonly lockAfter: string;
  /** `none`, `started:<pid>` or `attached:<pid>`. */
  readonly successor: string;
}

/** Characters of one value that are kept. */
const VALUE_LIMIT = 512;

/** A value as it stands in the ledger and in a claim: on one line, without a tab, and not too long. */
export function ledgerValue(text: string): string {
  return text.replaceAll(/[\t\r\n]/g, " ").slice(0, VALUE_LIMIT);
}

/** The row's line, without a newline. */
export function formatCycleRow(row: CycleRow): string {
  const fields: readonly (readonly [string, string | number])[] = [
    ["arm_pid", row.armPid],
    ["arm_identity", row.armIdentity],
    ["watcher_pid", row.watcherPid],
    ["origin", row.origin],
    ["started_at", row.startedAt],
    ["ended_at", row.endedAt],
    ["exit_code", row.exitCode],
    ["signal", row.signal],
    ["reason", row.reason],
    ["beacon_age", row.beaconAge],
    ["lock_before", row.lockBefore],
    ["lock_after", row.lockAfter],
    ["successor", row.successor],
  ];
  return fields.map(([name, value]) => `${name}=${ledgerValue(String(value))}`).join("\t");
}

/** The value of one field of a row's line; `undefined` when the line has no such field. */
export function cycleField(line: string, name: string): string | undefined {
  const start = `${name}=`;
  return line.split("\t").find((field) => field.startsWith(start))?.slice(start.length);
}
