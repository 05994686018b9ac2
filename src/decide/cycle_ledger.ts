/** How the ledger of watches is kept short, and how successors are entered into it. */

import type { FoundClaim } from "../state/cycle_links.ts";

/** Bounds of the ledger. */
export interface LedgerBounds {
  /** Bytes at which it is trimmed, and that it has at most afterwards. */
  readonly maximumBytes: number;
  /** Rows that stay when it is. */
  readonly keptLines: number;
}

/** The start of a whole row; what begins otherwise is the rest of one that was cut. */
const ROW_START = "arm_pid=";

/** The rows that stay. Below the bound all do. */
export function trimRows(rows: readonly string[], bounds: LedgerBounds): readonly string[] {
  if (bytesOf(rows) < bounds.maximumBytes) return rows;
  const kept = rows.slice(-bounds.keptLines);
  let bytes = bytesOf(kept);
  let first = 0;
  while (first < kept.length && (bytes > bounds.maximumBytes || !isWhole(kept[first]))) {
    bytes -= bytesOf([kept[first] ?? ""]);
    first++;
  }
  return kept.slice(first);
}

function isWhole(row: string | undefined): boolean {
  return row?.startsWith(ROW_START) ?? false;
}

/** Bytes of the rows as a file. */
function bytesOf(rows: readonly string[]): number {
  const encoder = new TextEncoder();
  return rows.reduce((sum, row) => sum + encoder.encode(row).length + 1, 0);
}

/** What the claims make of the rows. */
export interface LinkedRows {
  readonly rows: readonly string[];
  /** Names of the claims that are entered, or will never be. */
  readonly settled: readonly string[];
}

/** When a claim that finds no row is given up. */
export interface LinkClock {
  /** Seconds since the epoch. */
  readonly now: number;
  readonly horizonSeconds: number;
}

const OPEN_END = "\tsuccessor=none";

/**
 * Enters successors into the newest row of their predecessor that still has none.
 *
 * Of several claims for one predecessor the newest counts, since the arm that made it is the one that
 * lives. A claim may be here before its predecessor's last row is; it waits.
 */
export function enterLinks(
  rows: readonly string[],
  claims: readonly FoundClaim[],
  clock: LinkClock,
): LinkedRows {
  const linked = [...rows];
  const settled: string[] = [];
  const served = new Set<string>();
  for (const claim of claims.toSorted(newestFirst)) {
    const start = `${ROW_START}${claim.predecessor}\tarm_identity=${claim.predecessorIdentity}\t`;
    const index = linked.findLastIndex((row) => row.startsWith(start) && row.endsWith(OPEN_END));
    const row = linked[index];
    if (served.has(start)) {
      settled.push(claim.name);
    } else if (row !== undefined) {
      linked[index] = `${row.slice(0, -OPEN_END.length)}\tsuccessor=${claim.successor}`;
      served.add(start);
      settled.push(claim.name);
    } else if (clock.now - claim.claimedAt > clock.horizonSeconds) {
      settled.push(claim.name);
    }
  }
  return { rows: linked, settled };
}

function newestFirst(one: FoundClaim, other: FoundClaim): number {
  if (one.claimedAt !== other.claimedAt) return other.claimedAt - one.claimedAt;
  return one.name < other.name ? 1 : -1;
}
