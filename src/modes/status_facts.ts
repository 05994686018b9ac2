/** The parts of a status that no rule of a turn end asks for: queue, claim, checks and the like. */

import { storedBudget } from "../act/accountant.ts";
import { autoarmGraceSeconds, blockBudget, claimGraceSeconds } from "../decide/claude_settings.ts";
import { judgeClaim } from "../decide/claim.ts";
import { observeReservedRows } from "../observe/branch_grant.ts";
import { observeClaim } from "../observe/claim.ts";
import { claudeVariables } from "../observe/claude_turn_end.ts";
import type { Home } from "../observe/home.ts";
import { countBacklog } from "../observe/pull_warning/wake_backlog.ts";
import { SESSION_LOCK_NAME } from "../observe/session.ts";
import { nowSeconds } from "../platform/clock.ts";
import type { Environment } from "../platform/environment.ts";
import { errorMessage, lineOf, readText } from "../platform/file_text.ts";
import { type Liveness, liveness } from "../platform/liveness.ts";
import { targetKind } from "../platform/path_kind.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import { systemProcesses } from "../platform/processes.ts";
import { LEDGER_NAME } from "../state/claude_ledger.ts";
import { firstEscalationSecond, readEscalations } from "../state/escalations.ts";
import { alarmExists, noticeExists } from "../state/failure_episode.ts";
import { readRecoveryMarker, type RecoveryReading } from "../state/recovery_marker.ts";
import { queuePaths, type QueueRow, readQueue } from "../state/wake_queue.ts";
import { WEDGED_NAME } from "../watch/daemon/delivery.ts";
import { listChecks, type Listed } from "./check_list.ts";

/** Who the session lock says owns the session; only its first line is asked. */
export type SessionOwner =
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly because: string }
  | { readonly kind: "recorded"; readonly pid: Pid; readonly liveness: Liveness };

/** Observes the session's owner. */
export function observeSessionOwner(state: string): SessionOwner {
  const lock = readText(`${state}/${SESSION_LOCK_NAME}`);
  if (lock.kind === "absent") return { kind: "none" };
  if (lock.kind === "unreadable") return lock;
  const pid = parsePid(lineOf(lock.text, 1));
  if (pid === undefined) return { kind: "unreadable", because: "its first line is no pid" };
  return { kind: "recorded", pid, liveness: liveness(pid) };
}

/** What the auto-arm's ledger says. */
export interface Claim {
  readonly kind: "none" | "open" | "closed" | "unknown";
  readonly epoch: number | null;
  readonly ownerPid: Pid | null;
  /** As recorded: `arming` while it is not finished. */
  readonly outcome: string | null;
  /** Of the ledger, in seconds. */
  readonly ageSeconds: number | null;
  /** Why it is not open, or cannot be told. */
  readonly because: string | null;
}

/** Observes the ledger, and judges its claim as the auto-arm would. */
export async function observeLedger(state: string, environment: Environment): Promise<Claim> {
  const nothing = { epoch: null, ownerPid: null, outcome: null, ageSeconds: null };
  const text = readText(`${state}/${LEDGER_NAME}`);
  if (text.kind === "unreadable") {
    return { ...nothing, kind: "unknown", because: `the ledger: ${text.because}` };
  }
  const fact = await observeClaim(state, systemProcesses(environment));
  const grace = claimGraceSeconds(autoarmGraceSeconds(claudeVariables(environment)));
  const claim = judgeClaim(fact, grace);
  const because = claim.kind === "open" ? null : claim.because;
  const { entry } = fact;
  if (entry === undefined) return { ...nothing, kind: "none", because };
  return {
    kind: claim.kind,
    // A longer number would not be exact.
    epoch: /^[0-9]{1,15}$/.test(entry.epoch) ? Number(entry.epoch) : null,
    ownerPid: parsePid(entry.ownerPid) ?? null,
    outcome: entry.outcome,
    ageSeconds: fact.ageSeconds ?? null,
    because,
  };
}

/** How far a failure of supervision has gone. */
export interface Episode {
  /** Blocks that were counted in a row; `null` without a count. */
  readonly blocks: number | null;
  /** Blocks above which the alarm may come. */
  readonly budget: number;
  readonly noticed: boolean;
  readonly alarmed: boolean;
}

/** Observes the failure episode. */
export function observeEpisode(state: string, environment: Environment): Episode {
  return {
    blocks: storedBudget(state)?.count ?? null,
    budget: blockBudget(claudeVariables(environment)),
    noticed: noticeExists(state),
    alarmed: alarmExists(state),
  };
}

/** The wake queue; counts are `null` when it cannot be read. */
export interface Queue {
  readonly pending: number | null;
  /** Rows that a branch has taken on. */
  readonly reserved: number | null;
  /** Lines that are no rows, counted as pending too. */
  readonly unusable: number | null;
  readonly oldestSeconds: number | null;
  /** Why something is `null` that there should be. */
  readonly because: string | null;
  readonly recovery: RecoveryReading;
}

/** Observes the queue without its lock. */
export async function observeQueue(state: string, environment: Environment): Promise<Queue> {
  const recovery = readRecoveryMarker(state);
  const found = readQueue(queuePaths(state, environment).queue);
  if (found.kind === "unreadable") {
    const { because } = found;
    const nothing = { pending: null, reserved: null, unusable: null, oldestSeconds: null };
    return { ...nothing, because: `the queue cannot be read: ${because}`, recovery };
  }
  const granted = found.rows.length === 0
    ? new Set<number>()
    : await observeReservedRows(state, systemProcesses(environment));
  const rows = found.rows.filter((row) => row.usable);
  const oldestSeconds = oldestAge(rows);
  return {
    ...countBacklog(found.rows, granted),
    unusable: found.rows.length - rows.length,
    oldestSeconds,
    because: oldestSeconds === null && found.rows.length > 0 ? "no row has a readable time" : null,
    recovery,
  };
}

function oldestAge(rows: readonly QueueRow[]): number | null {
  const seconds = rows.filter(({ epoch }) => /^[0-9]{1,15}$/.test(epoch))
    .map(({ epoch }) => Number(epoch));
  // Not spread into arguments: a queue may have more rows than a call may have of them.
  return seconds.length === 0 ? null : nowSeconds() - seconds.reduce((a, b) => Math.min(a, b));
}

/** What the away daemon has not delivered; `null` when it cannot be told. */
export interface Digest {
  readonly items: number | null;
  readonly oldestSeconds: number | null;
  readonly because: string | null;
  /** Whether somebody was alarmed because it cannot be delivered. */
  readonly wedged: boolean;
}

/** Observes the daemon's buffer. */
export function observeDigest(state: string): Digest {
  const wedged = targetKind(`${state}/${WEDGED_NAME}`) !== "absent";
  const buffer = readEscalations(state);
  if (buffer.kind === "unreadable") {
    const because = `the buffer cannot be read: ${buffer.because}`;
    return { items: null, oldestSeconds: null, because, wedged };
  }
  const items = buffer.items.length;
  const second = items === 0 ? undefined : firstEscalationSecond(state);
  return {
    items,
    oldestSeconds: second === undefined ? null : nowSeconds() - second,
    because: items > 0 && second === undefined ? "its first item has no readable time" : null,
    wedged,
  };
}

/** Checks by what may be done with them; `null` when they cannot be listed. */
export interface CheckCounts {
  readonly counts: Readonly<Record<Listed["state"], number>> | null;
  readonly because: string | null;
}

/** Counts the checks of `home` as `check list` shows them. */
export async function countChecks(home: Home): Promise<CheckCounts> {
  try {
    const listed = await listChecks(home);
    const of = (state: Listed["state"]): number =>
      listed.filter((check) => check.state === state).length;
    return {
      counts: {
        "trusted": of("trusted"),
        "relay": of("relay"),
        "changed": of("changed"),
        "rejected": of("rejected"),
        "missing": of("missing"),
        "left-out": of("left-out"),
      },
      because: null,
    };
  } catch (error) {
    return { counts: null, because: `the checks cannot be listed: ${errorMessage(error)}` };
  }
}
