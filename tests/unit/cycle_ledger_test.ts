import { assert, assertEquals } from "@std/assert";
import { enterLinks, trimRows } from "../../src/decide/cycle_ledger.ts";
import { cycleField, type CycleRow, formatCycleRow } from "../../src/state/cycle_ledger.ts";
import { formatLinkClaim, type FoundClaim, parseLinkClaim } from "../../src/state/cycle_links.ts";

const ROW: CycleRow = {
  armPid: 10,
  armIdentity: "start=1 hex=61",
  watcherPid: 11,
  origin: "started",
  startedAt: 1000,
  endedAt: 1060,
  exitCode: 0,
  signal: "none",
  reason: "actionable-check",
  beaconAge: 3,
  lockBefore: "pid:none|identity:none",
  lockAfter: "pid:11|identity:start=2",
  successor: "none",
};

Deno.test("formatCycleRow: every field in its order, each on one line and within bounds", () => {
  assertEquals(
    formatCycleRow(ROW),
    [
      "arm_pid=10",
      "arm_identity=start=1 hex=61",
      "watcher_pid=11",
      "origin=started",
      "started_at=1000",
      "ended_at=1060",
      "exit_code=0",
      "signal=none",
      "reason=actionable-check",
      "beacon_age=3",
      "lock_before=pid:none|identity:none",
      "lock_after=pid:11|identity:start=2",
      "successor=none",
    ].join("\t"),
  );
  const long = formatCycleRow({ ...ROW, armIdentity: `a\tb\r\nc${"x".repeat(600)}` });
  assertEquals(cycleField(long, "arm_identity"), `a b  c${"x".repeat(506)}`);
  assertEquals(long.split("\t").length, 13);
  assertEquals(cycleField(long, "nothing"), undefined);
});

/** A row of `bytes` bytes with its newline. */
function rowOf(bytes: number, start = "arm_pid="): string {
  return start.padEnd(bytes - 1, "x");
}

/** Rows, bounds, and how many of the rows stay. */
const TRIMS:
  readonly (readonly [rows: readonly string[], bytes: number, lines: number, kept: number])[] = [
    [[rowOf(20), rowOf(20)], 41, 1, 2],
    [[rowOf(20), rowOf(20)], 40, 1, 1],
    [[rowOf(20), rowOf(20), rowOf(20)], 40, 9, 2],
    [[rowOf(20), rowOf(20), rowOf(20)], 39, 9, 1],
    [[rowOf(20), rowOf(20)], 10, 9, 0],
    [[rowOf(20), rowOf(20, "_pid="), rowOf(20)], 50, 9, 1],
    [[rowOf(20, "_pid="), rowOf(20)], 41, 9, 2],
    [[], 1, 1, 0],
  ];

Deno.test("trimRows: the last rows stay, in bytes and in lines, and none that was cut", () => {
  for (const [rows, maximumBytes, keptLines, kept] of TRIMS) {
    assertEquals(
      trimRows(rows, { maximumBytes, keptLines }),
      rows.slice(rows.length - kept),
      `${rows.length} rows, ${maximumBytes} bytes, ${keptLines} lines`,
    );
  }
});

const CLAIM: FoundClaim = {
  name: "20.claim",
  predecessor: 10,
  predecessorIdentity: "start=1 hex=61",
  successor: "started:20",
  claimedAt: 2000,
};
const CLOCK = { now: 2000, horizonSeconds: 300 };

/** Successors of the rows after the claims were entered, and the claims that are settled. */
function entered(
  rows: readonly CycleRow[],
  claims: readonly FoundClaim[],
  clock = CLOCK,
): readonly [successors: readonly (string | undefined)[], settled: readonly string[]] {
  const linked = enterLinks(rows.map(formatCycleRow), claims, clock);
  return [linked.rows.map((row) => cycleField(row, "successor")), linked.settled.toSorted()];
}

Deno.test("enterLinks: the newest open row of the predecessor gets the successor", () => {
  assertEquals(entered([ROW, ROW], [CLAIM]), [["none", "started:20"], ["20.claim"]]);
  const linked = { ...ROW, successor: "attached:9" };
  assertEquals(entered([ROW, linked], [CLAIM]), [["started:20", "attached:9"], ["20.claim"]]);
});

Deno.test("enterLinks: pid and identity both have to match, and a claim waits for its row", () => {
  for (const row of [{ ...ROW, armPid: 1 }, { ...ROW, armIdentity: "start=1 hex=6161" }]) {
    assertEquals(entered([row], [CLAIM]), [["none"], []]);
    assertEquals(entered([row], [CLAIM], { ...CLOCK, now: 2300 }), [["none"], []]);
    assertEquals(entered([row], [CLAIM], { ...CLOCK, now: 2301 }), [["none"], ["20.claim"]]);
  }
});

Deno.test("enterLinks: of two claims the newer wins, then the larger name", () => {
  const newer = { ...CLAIM, name: "1.claim", successor: "attached:1", claimedAt: 2001 };
  const twin = { ...CLAIM, name: "3.claim", successor: "attached:3" };
  for (const claims of [[CLAIM, newer], [newer, CLAIM]]) {
    assertEquals(entered([ROW], claims), [["attached:1"], ["1.claim", "20.claim"]]);
    assertEquals(entered([ROW, ROW], claims), [["none", "attached:1"], ["1.claim", "20.claim"]]);
  }
  for (const claims of [[CLAIM, twin], [twin, CLAIM]]) {
    assertEquals(entered([ROW], claims), [["attached:3"], ["20.claim", "3.claim"]]);
  }
});

Deno.test("parseLinkClaim: reads what is written, and nothing else", () => {
  const { name: _name, ...claim } = CLAIM;
  const text = formatLinkClaim(claim);
  assertEquals(parseLinkClaim(`${text}\n`), claim);
  const malformed = [
    "",
    `${text}\nmore`,
    `x${text}`,
    text.replace("started:20", "none"),
    text.replace("predecessor=10", "predecessor=x"),
    text.replace("claimed_at=2000", "claimed_at="),
    text.replace("start=1 hex=61", ""),
  ];
  for (const broken of malformed) assert(parseLinkClaim(broken) === undefined, broken);
});
