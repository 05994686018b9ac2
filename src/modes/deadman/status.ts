/** `deadman status`: whether it is installed, still runs, and what it saw and told. */

import {
  type Attempt,
  type DeadmanMemory,
  isAlarm,
  isOverdue,
  nextAlarmSeconds,
  type Sample,
} from "../../decide/deadman.ts";
import { nowSeconds } from "../../platform/clock.ts";
import { printable } from "../../platform/printable.ts";
import { jobOf, type Standing } from "../../watch/deadman/backend.ts";
import { schedulers } from "../../watch/deadman/backends.ts";
import { hostPrograms } from "../../watch/deadman/programs.ts";
import { type DeadmanRecord, readRecord } from "../../watch/deadman/record.ts";
import { type Call, EXIT, type ExitStatus, hasFlag } from "../mode.ts";
import {
  ageInWords,
  complain,
  counted,
  labelled,
  pasteable,
  say,
  sayJson,
  screenStyle,
  type Style,
} from "../person_output.ts";
import { complainOfNoPlace, type Target, targetOf } from "./target.ts";

/** Shows the deadman of the home that `call` means. */
export async function status(call: Call): Promise<ExitStatus> {
  const target = await targetOf(call);
  if (target === undefined) return await complainOfNoPlace();
  const { recordPath, root } = target;
  const reading = readRecord(recordPath);
  if (reading.kind === "unreadable") {
    return await complain({
      mode: "deadman",
      wrong: `the record ${recordPath} cannot be used: ${reading.because}`,
      untouched: "nothing was changed",
      todo: `install it anew: turnguard deadman install --root ${pasteable(root)} -- COMMAND`,
    });
  }
  const { record } = reading.kind === "record" ? reading : { record: undefined };
  const seen = record === undefined ? undefined : {
    record,
    standing: await standingOf(call, target, record),
    now: nowSeconds(),
  };
  if (hasFlag(call, "json")) await sayJson(asJson(target, seen));
  else await say(asScreen(target, seen, screenStyle(call.environment)));
  return EXIT.ok;
}

/** What is shown of an installed deadman. */
interface Seen {
  readonly record: DeadmanRecord;
  readonly standing: Standing;
  /** Seconds since the epoch. */
  readonly now: number;
}

async function standingOf(call: Call, target: Target, record: DeadmanRecord): Promise<Standing> {
  const { id, recordPath, userFolder } = target;
  const backend = schedulers(call.environment, userFolder, hostPrograms(call.environment))
    .find(({ name }) => name === record.backend);
  return await backend?.look(jobOf(record, id, recordPath)) ??
    { kind: "unknown", because: "its scheduler is not known" };
}

/** The notify command's arguments stay in the record: one of them may be a secret. */
function asJson(target: Target, seen: Seen | undefined): Readonly<Record<string, unknown>> {
  const where = { root: target.root, home: target.home.home, record: target.recordPath };
  if (seen === undefined) return { ...where, installed: false };
  const { record, standing, now } = seen;
  const { memory } = record;
  return {
    ...where,
    installed: true,
    backend: record.backend,
    schedule: { kind: standing.kind, because: "because" in standing ? standing.because : null },
    intervalSeconds: record.intervalSeconds,
    cooldownSeconds: record.cooldownSeconds,
    bootGraceSeconds: record.bootGraceSeconds,
    notify: { program: record.notify[0], arguments: record.notify.length - 1 },
    sample: memory.sample === null
      ? null
      : { ...memory.sample, ageSeconds: now - memory.sample.atSeconds },
    overdue: isOverdue(memory, record, now),
    streak: memory.streak,
    alarm: isAlarm(memory),
    toldAtSeconds: memory.toldAtSeconds,
    attempt: memory.attempt,
    nextAlarmAtSeconds: Math.max(now, nextAlarmSeconds(memory, record)),
  };
}

function asScreen(target: Target, seen: Seen | undefined, style: Style): readonly string[] {
  const home = field("home", target.home.home);
  if (seen === undefined) {
    return [
      ...home,
      ...field("deadman", "not installed"),
      ...field("", `no record at ${target.recordPath}`, style.quiet),
    ];
  }
  const { record, standing, now } = seen;
  const { memory, notify } = record;
  return [
    ...home,
    ...scheduleField(record, standing, style),
    ...sampleFields(record, now, style),
    ...field("streak", `${counted(memory.streak, "unhealthy sample")} in a row`),
    ...alarmFields(memory, now, style),
    ...field("next", nextInWords(record, now)),
    ...field("notify", `${notify[0]} (${counted(notify.length - 1, "argument")})`),
    ...field("record", target.recordPath, style.quiet),
  ];
}

function scheduleField(
  { backend, intervalSeconds }: DeadmanRecord,
  standing: Standing,
  style: Style,
): readonly string[] {
  const what = `${backend}, every ${intervalSeconds} s`;
  switch (standing.kind) {
    case "registered":
      return field("schedule", `${what}: registered`, style.good);
    case "missing":
      return field("schedule", `${what}: GONE, nothing takes samples; install it anew`, style.bad);
    case "differs":
      return field("schedule", `${what}: ${standing.because}; install it anew`, style.bad);
    case "unknown":
      return field("schedule", `${what}: not known, ${standing.because}`, style.doubtful);
  }
}

function sampleFields(record: DeadmanRecord, now: number, style: Style): readonly string[] {
  const { sample } = record.memory;
  if (sample === null) return field("sample", "none yet", style.doubtful);
  return [
    ...field(
      "sample",
      `${sample.kind}, ${ago(sample.atSeconds, now)}: ${sample.because}`,
      style[SAMPLE_STYLES[sample.kind]],
    ),
    ...(isOverdue(record.memory, record, now)
      ? field("", "OVERDUE: the machine slept, or the schedule does not run", style.bad)
      : []),
  ];
}

const SAMPLE_STYLES: Readonly<Record<Sample["kind"], keyof Style>> = {
  healthy: "good",
  unhealthy: "bad",
  unknown: "doubtful",
  grace: "quiet",
};

function alarmFields(memory: DeadmanMemory, now: number, style: Style): readonly string[] {
  const { attempt, toldAtSeconds } = memory;
  return [
    ...field(
      "alarm",
      toldAtSeconds === null ? "none was told yet" : `told ${ago(toldAtSeconds, now)}`,
    ),
    ...(attempt === null || attempt.outcome === "told"
      ? []
      : field("", `last try ${ago(attempt.atSeconds, now)}: ${tryInWords(attempt)}`, style.bad)),
  ];
}

function tryInWords({ outcome, because }: Attempt): string {
  return outcome === "failed"
    ? `FAILED: ${because}`
    : "not known to have ended; the command still runs, or the sample was cut short";
}

/** How long ago something was; the clock may have been set back since. */
function ago(atSeconds: number, now: number): string {
  return `${ageInWords(Math.max(0, now - atSeconds))} ago`;
}

function nextInWords(record: DeadmanRecord, now: number): string {
  const waitSeconds = nextAlarmSeconds(record.memory, record) - now;
  return waitSeconds > 0
    ? `an alarm may be told in ${ageInWords(waitSeconds)}`
    : "an alarm may be told at any time";
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
