/** A home's status as JSON, and what each of its keys means: one table for both. */

import { judgeNeed } from "../decide/need.ts";
import type { JournalEntry } from "../state/journal.ts";
import type { RecoveryReading } from "../state/recovery_marker.ts";
import type { HelpTable } from "./mode.ts";
import type { HomeStatus, Judged, StateReport } from "./status_report.ts";

/** Name of the object of one home; it changes when a key changes its meaning or goes. */
export const STATUS_SCHEMA = "turnguard-status.v1";

/** Name of the object around several homes. */
export const HOMES_SCHEMA = "turnguard-status-homes.v1";

/** One key, by its path from the top. */
interface Field {
  readonly path: string;
  /** Type of the value, with its unit; a `?` at its end when it may be null. */
  readonly type: string;
  readonly meaning: string;
  readonly of: (status: HomeStatus) => unknown;
}

function key(
  path: string,
  type: string,
  meaning: string,
  of: (status: HomeStatus) => unknown,
): Field {
  return { path, type, meaning, of };
}

/** A key that is null when not even the guard's rules could be asked. */
function judgedKey(
  path: string,
  type: string,
  meaning: string,
  of: (judged: Judged) => unknown,
): Field {
  return key(path, type, meaning, ({ judged }) => judged === null ? null : of(judged));
}

/** A key that is null while the state directory cannot be listed; `problem` then says why. */
function stateKey(
  path: string,
  type: string,
  meaning: string,
  of: (state: StateReport) => unknown,
): Field {
  return key(path, type, meaning, ({ state }) => state === null ? null : of(state));
}

const HOME_FIELDS: readonly Field[] = [
  key("schema", "text", `"${STATUS_SCHEMA}".`, () => STATUS_SCHEMA),
  key("home.root", "path", "Tree with AGENTS.md, bin/ and .git.", ({ home }) => home.root),
  key("home.home", "path", "What a watcher records as its home.", ({ home }) => home.home),
  key("home.state", "path", "Its state directory.", ({ home }) => home.state),
  key("home.config", "path", "Its configuration.", ({ home }) => home.config),
  key(
    "home.watcherPath",
    "path",
    "What a watcher records as itself.",
    ({ home }) => home.watcherPath,
  ),
  key("home.foundBy", "text", "What named the home.", ({ home }) => home.foundBy),
  key(
    "problem",
    "text?",
    "Why the state directory cannot be listed; what is kept there is null then.",
    ({ problem }) => problem,
  ),
  judgedKey("scope.kind", "in|out?", "Whether the home is guarded.", ({ scope }) => scope.kind),
  judgedKey("scope.because", "text?", "What decided that.", ({ scope }) => scope.because),
  judgedKey(
    "verdict.kind",
    "allow|block?",
    "What a first stop would get now.",
    ({ verdict }) => verdict.kind,
  ),
  judgedKey("verdict.code", "code?", "Its reason.", ({ verdict }) => verdict.code),
  judgedKey("notices", "texts?", "Settings that count as unset.", ({ notices }) => notices),
];

const NEED_FIELDS: readonly Field[] = [
  key(
    "need.kind",
    "needed|none|unknown",
    "Whether anything needs supervision.",
    ({ state }) => state === null ? "unknown" : judgeNeed(state.need).kind,
  ),
  key("need.because", "text?", "The first thing that does, or why that is unknown.", whyNeeded),
  stateKey("need.tasks", "count?", "Task records.", ({ need }) => need.tasks),
  stateKey("need.sources", "count?", "Process-event sources.", ({ need }) => need.sources),
  stateKey("need.checks", "count?", "Registered checks.", ({ need }) => need.checks),
  stateKey("need.relay", "boolean?", "Whether the relay is polled.", ({ need }) => need.relay),
];

function whyNeeded({ problem, state }: HomeStatus): string | null {
  if (state === null) return problem;
  const need = judgeNeed(state.need);
  return need.kind === "needed" ? need.what : null;
}

const WATCH_FIELDS: readonly Field[] = [
  stateKey(
    "watcher.kind",
    "healthy|down|unknown?",
    "Whether it is proven to watch.",
    (state) => state.watcher.health.kind,
  ),
  stateKey("watcher.pid", "pid?", "Process in the watch lock.", ({ watcher }) => watcher.pid),
  stateKey(
    "watcher.because",
    "code?",
    "Why it is not healthy.",
    ({ watcher: { health } }) => health.kind === "healthy" ? null : health.because,
  ),
  stateKey("watcher.saw", "text?", "What was seen of it.", ({ watcher }) => watcher.health.saw),
  stateKey(
    "beacon.kind",
    "fresh|stale|clock-skew|never|unreadable?",
    "The watcher's last beat.",
    ({ beat }) => beat.kind,
  ),
  stateKey(
    "beacon.ageSeconds",
    "seconds?",
    "Since that beat; negative when it lies in the future.",
    ({ beacon }) => beacon.kind === "beat" ? beacon.ageSeconds : null,
  ),
  stateKey(
    "beacon.graceSeconds",
    "seconds?",
    "Age below which a beat is fresh.",
    (state) => state.graceSeconds,
  ),
  stateKey("away.mode", "off|away|quiet?", "The mode that is on.", (state) => state.awayMode),
  stateKey(
    "away.daemon",
    "owns|does-not|unknown?",
    "Whether its daemon supervises.",
    ({ daemon }) => daemon.kind,
  ),
  stateKey("away.saw", "text?", "What was seen of the daemon.", ({ daemon }) => daemon.saw),
  stateKey(
    "digest.items",
    "count?",
    "What the daemon has not delivered.",
    ({ digest }) => digest.items,
  ),
  stateKey(
    "digest.oldestSeconds",
    "seconds?",
    "Age of the first of that.",
    ({ digest }) => digest.oldestSeconds,
  ),
  stateKey(
    "digest.wedged",
    "boolean?",
    "Whether somebody was alarmed about it.",
    ({ digest }) => digest.wedged,
  ),
  stateKey(
    "digest.because",
    "text?",
    "Why one of these is unknown.",
    ({ digest }) => digest.because,
  ),
];

const SESSION_FIELDS: readonly Field[] = [
  stateKey(
    "session.kind",
    "none|unreadable|recorded?",
    "What the session lock says.",
    ({ session }) => session.kind,
  ),
  stateKey(
    "session.pid",
    "pid?",
    "The process in it.",
    ({ session }) => session.kind === "recorded" ? session.pid : null,
  ),
  stateKey(
    "session.liveness",
    "alive|dead|foreign|unknown?",
    "Whether that lives; foreign is another user's.",
    ({ session }) => session.kind === "recorded" ? session.liveness : null,
  ),
  stateKey(
    "session.because",
    "text?",
    "Why it cannot be read.",
    ({ session }) => session.kind === "unreadable" ? session.because : null,
  ),
  stateKey(
    "blindEnd.because",
    "text?",
    "Why the last turn end was judged by nobody; null once one was judged again.",
    ({ blindEnd }) => blindEnd?.because ?? null,
  ),
  stateKey(
    "blindEnd.atMs",
    "ms?",
    "When that was, since the epoch.",
    ({ blindEnd }) => blindEnd?.atMs ?? null,
  ),
  stateKey(
    "autoarm.kind",
    "none|open|closed|unknown?",
    "The auto-arm's claim.",
    ({ claim }) => claim.kind,
  ),
  stateKey("autoarm.epoch", "number?", "Its generation.", ({ claim }) => claim.epoch),
  stateKey("autoarm.ownerPid", "pid?", "The process that made it.", ({ claim }) => claim.ownerPid),
  stateKey(
    "autoarm.outcome",
    "word?",
    "As recorded; arming while it lasts.",
    ({ claim }) => claim.outcome,
  ),
  stateKey(
    "autoarm.ageSeconds",
    "seconds?",
    "Since it was written.",
    ({ claim }) => claim.ageSeconds,
  ),
  stateKey("autoarm.because", "text?", "Why it is not open.", ({ claim }) => claim.because),
  stateKey(
    "failure.blocks",
    "count?",
    "Blocks in a row; null when none is counted.",
    (state) => state.episode.blocks,
  ),
  stateKey(
    "failure.budget",
    "count?",
    "Blocks above which the alarm may come.",
    ({ episode }) => episode.budget,
  ),
  stateKey(
    "failure.noticed",
    "boolean?",
    "Whether a session was told of a failure.",
    (state) => state.episode.noticed,
  ),
  stateKey(
    "failure.alarmed",
    "boolean?",
    "Whether the alarm was raised.",
    ({ episode }) => episode.alarmed,
  ),
];

const WORK_FIELDS: readonly Field[] = [
  stateKey("wakes.pending", "count?", "Queued rows to handle.", ({ queue }) => queue.pending),
  stateKey(
    "wakes.reserved",
    "count?",
    "Rows that a branch has taken on.",
    ({ queue }) => queue.reserved,
  ),
  stateKey(
    "wakes.unusable",
    "count?",
    "Lines that are no rows, pending too.",
    ({ queue }) => queue.unusable,
  ),
  stateKey(
    "wakes.oldestSeconds",
    "seconds?",
    "Age of the oldest row.",
    ({ queue }) => queue.oldestSeconds,
  ),
  stateKey("wakes.because", "text?", "Why one of these is unknown.", ({ queue }) => queue.because),
  stateKey(
    "wakes.recovery",
    "text?",
    "Marker of the last downtime: none, invalid, or status:kind, such as pending:downtime.",
    ({ queue }) => recoveryWord(queue.recovery),
  ),
  stateKey(
    "checks.trusted",
    "count?",
    "Checks that run.",
    ({ checks }) => checks.counts?.trusted ?? null,
  ),
  stateKey(
    "checks.relay",
    "count?",
    "Relay shims that run.",
    ({ checks }) => checks.counts?.relay ?? null,
  ),
  stateKey(
    "checks.changed",
    "count?",
    "Edited since they were registered.",
    ({ checks }) => checks.counts?.changed ?? null,
  ),
  stateKey(
    "checks.rejected",
    "count?",
    "Refused for another reason.",
    ({ checks }) => checks.counts?.rejected ?? null,
  ),
  stateKey(
    "checks.missing",
    "count?",
    "Registered, without a script.",
    ({ checks }) => checks.counts?.missing ?? null,
  ),
  stateKey(
    "checks.leftOut",
    "count?",
    "Those of pull-request polling.",
    ({ checks }) => checks.counts?.["left-out"] ?? null,
  ),
  stateKey("checks.because", "text?", "Why they are unknown.", ({ checks }) => checks.because),
  stateKey(
    "sources.registered",
    "count?",
    "Sources that can run.",
    ({ sources }) => sources.registered,
  ),
  stateKey("sources.rejected", "count?", "Sources that cannot.", ({ sources }) => sources.rejected),
  stateKey(
    "sources.running",
    "count?",
    "Sources with a live runner.",
    ({ sources }) => sources.running,
  ),
  stateKey(
    "sources.doubtful",
    "count?",
    "Sources whose owner is unknown.",
    ({ sources }) => sources.doubtful,
  ),
  stateKey(
    "sources.unhandled",
    "count?",
    "Results that nobody acknowledged.",
    ({ sources }) => sources.unhandled,
  ),
  stateKey(
    "sources.because",
    "text?",
    "Why one of these is unknown.",
    ({ sources }) => sources.because,
  ),
];

/** The marker in one word. */
export function recoveryWord(found: RecoveryReading): string {
  switch (found.kind) {
    case "none":
      return "none";
    case "invalid":
    case "directory":
      return "invalid";
    case "valid":
      return `${found.marker.status}:${found.marker.kind}`;
  }
}

/** The keys of a journal entry, with type and meaning. */
const ENTRY_KEYS: Readonly<Record<keyof JournalEntry, readonly [type: string, meaning: string]>> = {
  time: ["text", "When, ISO 8601 in UTC."],
  mode: ["text", "The mode that decided."],
  harness: ["text", "Whose turn it was."],
  session: ["text?", "Hash of its id; null without one."],
  verdict: ["text", "What was decided."],
  code: ["code", "Why."],
  facts: ["object of texts", "What each rule saw, by its name."],
  ms: ["milliseconds", "From start to verdict."],
};

const RECENT: Field = stateKey(
  "recent",
  "array?",
  "The last verdicts of the journal, oldest first, each with these keys:",
  ({ recent }) =>
    recent.map(({ time, mode, harness, session, verdict, code, facts, ms }): JournalEntry => ({
      time,
      mode,
      harness,
      session,
      verdict,
      code,
      facts,
      ms,
    })),
);

const FIELDS: readonly Field[] = [
  ...HOME_FIELDS,
  ...NEED_FIELDS,
  ...WATCH_FIELDS,
  ...SESSION_FIELDS,
  ...WORK_FIELDS,
  RECENT,
];

/** Every key with its type and meaning, for people. */
export const STATUS_KEYS: HelpTable = {
  heading: "Keys of --json (a ? at the end of a type: or null):",
  rows: [
    ...FIELDS.map(({ path, type, meaning }) => [path, `${type}: ${meaning}`] as const),
    ...Object.entries(ENTRY_KEYS)
      .map(([name, [type, meaning]]) => [`recent[].${name}`, `${type}: ${meaning}`] as const),
  ],
};

/** The status of one home as an object, its keys in the order of the table. */
export function homeAsJson(status: HomeStatus): Readonly<Record<string, unknown>> {
  const object: Record<string, unknown> = {};
  const parts = new Map<string, Record<string, unknown>>();
  for (const { path, of } of FIELDS) {
    const [name = "", inner] = path.split(".");
    if (inner === undefined) {
      object[name] = of(status);
      continue;
    }
    const part = parts.get(name) ?? {};
    parts.set(name, part);
    object[name] = part;
    part[inner] = of(status);
  }
  return object;
}

/** The status of several homes as one object. */
export function homesAsJson(statuses: readonly HomeStatus[]): Readonly<Record<string, unknown>> {
  return { schema: HOMES_SCHEMA, homes: statuses.map(homeAsJson) };
}
