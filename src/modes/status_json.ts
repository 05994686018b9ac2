/** A home's report as JSON, and what each of its keys means: one table for both. */

import { judgeNeed } from "../decide/need.ts";
import type { Report } from "./status_report.ts";

/** Name of this form; it changes when a key changes its meaning or goes. */
export const STATUS_SCHEMA = "turnguard-status.v1";

/** One key, by its path from the top. */
interface Field {
  readonly path: string;
  /** Type of the value, with its unit; `?` when it may be null. */
  readonly type: string;
  readonly of: (report: Report) => unknown;
}

function row(path: string, type: string, of: (report: Report) => unknown): Field {
  return { path, type, of };
}

function counts(report: Report, name: "tasks" | "sources" | "checks" | "relay"): unknown {
  return report.need.kind === "counted" ? report.need[name] : null;
}

const FIELDS: readonly Field[] = [
  row("schema", `"${STATUS_SCHEMA}"`, () => STATUS_SCHEMA),
  row("home.root", "path", (report) => report.home.root),
  row("home.home", "path", (report) => report.home.home),
  row("home.state", "path", (report) => report.home.state),
  row("home.config", "path", (report) => report.home.config),
  row("home.watcherPath", "text", (report) => report.home.watcherPath),
  row("home.foundBy", "text", (report) => report.home.foundBy),
  row("scope.kind", "in | out", (report) => report.scope.kind),
  row("scope.because", "text", (report) => report.scope.because),
  row("need.kind", "needed | none | unknown", (report) => judgeNeed(report.need).kind),
  row("need.tasks", "count?", (report) => counts(report, "tasks")),
  row("need.sources", "count?", (report) => counts(report, "sources")),
  row("need.checks", "count?", (report) => counts(report, "checks")),
  row("need.relay", "boolean?", (report) => counts(report, "relay")),
  row("watcher.kind", "healthy | down | unknown", (report) => report.health.kind),
  row(
    "watcher.pid",
    "pid?",
    ({ watcher }) => watcher.holder.kind === "recorded" ? watcher.holder.pid : null,
  ),
  row(
    "watcher.because",
    "code?",
    ({ health }) => health.kind === "healthy" ? null : health.because,
  ),
  row("watcher.saw", "text", (report) => report.health.saw),
  row(
    "beacon.kind",
    "fresh | stale | clock-skew | never | unreadable",
    (report) => report.beat.kind,
  ),
  row(
    "beacon.ageSeconds",
    "seconds?",
    ({ watcher }) => watcher.beacon.kind === "beat" ? watcher.beacon.ageSeconds : null,
  ),
  row("beacon.graceSeconds", "seconds", (report) => report.graceSeconds),
  row("away.mode", "off | away | quiet", (report) => report.daemon.mode),
  row("away.daemon", "owns | does-not | unknown", (report) => report.ownership.kind),
  row("away.saw", "text", (report) => report.ownership.saw),
  row("digest.items", "count", (report) => report.digest.items),
  row("digest.oldestSeconds", "seconds?", (report) => report.digest.oldestSeconds),
  row("digest.wedged", "boolean", (report) => report.digest.wedged),
  row("session.kind", "none | unreadable | recorded", (report) => report.session.kind),
  row("session.pid", "pid?", ({ session }) => session.kind === "recorded" ? session.pid : null),
  row(
    "session.liveness",
    "alive | dead | foreign | unknown ?",
    ({ session }) => session.kind === "recorded" ? session.liveness : null,
  ),
  row("autoarm.kind", "none | open | closed", (report) => report.claim.kind),
  row("autoarm.epoch", "number?", (report) => report.claim.epoch),
  row("autoarm.outcome", "word?", (report) => report.claim.outcome),
  row("autoarm.because", "code?", (report) => report.claim.because),
  row("failure.blocks", "count?", (report) => report.episode.count),
  row("failure.noticed", "boolean", (report) => report.episode.noticed),
  row("failure.alarmed", "boolean", (report) => report.episode.alarmed),
  row("wakes.unreadable", "text?", (report) => report.queue.unreadable),
  row("wakes.pending", "count", (report) => report.queue.pending),
  row("wakes.reserved", "count", (report) => report.queue.reserved),
  row("wakes.oldestSeconds", "seconds?", (report) => report.queue.oldestSeconds),
  row("wakes.recovery", "none | invalid | status:kind", (report) => report.queue.recovery),
  row("checks.registered", "count", (report) => report.checks.registered),
  row("checks.rejected", "count", (report) => report.checks.rejected),
  row("verdict.kind", "allow | block", (report) => report.verdict.kind),
  row("verdict.code", "code", (report) => report.verdict.code),
  row("notices", "texts", (report) => report.notices),
  row("recent", "journal entries, oldest first", (report) => report.recent),
];

/** Every key with its type, for people. */
export const STATUS_KEYS: readonly (readonly [path: string, type: string])[] = FIELDS
  .map(({ path, type }) => [path, type]);

/** The report as one object, its keys in the order of the table. */
export function asJson(report: Report): Readonly<Record<string, unknown>> {
  const object: Record<string, unknown> = {};
  const parts = new Map<string, Record<string, unknown>>();
  for (const { path, of } of FIELDS) {
    const [name = "", inner] = path.split(".");
    if (inner === undefined) {
      object[name] = of(report);
      continue;
    }
    const part = parts.get(name) ?? {};
    parts.set(name, part);
    object[name] = part;
    part[inner] = of(report);
  }
  return object;
}
