/** Statuses of homes in the text exposition format that Prometheus reads. */

import { judgeNeed } from "../decide/need.ts";
import type { HelpTable } from "./mode.ts";
import type { HomeStatus, Judged, StateReport } from "./status_report.ts";

/** A value with the labels that it has besides the home; left out while it cannot be told. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: Value];

type Value = number | boolean | null | undefined;

interface Metric {
  /** Without the prefix that all of them have. */
  readonly name: string;
  /** The label besides the home, where there is one. */
  readonly label?: string;
  readonly help: string;
  readonly samples: (status: HomeStatus) => readonly Sample[];
}

/** A value of the guard's own judgement. */
function ofJudged(name: string, help: string, value: (judged: Judged) => Value): Metric {
  return {
    name,
    help,
    samples: ({ judged }) => judged === null ? [] : [[{}, value(judged)]],
  };
}

/** A value of what the state directory holds. */
function ofState(name: string, help: string, value: (state: StateReport) => Value): Metric {
  return { name, help, samples: ({ state }) => state === null ? [] : [[{}, value(state)]] };
}

/** Values of what the state directory holds, one for each value of `label`. */
function labelledOfState(
  name: string,
  label: string,
  help: string,
  values: (state: StateReport) => Readonly<Record<string, Value>>,
): Metric {
  return {
    name,
    label,
    help,
    samples: ({ state }) =>
      state === null ? [] : Object.entries(values(state))
        .map(([word, value]): Sample => [{ [label]: word }, value]),
  };
}

const PREFIX = "turnguard_";

/** What may be undetermined though the state directory can be listed, by a word. */
const DOUBTS: Readonly<Record<string, (state: StateReport) => boolean>> = {
  watcher: ({ watcher }) => watcher.health.kind === "unknown",
  beacon: ({ beat }) => beat.kind === "unreadable",
  daemon: ({ daemon }) => daemon.kind === "unknown",
  digest: ({ digest }) => digest.because !== null,
  session: ({ session }) => sessionOwned(session) === undefined,
  autoarm: ({ claim }) => claim.kind === "unknown",
  wakes: ({ queue }) => queue.because !== null,
  checks: ({ checks }) => checks.counts === null,
  sources: ({ sources }) => sources.because !== null || sources.doubtful !== 0,
};

function doubtsOf({ state }: HomeStatus): readonly Sample[] {
  return [
    [{ what: "home" }, state === null],
    ...Object.entries(DOUBTS)
      .map(([what, doubts]): Sample => [{ what }, state === null || doubts(state)]),
  ];
}

/** Whether a session owns the home; a process of somebody else tells nothing. */
function sessionOwned(session: StateReport["session"]): boolean | undefined {
  switch (session.kind) {
    case "none":
      return false;
    case "unreadable":
      return undefined;
    case "recorded":
      if (session.liveness === "alive") return true;
      return session.liveness === "dead" ? false : undefined;
  }
}

const METRICS: readonly Metric[] = [
  ofJudged("in_scope", "Whether the home is guarded.", ({ scope }) => scope.kind === "in"),
  ofJudged(
    "stop_blocked",
    "Whether a first stop would be blocked now.",
    ({ verdict }) => verdict.kind === "block",
  ),
  ofState(
    "supervision_needed",
    "Whether anything in the home needs supervision.",
    ({ need }) => judgeNeed(need).kind === "needed",
  ),
  ofState("tasks", "Task records.", ({ need }) => need.tasks),
  ofState("relay", "Whether the relay is polled.", ({ need }) => need.relay),
  ofState(
    "watcher_healthy",
    "Whether a proven watcher beats.",
    ({ watcher: { health } }) => health.kind === "unknown" ? undefined : health.kind === "healthy",
  ),
  ofState(
    "beacon_age_seconds",
    "Time since the watcher's last beat; negative when it lies in the future.",
    ({ beacon }) => beacon.kind === "beat" ? beacon.ageSeconds : undefined,
  ),
  ofState(
    "beacon_grace_seconds",
    "Age below which a beat is fresh.",
    (state) => state.graceSeconds,
  ),
  labelledOfState("away_mode", "mode", "Which mode is on.", ({ awayMode }) => ({
    off: awayMode === "off",
    away: awayMode === "away",
    quiet: awayMode === "quiet",
  })),
  ofState(
    "daemon_owns",
    "Whether the daemon of away mode supervises.",
    ({ daemon }) => daemon.kind === "unknown" ? undefined : daemon.kind === "owns",
  ),
  ofState("digest_items", "Items that the daemon has not delivered.", ({ digest }) => digest.items),
  ofState(
    "digest_oldest_age_seconds",
    "Age of the first such item.",
    ({ digest }) => digest.oldestSeconds,
  ),
  ofState(
    "digest_wedged",
    "Whether somebody was alarmed about them.",
    ({ digest }) => digest.wedged,
  ),
  ofState(
    "session_owned",
    "Whether the process in the session lock lives.",
    ({ session }) => sessionOwned(session),
  ),
  ofState(
    "claim_open",
    "Whether an auto-arm's claim is open.",
    ({ claim }) => claim.kind === "unknown" ? undefined : claim.kind === "open",
  ),
  ofState("claim_epoch", "Generation of the last claim.", ({ claim }) => claim.epoch),
  ofState("blocks_counted", "Blocks counted in a row.", ({ episode }) => episode.blocks),
  ofState(
    "block_budget",
    "Blocks above which the alarm may come.",
    ({ episode }) => episode.budget,
  ),
  ofState(
    "failure_noticed",
    "Whether a session was told of a failure.",
    ({ episode }) => episode.noticed,
  ),
  ofState("alarm", "Whether the alarm was raised.", ({ episode }) => episode.alarmed),
  ofState("wakes_pending", "Queued wakes to handle.", ({ queue }) => queue.pending),
  ofState(
    "wakes_reserved",
    "Queued wakes that a branch has taken on.",
    ({ queue }) => queue.reserved,
  ),
  ofState(
    "wake_oldest_age_seconds",
    "Age of the oldest queued wake.",
    ({ queue }) => queue.oldestSeconds,
  ),
  labelledOfState(
    "checks",
    "state",
    "Custom checks by what may be done with them.",
    ({ checks }) => checks.counts ?? {},
  ),
  labelledOfState(
    "sources",
    "state",
    "Process-event sources, by whether they can run.",
    (state) => ({
      registered: state.sources.registered,
      rejected: state.sources.rejected,
    }),
  ),
  ofState("sources_running", "Sources with a live runner.", ({ sources }) => sources.running),
  ofState(
    "source_results_unhandled",
    "Results of sources that nobody acknowledged.",
    (state) => state.sources.unhandled,
  ),
  {
    name: "status_undetermined",
    label: "what",
    help: "Whether that part of the status could not be told.",
    samples: doubtsOf,
  },
];

const BUILD: Pick<Metric, "name" | "label" | "help"> = {
  name: "build_info",
  label: "version",
  help: "The program that says so, always 1.",
};

/** Every metric with its meaning, for people. */
export const STATUS_METRICS: HelpTable = {
  heading:
    "Metrics of --prometheus, all gauges, with the label home and those in braces; a yes is 1:",
  rows: [...METRICS, BUILD].map(({ name, label, help }) =>
    [`${PREFIX}${name}${label === undefined ? "" : `{${label}}`}`, help] as const
  ),
};

/** The statuses as one exposition; each metric is described once, whatever the number of homes. */
export function homesAsMetrics(statuses: readonly HomeStatus[], version: string): string {
  const metrics = METRICS.flatMap(({ name, help, samples }) => {
    const lines = statuses.flatMap((status) =>
      samples(status).flatMap(([labels, value]) => {
        const number = value === null || value === undefined ? NaN : Number(value);
        // What cannot be told has no sample: NaN would say that somebody measured it.
        if (!Number.isFinite(number)) return [];
        return [line(name, { home: status.home.home, ...labels }, number)];
      })
    );
    return lines.length === 0 ? [] : [...header(name, help), ...lines];
  });
  const build = [...header(BUILD.name, BUILD.help), line(BUILD.name, { version }, 1)];
  return [...metrics, ...build].map((text) => `${text}\n`).join("");
}

function header(name: string, help: string): readonly string[] {
  return [`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} gauge`];
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${PREFIX}${name}{${pairs.join(",")}} ${value}`;
}

/** Label values may hold anything but these three as they are. */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
