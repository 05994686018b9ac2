/** Everything that is told about a home, observed once. */

import { storedBudget } from "../act/accountant.ts";
import { type DaemonOwnership, judgeDaemon } from "../decide/away_daemon.ts";
import { autoarmGraceSeconds, claimGraceSeconds } from "../decide/claude_settings.ts";
import { judgeClaim } from "../decide/claim.ts";
import type { DaemonFact, NeedFact, WatcherFact } from "../decide/facts.ts";
import { type Freshness, judgeFreshness } from "../decide/freshness.ts";
import { flatGrace } from "../decide/grace.ts";
import { judgeScope, type Scope } from "../decide/scope.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import type { TurnEndVerdict } from "../decide/turn_end.ts";
import { judgeWatcher, type WatcherHealth } from "../decide/watcher_health.ts";
import { observeClaim } from "../observe/claim.ts";
import { claudeVariables } from "../observe/claude_turn_end.ts";
import type { Home } from "../observe/home.ts";
import { observeReservedRows } from "../observe/branch_grant.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { nowSeconds } from "../platform/clock.ts";
import { lineOf, readText } from "../platform/file_text.ts";
import { type Liveness, liveness } from "../platform/liveness.ts";
import { targetKind } from "../platform/path_kind.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import { systemProcesses } from "../platform/processes.ts";
import { escalationAge, readEscalations } from "../state/escalations.ts";
import { alarmExists, noticeExists } from "../state/failure_episode.ts";
import { type JournalEntry, readJournal } from "../state/journal.ts";
import { readRecoveryMarker } from "../state/recovery_marker.ts";
import { queuePaths, readQueue } from "../state/wake_queue.ts";
import { checkNames, judgeCandidate } from "../watch/checks/candidates.ts";
import { WEDGED_NAME } from "../watch/daemon/delivery.ts";
import type { Call } from "./mode.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** Verdicts of the journal that are shown. */
const RECENT_VERDICTS = 5;

/** Everything on the screen, observed once. */
export interface Report {
  readonly home: Home;
  readonly scope: Scope;
  readonly need: NeedFact;
  readonly watcher: WatcherFact;
  readonly health: WatcherHealth;
  /** Seconds below which a beat is fresh. */
  readonly graceSeconds: number;
  readonly beat: Freshness;
  readonly daemon: DaemonFact;
  readonly ownership: DaemonOwnership;
  readonly session: SessionOwner;
  readonly claim: Claim;
  readonly episode: {
    /** Blocks that were counted; `null` without a count. */
    readonly count: number | null;
    readonly noticed: boolean;
    readonly alarmed: boolean;
  };
  readonly queue: Queue;
  readonly checks: Checks;
  readonly digest: {
    readonly items: number;
    readonly oldestSeconds: number | null;
    readonly wedged: boolean;
  };
  readonly verdict: TurnEndVerdict;
  readonly notices: readonly string[];
  readonly recent: readonly JournalEntry[];
}

/** Who `state/.lock` says owns the session; only its first line is asked. */
export type SessionOwner =
  | { readonly kind: "none" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "recorded"; readonly pid: Pid; readonly liveness: Liveness };

/** What the auto-arm's ledger says. */
export interface Claim {
  readonly kind: "none" | "open" | "closed";
  readonly epoch: number | null;
  /** As recorded: `arming` while it is not finished. */
  readonly outcome: string | null;
  /** Why it is not open. */
  readonly because: string | null;
}

/** The wake queue. */
export interface Queue {
  /** Why it cannot be read; `null` when it can. */
  readonly unreadable: string | null;
  readonly pending: number;
  /** Rows that a branch has taken on. */
  readonly reserved: number;
  readonly oldestSeconds: number | null;
  /** `none`, `invalid`, or status and kind of the recovery marker, such as `pending:downtime`. */
  readonly recovery: string;
}

/** Custom checks. */
export interface Checks {
  readonly registered: number;
  /** Files that a sweep reports instead of running. */
  readonly rejected: number;
}

/** Observes `home`. Reads only. */
export async function observeReport(call: Call, home: Home): Promise<Report> {
  const bytes = new TextEncoder().encode('{"stop_hook_active":false}');
  // The facts that led to the verdict are the ones shown, so that the screen agrees with itself.
  const { verdict, facts } = await judgeTurnEnd(call, home, { kind: "bytes", bytes });
  const watcher = await facts("watcher");
  const daemon = await facts("daemon");
  const graceSeconds = flatGrace(watcher.grace).value;
  return {
    home,
    scope: judgeScope(await facts("scope")),
    need: await facts("need"),
    watcher,
    health: judgeWatcher(watcher),
    graceSeconds,
    beat: judgeFreshness(watcher.beacon, graceSeconds),
    daemon,
    ownership: judgeDaemon(daemon),
    session: sessionOwner(home.state),
    claim: await observeLedger(call, home.state),
    episode: {
      count: storedBudget(home.state)?.count ?? null,
      noticed: noticeExists(home.state),
      alarmed: alarmExists(home.state),
    },
    queue: await observeQueue(call, home.state),
    checks: await countChecks(home),
    digest: {
      items: readEscalations(home.state).length,
      oldestSeconds: escalationAge(home.state) ?? null,
      wedged: targetKind(`${home.state}/${WEDGED_NAME}`) !== "absent",
    },
    verdict,
    notices: malformedSettings(graceVariables(call.environment)).map(describeMalformed),
    recent: readJournal(home.state).slice(-RECENT_VERDICTS),
  };
}

function sessionOwner(state: string): SessionOwner {
  const lock = readText(`${state}/.lock`);
  if (lock.kind === "absent") return { kind: "none" };
  const pid = lock.kind === "text" ? parsePid(lineOf(lock.text, 1)) : undefined;
  if (pid === undefined) return { kind: "unreadable" };
  return { kind: "recorded", pid, liveness: liveness(pid) };
}

async function observeLedger({ environment }: Call, state: string): Promise<Claim> {
  const fact = await observeClaim(state, systemProcesses(environment));
  if (fact.entry === undefined) return { kind: "none", epoch: null, outcome: null, because: null };
  const grace = claimGraceSeconds(autoarmGraceSeconds(claudeVariables(environment)));
  const claim = judgeClaim(fact, grace);
  return {
    kind: claim.kind,
    epoch: Number(fact.entry.epoch),
    outcome: fact.entry.outcome,
    because: claim.kind === "open" ? null : claim.because,
  };
}

async function observeQueue({ environment }: Call, state: string): Promise<Queue> {
  const marker = readRecoveryMarker(state);
  const recovery = marker.kind === "valid"
    ? `${marker.marker.status}:${marker.marker.kind}`
    : marker.kind === "none"
    ? "none"
    : "invalid";
  const found = readQueue(queuePaths(state, environment).queue);
  if (found.kind === "unreadable") {
    const unreadable = found.because;
    return { unreadable, pending: 0, reserved: 0, oldestSeconds: null, recovery };
  }
  const granted = found.rows.length === 0
    ? new Set<number>()
    : await observeReservedRows(state, systemProcesses(environment));
  const rows = found.rows.filter((row) => row.usable);
  const reserved = rows.filter((row) => granted.has(row.sequence)).length;
  const times = rows.filter((row) => /^[0-9]{1,15}$/.test(row.epoch)).map((row) =>
    Number(row.epoch)
  );
  return {
    unreadable: null,
    pending: found.rows.length - reserved,
    reserved,
    oldestSeconds: times.length === 0 ? null : nowSeconds() - Math.min(...times),
    recovery,
  };
}

async function countChecks(home: Home): Promise<Checks> {
  const names = listed(home.state);
  const kinds = await Promise.all(
    names.map(async (name) => (await judgeCandidate(home, name)).kind),
  );
  return {
    registered: kinds.filter((kind) => kind === "trusted" || kind === "relay").length,
    rejected: kinds.filter((kind) => kind === "changed" || kind === "rejected").length,
  };
}

function listed(state: string): readonly string[] {
  try {
    return checkNames(state);
  } catch {
    return [];
  }
}
