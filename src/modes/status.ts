/** `status`: a home on one screen: what it needs, who watches it, and what a stop would get. */

import { type DaemonOwnership, judgeDaemon } from "../decide/away_daemon.ts";
import type { BeaconFact, DaemonFact, NeedFact, WatcherFact } from "../decide/facts.ts";
import { describeBeacon, type Freshness, judgeFreshness } from "../decide/freshness.ts";
import { flatGrace } from "../decide/grace.ts";
import { judgeNeed } from "../decide/need.ts";
import { judgeScope, type Scope } from "../decide/scope.ts";
import type { TurnEndVerdict } from "../decide/turn_end.ts";
import { judgeWatcher, type WatcherHealth } from "../decide/watcher_health.ts";
import type { Home } from "../observe/home.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { lineOf, readText } from "../platform/file_text.ts";
import { type Liveness, liveness } from "../platform/liveness.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import { printable } from "../platform/printable.ts";
import { type JournalEntry, readJournal } from "../state/journal.ts";
import { personHome } from "./call_home.ts";
import { journalLine } from "./log.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { counted, labelled, say, sayJson, screenStyle, type Style } from "./person_output.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** The mode. */
export const statusMode: ModeSpec = {
  name: "status",
  kind: "read-only",
  summary: "Show a home on one screen: scope, need, watcher, mode, next verdict.",
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "json", summary: "Print one JSON object." },
  ],
  details: [
    "The verdict is the one that a first stop would get now; turnguard explain stop shows its " +
    "reasons. The exit status is 0 whatever the verdict is.",
    "--json prints an object with the keys home {root, home, state, config, watcherPath, foundBy}, " +
    "scope {kind, because}, need {kind, tasks, sources, checks, relay}, watcher {kind, pid, " +
    "because, saw}, beacon {kind, ageSeconds, graceSeconds}, away {mode, daemon, saw}, session " +
    "{kind, pid, liveness}, verdict {kind, code}, notices and recent (journal entries, oldest " +
    "first). What does not apply is null.",
  ],
  startsPrograms: true,
  run: status,
};

/** Verdicts of the journal that are shown. */
const RECENT_VERDICTS = 5;

/** Everything on the screen, observed once. */
interface Report {
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
  readonly verdict: TurnEndVerdict;
  readonly notices: readonly string[];
  readonly recent: readonly JournalEntry[];
}

/** Who `state/.lock` says owns the session; only its first line is asked. */
type SessionOwner =
  | { readonly kind: "none" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "recorded"; readonly pid: Pid; readonly liveness: Liveness };

async function status(call: Call): Promise<ExitStatus> {
  const report = await observe(call);
  if (hasFlag(call, "json")) await sayJson(asJson(report));
  else await say(asScreen(report, screenStyle(call.environment)));
  return EXIT.ok;
}

async function observe(call: Call): Promise<Report> {
  const home = personHome(call);
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

function asJson(report: Report): Readonly<Record<string, unknown>> {
  const { health, watcher, daemon, ownership, session, verdict } = report;
  return {
    home: report.home,
    scope: report.scope,
    need: needAsJson(report.need),
    watcher: {
      kind: health.kind,
      pid: watcher.holder.kind === "recorded" ? watcher.holder.pid : null,
      because: health.kind === "healthy" ? null : health.because,
      saw: health.saw,
    },
    beacon: {
      kind: report.beat.kind,
      ageSeconds: watcher.beacon.kind === "beat" ? watcher.beacon.ageSeconds : null,
      graceSeconds: report.graceSeconds,
    },
    away: { mode: daemon.mode, daemon: ownership.kind, saw: ownership.saw },
    session: {
      kind: session.kind,
      pid: session.kind === "recorded" ? session.pid : null,
      liveness: session.kind === "recorded" ? session.liveness : null,
    },
    verdict: { kind: verdict.kind, code: verdict.code },
    notices: report.notices,
    recent: report.recent,
  };
}

/** Counts where they are known; the kind is that of the judgement: needed, none or unknown. */
function needAsJson(fact: NeedFact): Readonly<Record<string, string | number | boolean | null>> {
  const { kind } = judgeNeed(fact);
  if (fact.kind === "unknown") {
    return { kind, tasks: null, sources: null, checks: null, relay: null };
  }
  const { tasks, sources, checks, relay } = fact;
  return { kind, tasks, sources, checks, relay };
}

function asScreen(report: Report, style: Style): readonly string[] {
  const { home, daemon, watcher } = report;
  return [
    ...field("home", home.home),
    ...(home.root === home.home ? [] : field("root", home.root)),
    ...field("", `found by: ${home.foundBy}`, style.quiet),
    ...scopeField(report.scope, style),
    ...field("need", needInWords(report.need)),
    ...healthField(report.health, style),
    ...field("beacon", beaconInWords(watcher.beacon, report.beat, report.graceSeconds)),
    ...(daemon.mode === "off"
      ? field("away", "off")
      : field("away", `${daemon.mode}; ${ownershipInWords(report.ownership)}`)),
    ...field("session", sessionInWords(report.session)),
    ...report.notices.flatMap((notice) => field("setting", notice, style.doubtful)),
    ...verdictField(report.verdict, style),
    ...recentFields(report.recent, style),
  ];
}

const LABEL_COLUMNS = 9;

/** A labelled paragraph of the screen, made safe before it is painted. */
function field(
  name: string,
  text: string,
  paint: (text: string) => string = (line) => line,
): readonly string[] {
  return labelled(name.padEnd(LABEL_COLUMNS), printable(text))
    .map((line) => line.slice(0, LABEL_COLUMNS) + paint(line.slice(LABEL_COLUMNS)));
}

function scopeField(scope: Scope, style: Style): readonly string[] {
  return scope.kind === "in"
    ? field("scope", `guarded (${scope.because})`)
    : field("scope", `not guarded: ${scope.because}`, style.doubtful);
}

function needInWords(fact: NeedFact): string {
  if (fact.kind === "unknown") return `unknown: ${fact.because}`;
  if (judgeNeed(fact).kind === "none") return "none: no task, source, check or relay";
  return [
    counted(fact.tasks, "task"),
    counted(fact.sources, "source"),
    counted(fact.checks, "check"),
    fact.relay ? "relay" : "no relay",
  ].join(", ");
}

function healthField(health: WatcherHealth, style: Style): readonly string[] {
  switch (health.kind) {
    case "healthy":
      return field("watcher", `healthy: ${health.saw}`, style.good);
    case "down":
      return field("watcher", `down (${health.because}): ${health.saw}`, style.bad);
    case "unknown":
      return field("watcher", `unknown (${health.because}): ${health.saw}`, style.doubtful);
  }
}

function beaconInWords(beacon: BeaconFact, beat: Freshness, graceSeconds: number): string {
  const judged = beat.kind === "never" || beat.kind === "unreadable" ? "" : `${beat.kind}, `;
  return `${describeBeacon(beacon)} (${judged}fresh below ${graceSeconds} s)`;
}

function ownershipInWords(ownership: DaemonOwnership): string {
  switch (ownership.kind) {
    case "owns":
      return `its daemon supervises: ${ownership.saw}`;
    case "does-not":
      return `no daemon supervises: ${ownership.saw}`;
    case "unknown":
      return `its daemon is unknown: ${ownership.saw}`;
  }
}

function sessionInWords(owner: SessionOwner): string {
  switch (owner.kind) {
    case "none":
      return "no owner recorded";
    case "unreadable":
      return "state/.lock names no process";
    case "recorded":
      return `recorded pid ${owner.pid}, ${livenessInWords(owner.liveness)}`;
  }
}

function livenessInWords(answer: Liveness): string {
  switch (answer) {
    case "alive":
      return "alive";
    case "dead":
      return "gone";
    case "foreign":
      return "alive under another user";
    case "unknown":
      return "not known to be alive";
  }
}

function verdictField(verdict: TurnEndVerdict, style: Style): readonly string[] {
  return verdict.kind === "block"
    ? field("verdict", `a stop would be BLOCKED now (${verdict.code})`, style.bad)
    : field("verdict", `a stop would be allowed now (${verdict.code})`, style.good);
}

function recentFields(recent: readonly JournalEntry[], style: Style): readonly string[] {
  if (recent.length === 0) return field("last", "no verdict in the journal yet", style.quiet);
  return ["last verdicts", ...recent.map((entry) => `  ${journalLine(entry, style, 78)}`)];
}
