/** A home's report on one screen, and several homes a line each. */

import type { DaemonOwnership } from "../decide/away_daemon.ts";
import type { BeaconFact, NeedFact } from "../decide/facts.ts";
import { describeBeacon, type Freshness } from "../decide/freshness.ts";
import { judgeNeed } from "../decide/need.ts";
import type { Scope } from "../decide/scope.ts";
import type { TurnEndVerdict } from "../decide/turn_end.ts";
import type { WatcherHealth } from "../decide/watcher_health.ts";
import type { Liveness } from "../platform/liveness.ts";
import { printable } from "../platform/printable.ts";
import type { JournalEntry } from "../state/journal.ts";
import { journalLine } from "./log.ts";
import {
  ageInWords,
  counted,
  fitted,
  labelled,
  SCREEN_COLUMNS,
  type Style,
} from "./person_output.ts";
import type { Checks, Claim, Queue, Report, SessionOwner } from "./status_report.ts";

/** The report of one home as lines. */
export function asScreen(report: Report, style: Style): readonly string[] {
  const { home, daemon, watcher } = report;
  return [
    ...field("home", home.home),
    ...(home.root === home.home ? [] : field("root", home.root)),
    ...field("", `found by: ${home.foundBy}`, style.quiet),
    ...scopeField(report.scope, style),
    ...field("need", needInWords(report.need)),
    ...healthField(report.health, style),
    ...field("beacon", beaconInWords(watcher.beacon, report.beat, report.graceSeconds)),
    ...(report.queue.pending + report.queue.reserved > 0 || report.queue.recovery !== "none"
      ? field("wakes", queueInWords(report.queue))
      : []),
    ...(report.checks.registered + report.checks.rejected > 0
      ? field(
        "checks",
        checksInWords(report.checks),
        report.checks.rejected > 0 ? style.bad : undefined,
      )
      : []),
    ...(daemon.mode === "off"
      ? field("away", "off")
      : field("away", `${daemon.mode}; ${ownershipInWords(report.ownership)}`)),
    ...(report.digest.items === 0
      ? []
      : field("digest", digestInWords(report.digest), style.doubtful)),
    ...field("session", sessionInWords(report.session)),
    ...(report.claim.kind === "none" ? [] : field("autoarm", claimInWords(report.claim))),
    ...(report.episode.alarmed || report.episode.noticed
      ? field("failure", episodeInWords(report.episode), style.bad)
      : []),
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
  paint: ((text: string) => string) | undefined = (line) => line,
): readonly string[] {
  return labelled(name.padEnd(LABEL_COLUMNS), printable(text))
    .map((line) => line.slice(0, LABEL_COLUMNS) + paint(line.slice(LABEL_COLUMNS)));
}

function queueInWords({ pending, reserved, oldestSeconds, recovery }: Queue): string {
  const age = oldestSeconds === null ? "" : `, the oldest for ${ageInWords(oldestSeconds)}`;
  const taken = reserved === 0 ? "" : `, ${reserved} taken on by a branch`;
  return `${counted(pending, "wake")} to handle${age}${taken}; recovery ${recovery}`;
}

function checksInWords({ registered, rejected }: Checks): string {
  const refused = rejected === 0 ? "" : `, ${rejected} that may not run`;
  return `${registered} registered${refused}`;
}

function digestInWords({ items, oldestSeconds, wedged }: Report["digest"]): string {
  const age = oldestSeconds === null ? "" : `, the first for ${ageInWords(oldestSeconds)}`;
  return `${counted(items, "item")} not delivered${age}${wedged ? "; somebody was alarmed" : ""}`;
}

function claimInWords({ kind, epoch, outcome }: Claim): string {
  return kind === "open" ? `epoch ${epoch} is armed` : `epoch ${epoch}: ${outcome}`;
}

function episodeInWords({ count, alarmed }: Report["episode"]): string {
  const blocks = count === null ? "" : `, ${counted(count, "block")} counted`;
  return alarmed
    ? `supervision failed; the alarm was raised${blocks}`
    : `supervision failed${blocks}`;
}

/** Several homes, a line each. */
export function asLines(reports: readonly Report[], style: Style): readonly string[] {
  return reports.map((report) => {
    const { verdict, health, home } = report;
    const state = verdict.kind === "block"
      ? style.bad("BLIND  ")
      : health.kind === "healthy" || report.ownership.kind === "owns"
      ? style.good("watched")
      : style.quiet("idle   ");
    const beat = describeBeacon(report.watcher.beacon);
    const text = `${printable(home.home)}  ${verdict.code}, beat ${beat}`;
    return `${state}  ${fitted(text, SCREEN_COLUMNS - 9)}`;
  });
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
