/** A home's status on one screen, and several homes a line each. */

import type { DaemonOwnership } from "../decide/away_daemon.ts";
import type { BeaconFact } from "../decide/facts.ts";
import { describeBeacon, type Freshness } from "../decide/freshness.ts";
import { judgeNeed } from "../decide/need.ts";
import type { Scope } from "../decide/scope.ts";
import type { WatcherHealth } from "../decide/watcher_health.ts";
import type { Liveness } from "../platform/liveness.ts";
import { printable } from "../platform/printable.ts";
import type { JournalEntry } from "../state/journal.ts";
import { journalLine } from "./log.ts";
import { ageInWords, counted, labelled, SCREEN_COLUMNS, type Style } from "./person_output.ts";
import type { CheckCounts, Claim, Digest, Episode, Queue, SessionOwner } from "./status_facts.ts";
import type { CountedNeed, HomeStatus, Judged, StateReport } from "./status_report.ts";
import type { SourceCounts } from "./status_sources.ts";
import { recoveryInWords } from "./recovery_words.ts";

/** One home as lines that fit a screen. */
export function asScreen(status: HomeStatus, style: Style): readonly string[] {
  const { home, problem, judged, state } = status;
  return [
    ...field("home", home.home),
    ...(home.root === home.home ? [] : field("root", home.root)),
    ...field("", `found by: ${home.foundBy}`, style.quiet),
    ...(judged === null ? [] : scopeField(judged.scope, style)),
    ...(state === null
      ? field("state", `unknown: ${problem ?? "it cannot be read"}`, style.doubtful)
      : stateFields(state, style)),
    ...(judged?.notices ?? []).flatMap((notice) => field("setting", notice, style.doubtful)),
    ...(judged === null ? [] : verdictField(judged.verdict, style)),
    ...(state === null ? [] : recentFields(state.recent, style)),
  ];
}

function stateFields(state: StateReport, style: Style): readonly string[] {
  const { watcher, awayMode, daemon, checks, sources, episode } = state;
  const refused = refusedChecks(checks) > 0;
  return [
    ...field("need", needInWords(state.need)),
    ...healthField(watcher.health, style),
    ...field("beacon", beaconInWords(state.beacon, state.beat, state.graceSeconds)),
    ...field("away", awayMode === "off" ? "off" : `${awayMode}; ${daemonInWords(daemon)}`),
    ...digestField(state.digest, style),
    ...field("session", sessionInWords(state.session)),
    ...field("autoarm", claimInWords(state.claim)),
    ...(episode.noticed || episode.alarmed || episode.blocks !== null
      ? field("failure", episodeInWords(episode), isFailing(episode) ? style.bad : undefined)
      : []),
    ...(state.blindEnd === undefined
      ? []
      : field("turn end", `nobody judged the last one: ${state.blindEnd.because}`, style.bad)),
    ...field("wakes", queueInWords(state.queue)),
    ...field("checks", checksInWords(checks), refused ? style.bad : undefined),
    ...field("sources", sourcesInWords(sources), sources.rejected > 0 ? style.bad : undefined),
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

function queueInWords(
  { pending, reserved, unusable, oldestSeconds, because, recovery }: Queue,
): string {
  const after = `; ${recoveryInWords(recovery)}`;
  if (pending === null) return `unknown: ${because ?? "they cannot be read"}${after}`;
  if (pending === 0 && reserved === 0) return `none queued${after}`;
  return [
    `${counted(pending, "wake")} to handle`,
    ...(reserved === 0 ? [] : [`${reserved} taken on by a branch`]),
    ...(unusable === 0 ? [] : [`${unusable} that no wake wrote`]),
    ...(oldestSeconds === null ? [] : [`the oldest for ${ageInWords(oldestSeconds)}`]),
  ].join(", ") + after;
}

/** Words for the counts of checks, in the order in which they are told. */
const CHECK_WORDS: Readonly<Record<keyof NonNullable<CheckCounts["counts"]>, string>> = {
  "trusted": "trusted",
  "relay": "of the relay",
  "changed": "changed since",
  "rejected": "refused",
  "missing": "without a script",
  "left-out": "of pull-request polling",
};

function checksInWords({ counts, because }: CheckCounts): string {
  if (counts === null) return `unknown: ${because ?? "they cannot be listed"}`;
  const told = Object.entries(counts).filter(([, count]) => count > 0);
  return told.length === 0
    ? "none"
    : told.map(([state, count]) => `${count} ${wordOf(CHECK_WORDS, state)}`).join(", ");
}

function wordOf(words: Readonly<Record<string, string>>, key: string): string {
  return words[key] ?? key;
}

/** Checks that a sweep reports instead of running. */
function refusedChecks({ counts }: CheckCounts): number {
  return counts === null ? 0 : counts.changed + counts.rejected;
}

function sourcesInWords(sources: SourceCounts): string {
  const { registered, rejected, running, doubtful, unhandled, because } = sources;
  if (registered + rejected + unhandled === 0) return "none";
  return [
    `${registered} registered`,
    ...(running === null ? [`runners unknown (${because})`] : [`${running} running`]),
    ...(doubtful === null || doubtful === 0 ? [] : [`${doubtful} with an unknown owner`]),
    ...(rejected === 0 ? [] : [`${rejected} that cannot run`]),
    ...(unhandled === 0 ? [] : [counted(unhandled, "result") + " to handle"]),
  ].join(", ");
}

function digestField(digest: Digest, style: Style): readonly string[] {
  const { items, oldestSeconds, because, wedged } = digest;
  if (items === null) {
    return field("digest", `unknown: ${because ?? "it cannot be read"}`, style.doubtful);
  }
  if (items === 0 && !wedged) return [];
  const age = oldestSeconds === null ? "" : `, the first for ${ageInWords(oldestSeconds)}`;
  const alarm = wedged ? "; somebody was alarmed" : "";
  return field("digest", `${counted(items, "item")} not delivered${age}${alarm}`, style.doubtful);
}

function claimInWords({ kind, epoch, ownerPid, outcome, because }: Claim): string {
  const generation = `epoch ${epoch ?? "unknown"}`;
  switch (kind) {
    case "none":
      return "no claim yet";
    case "unknown":
      return `unknown: ${because ?? "it cannot be read"}`;
    case "open":
      return `${generation} is armed by pid ${ownerPid ?? "unknown"}`;
    case "closed":
      return because === "finished"
        ? `${generation} ended: ${outcome ?? "unknown"}`
        : `${generation} does not hold (${because ?? "unknown"})`;
  }
}

function isFailing({ noticed, alarmed }: Episode): boolean {
  return noticed || alarmed;
}

function episodeInWords(episode: Episode): string {
  const { blocks, budget, noticed, alarmed } = episode;
  const told = alarmed
    ? "supervision failed; the alarm was raised"
    : noticed
    ? "supervision failed; the session was told"
    : "none";
  return `${told}; ${counted(blocks ?? 0, "block")} counted, the budget is ${budget}`;
}

/** What a home comes to in one word, the worst first. */
const STANDINGS = ["BLIND", "UNKNOWN", "outside", "watched", "idle"] as const;

type Standing = typeof STANDINGS[number];

function standingOf({ judged, state }: HomeStatus): Standing {
  if (judged?.verdict.kind === "block") return "BLIND";
  if (judged === null || state === null) return "UNKNOWN";
  if (judged.scope.kind === "out") return "outside";
  return state.watcher.health.kind === "healthy" || state.daemon.kind === "owns"
    ? "watched"
    : "idle";
}

/** Columns of the widest standing and of the gap after it. */
const STANDING_COLUMNS = 9;

/** Several homes, a line each, the worst first; what does not fit goes on below. */
export function asLines(statuses: readonly HomeStatus[], style: Style): readonly string[] {
  const rank = (status: HomeStatus): number => STANDINGS.indexOf(standingOf(status));
  return statuses.toSorted((a, b) => rank(a) - rank(b)).flatMap((status) => {
    const standing = standingOf(status);
    const start = paintOf(standing, style)(standing) +
      " ".repeat(STANDING_COLUMNS - standing.length);
    const path = printable(status.home.home);
    const words = printable(homeInWords(status));
    const fits = STANDING_COLUMNS + Array.from(`${path}  ${words}`).length <= SCREEN_COLUMNS;
    return fits
      ? [`${start}${path}  ${words}`]
      : [`${start}${path}`, ...labelled(" ".repeat(STANDING_COLUMNS), words)];
  });
}

function paintOf(standing: Standing, style: Style): (text: string) => string {
  switch (standing) {
    case "BLIND":
      return style.bad;
    case "UNKNOWN":
    case "outside":
      return style.doubtful;
    case "watched":
      return style.good;
    case "idle":
      return style.quiet;
  }
}

function homeInWords({ problem, judged, state }: HomeStatus): string {
  if (judged === null || state === null) return problem ?? "it cannot be read";
  const { pending } = state.queue;
  const refused = refusedChecks(state.checks);
  return [
    judged.verdict.code,
    `beat ${describeBeacon(state.beacon)}`,
    ...(state.episode.alarmed ? ["alarm raised"] : []),
    ...(pending === null ? ["wakes unknown"] : pending === 0 ? [] : [counted(pending, "wake")]),
    ...(refused === 0 ? [] : [`${counted(refused, "check")} refused`]),
  ].join(", ");
}

function scopeField(scope: Scope, style: Style): readonly string[] {
  return scope.kind === "in"
    ? field("scope", `guarded (${scope.because})`)
    : field("scope", `not guarded: ${scope.because}`, style.doubtful);
}

function needInWords(fact: CountedNeed): string {
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

function daemonInWords(ownership: DaemonOwnership): string {
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
      return `state/.lock names no process: ${owner.because}`;
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

function verdictField(verdict: Judged["verdict"], style: Style): readonly string[] {
  return verdict.kind === "block"
    ? field("verdict", `a stop would be BLOCKED now (${verdict.code})`, style.bad)
    : field("verdict", `a stop would be allowed now (${verdict.code})`, style.good);
}

function recentFields(recent: readonly JournalEntry[], style: Style): readonly string[] {
  if (recent.length === 0) return field("last", "no verdict in the journal yet", style.quiet);
  return ["last verdicts", ...recent.map((entry) => `  ${journalLine(entry, style, 78)}`)];
}
