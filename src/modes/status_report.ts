/** Everything that is told about a home, observed once. */

import type { BlindEnd } from "../decide/blind_end.ts";
import { observeBlindEnd } from "../watch/blind_end.ts";
import { type DaemonOwnership, judgeDaemon } from "../decide/away_daemon.ts";
import type { BeaconFact, NeedFact, WatcherFact } from "../decide/facts.ts";
import { type Freshness, judgeFreshness } from "../decide/freshness.ts";
import { flatGrace } from "../decide/grace.ts";
import { judgeScope, type Scope } from "../decide/scope.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import type { TurnEndCode } from "../decide/turn_end.ts";
import { judgeWatcher, type WatcherHealth } from "../decide/watcher_health.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables, type TurnEndObserver } from "../observe/turn_end.ts";
import type { Pid } from "../platform/pid.ts";
import { type JournalEntry, readJournal } from "../state/journal.ts";
import type { Call } from "./mode.ts";
import {
  type CheckCounts,
  type Claim,
  countChecks,
  type Digest,
  type Episode,
  observeDigest,
  observeEpisode,
  observeLedger,
  observeQueue,
  observeSessionOwner,
  type Queue,
  type SessionOwner,
} from "./status_facts.ts";
import { countSources, type SourceCounts } from "./status_sources.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** Verdicts of the journal that are shown. */
const RECENT_VERDICTS = 5;

/** A home as it is told. */
export interface HomeStatus {
  readonly home: Home;
  /** Why `state` is `null`; `null` when it is not. */
  readonly problem: string | null;
  /** `null` when not even that could be told. */
  readonly judged: Judged | null;
  /** What is kept in the state directory; `null` when that cannot be listed. */
  readonly state: StateReport | null;
}

/** What the guard makes of a home, whatever can be read in it. */
export interface Judged {
  readonly scope: Scope;
  /** What a first stop would get now. */
  readonly verdict: { readonly kind: "allow" | "block"; readonly code: TurnEndCode };
  /** Settings that count as unset. */
  readonly notices: readonly string[];
}

/** What the state directory of a home says. */
export interface StateReport {
  readonly need: CountedNeed;
  readonly watcher: {
    readonly health: WatcherHealth;
    /** The process in the watch lock, whatever it is now. */
    readonly pid: Pid | null;
  };
  readonly beacon: BeaconFact;
  readonly beat: Freshness;
  /** Seconds below which a beat is fresh. */
  readonly graceSeconds: number;
  readonly awayMode: "off" | "away" | "quiet";
  readonly daemon: DaemonOwnership;
  readonly digest: Digest;
  readonly session: SessionOwner;
  readonly claim: Claim;
  readonly episode: Episode;
  readonly queue: Queue;
  readonly checks: CheckCounts;
  readonly sources: SourceCounts;
  /** Oldest first. */
  readonly recent: readonly JournalEntry[];
  /** The last turn end that nobody judged, as long as none was judged after it. */
  readonly blindEnd: BlindEnd | undefined;
}

/** Need that was counted. */
export type CountedNeed = Extract<NeedFact, { readonly kind: "counted" }>;

/** Observes `home`. Reads only. */
export async function observeHomeStatus(call: Call, home: Home): Promise<HomeStatus> {
  const bytes = new TextEncoder().encode('{"stop_hook_active":false}');
  // The facts that led to the verdict are the ones shown, so that the screen agrees with itself.
  const { verdict, facts } = await judgeTurnEnd(call, home, { kind: "bytes", bytes });
  const judged: Judged = {
    scope: judgeScope(await facts("scope")),
    verdict: { kind: verdict.kind, code: verdict.code },
    notices: malformedSettings(graceVariables(call.environment)).map(describeMalformed),
  };
  const need = await facts("need");
  return need.kind === "unknown"
    ? { home, problem: need.because, judged, state: null }
    : { home, problem: null, judged, state: await observeState(call, home, need, facts) };
}

async function observeState(
  { environment }: Call,
  home: Home,
  need: CountedNeed,
  facts: TurnEndObserver,
): Promise<StateReport> {
  const { state } = home;
  const watcher = await facts("watcher");
  const daemon = await facts("daemon");
  const graceSeconds = flatGrace(watcher.grace).value;
  return {
    need,
    watcher: { health: judgeWatcher(watcher), pid: recordedPid(watcher) },
    beacon: watcher.beacon,
    beat: judgeFreshness(watcher.beacon, graceSeconds),
    graceSeconds,
    awayMode: daemon.mode,
    daemon: judgeDaemon(daemon),
    digest: observeDigest(state),
    session: observeSessionOwner(state),
    claim: await observeLedger(state, environment),
    episode: observeEpisode(state, environment),
    queue: await observeQueue(state, environment),
    checks: await countChecks(home),
    sources: await countSources(home, environment, need.sources),
    recent: readJournal(state).slice(-RECENT_VERDICTS),
    blindEnd: observeBlindEnd(state),
  };
}

function recordedPid({ holder }: WatcherFact): Pid | null {
  return holder.kind === "recorded" ? holder.pid : null;
}
