/** Reports of homes in the text exposition format that Prometheus reads. */

import { judgeNeed } from "../decide/need.ts";
import type { Report } from "./status_report.ts";

/** A value with the labels that it has besides the home; left out while it cannot be told. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number | undefined];

interface Metric {
  /** Without the prefix that all of them have. */
  readonly name: string;
  readonly help: string;
  readonly samples: (report: Report) => readonly Sample[];
}

function gauge(
  name: string,
  help: string,
  value: (report: Report) => number | boolean | null | undefined,
): Metric {
  return {
    name,
    help,
    samples: (report) => {
      const found = value(report);
      return [[{}, found === null || found === undefined ? undefined : Number(found)]];
    },
  };
}

const PREFIX = "turnguard_";

/** What is undetermined in a report, by a word. */
const DOUBTS: Readonly<Record<string, (report: Report) => boolean>> = {
  need: (report) => judgeNeed(report.need).kind === "unknown",
  watcher: (report) => report.health.kind === "unknown",
  daemon: (report) => report.ownership.kind === "unknown",
  beacon: (report) => report.beat.kind === "unreadable",
  wakes: (report) => report.queue.unreadable !== null,
};

const METRICS: readonly Metric[] = [
  gauge("in_scope", "Whether the home is guarded.", ({ scope }) => scope.kind === "in"),
  gauge("supervision_needed", "Whether something in the home needs supervision.", ({ need }) => {
    const { kind } = judgeNeed(need);
    return kind === "unknown" ? undefined : kind === "needed";
  }),
  {
    name: "need",
    help: "What needs supervision, by its source.",
    samples: ({ need }) =>
      need.kind === "unknown" ? [] : [
        [{ source: "task" }, need.tasks],
        [{ source: "process_event" }, need.sources],
        [{ source: "check" }, need.checks],
        [{ source: "relay" }, Number(need.relay)],
      ],
  },
  gauge(
    "watcher_healthy",
    "Whether a proven watcher beats.",
    ({ health }) => health.kind === "unknown" ? undefined : health.kind === "healthy",
  ),
  gauge(
    "beacon_age_seconds",
    "Time since the watcher's last beat; negative when it lies in the future.",
    ({ watcher }) => watcher.beacon.kind === "beat" ? watcher.beacon.ageSeconds : undefined,
  ),
  gauge(
    "beacon_grace_seconds",
    "Age below which a beat is fresh.",
    (report) => report.graceSeconds,
  ),
  {
    name: "away_mode",
    help: "The mode that is on.",
    samples: ({ daemon }) =>
      ["off", "away", "quiet"].map((mode): Sample => [{ mode }, Number(daemon.mode === mode)]),
  },
  gauge(
    "daemon_owns",
    "Whether the away daemon supervises.",
    ({ ownership }) => ownership.kind === "unknown" ? undefined : ownership.kind === "owns",
  ),
  gauge("digest_items", "Items that the daemon has not delivered.", ({ digest }) => digest.items),
  gauge(
    "digest_oldest_age_seconds",
    "Age of the first such item.",
    ({ digest }) => digest.oldestSeconds,
  ),
  gauge("claim_open", "Whether an auto-arm claim is open.", ({ claim }) => claim.kind === "open"),
  gauge("claim_epoch", "Generation of the last auto-arm claim.", ({ claim }) => claim.epoch),
  gauge("blocks_counted", "Blocks counted against the budget.", ({ episode }) => episode.count),
  gauge("failure_noticed", "Whether a failure was told.", ({ episode }) => episode.noticed),
  gauge("failure_alarmed", "Whether the alarm was raised.", ({ episode }) => episode.alarmed),
  gauge(
    "wakes_pending",
    "Queued wakes to handle.",
    ({ queue }) => queue.unreadable === null ? queue.pending : undefined,
  ),
  gauge(
    "wakes_reserved",
    "Queued wakes that a branch has taken on.",
    ({ queue }) => queue.unreadable === null ? queue.reserved : undefined,
  ),
  gauge(
    "wakes_oldest_age_seconds",
    "Age of the oldest queued wake.",
    ({ queue }) => queue.oldestSeconds,
  ),
  gauge("checks_registered", "Custom checks that run.", ({ checks }) => checks.registered),
  gauge("checks_rejected", "Custom checks that may not run.", ({ checks }) => checks.rejected),
  gauge(
    "stop_blocked",
    "Whether a stop would be blocked now.",
    ({ verdict }) => verdict.kind === "block",
  ),
  {
    name: "undetermined",
    help: "Whether that part of the status could not be told.",
    samples: (report) =>
      Object.entries(DOUBTS).map(([what, doubts]): Sample => [{ what }, Number(doubts(report))]),
  },
];

/** The reports as one exposition; each metric is described once, whatever the number of homes. */
export function asMetrics(reports: readonly Report[], version: string): string {
  const lines = METRICS.flatMap(({ name, help, samples }) => {
    const values = reports.flatMap((report) =>
      samples(report).filter(([, value]) => value !== undefined)
        .map(([labels, value]) => line(name, { home: report.home.home, ...labels }, value ?? 0))
    );
    return values.length === 0 ? [] : [...header(name, help), ...values];
  });
  const build = [
    ...header("build_info", "The program that says so."),
    line("build_info", { version }, 1),
  ];
  return [...lines, ...build].map((text) => `${text}\n`).join("");
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
