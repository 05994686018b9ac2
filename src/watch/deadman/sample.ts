/** One sample: look at the home, remember what was seen outside of it, and tell when it is time. */

import {
  alarmMessage,
  type DeadmanMemory,
  isAlarm,
  isAlarmDue,
  isBooting,
  type Moment,
  remember,
  type Sample,
} from "../../decide/deadman.ts";
import { judgeCondition } from "../../decide/deadman_condition.ts";
import { observeBlindEnd } from "../../watch/blind_end.ts";
import type { Home } from "../../observe/home.ts";
import { observeTurnEnd } from "../../observe/turn_end.ts";
import { nowSeconds } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import { printableWithin } from "../../platform/printable.ts";
import { systemProcesses } from "../../platform/processes.ts";
import { notify } from "./notify.ts";
import { type DeadmanRecord, writeRecord } from "./record.ts";
import { uptimeSeconds } from "./uptime.ts";

/** Characters of what was seen that are kept: a line for people, not a log. */
const BECAUSE_LIMIT = 600;

/** What a sample is taken with. */
export interface SampleSetup {
  readonly record: DeadmanRecord;
  readonly recordPath: string;
  readonly home: Home;
  /** The environment in which the home is judged. */
  readonly environment: Environment;
  /** Resolves when this process is asked to stop; asked for only once a command is started. */
  readonly stop: () => Promise<unknown>;
}

/** What a sample came to, and what was done about it. */
export interface Sampled {
  readonly before: DeadmanMemory;
  readonly after: DeadmanMemory;
  readonly alarm: boolean;
  readonly telling: "not-due" | "told" | "failed" | "stopped";
}

/**
 * Takes one sample. Nothing below the home is written.
 *
 * The start of the notify command is remembered before it happens, so that one which cannot be
 * remembered cannot be repeated either. Throws when the record cannot be written.
 */
export async function takeSample(setup: SampleSetup): Promise<Sampled> {
  const { record, recordPath, environment } = setup;
  const before = record.memory;
  const now = nowSeconds();
  const uptime = await uptimeSeconds(environment, now);
  const moment: Moment = { nowSeconds: now, uptimeSeconds: uptime };
  const seen = await look(setup, moment);
  const after = remember(before, seen, moment, record);
  const keep = (memory: DeadmanMemory): DeadmanMemory => {
    writeRecord(recordPath, { ...record, memory });
    return memory;
  };
  const alarm = isAlarm(after);
  if (!isAlarmDue(after, record, now)) {
    return { before, after: keep(after), alarm, telling: "not-due" };
  }
  const attempt = {
    atSeconds: now,
    outcome: "started",
    because: "",
  } as const;
  keep({ ...after, attempt });
  const end = await notify(record.notify, alarmMessage(setup.home.home, after), setup.stop());
  switch (end.kind) {
    case "stopped":
      return { before, after: { ...after, attempt }, alarm, telling: "stopped" };
    case "told":
      return {
        before,
        after: keep({
          ...after,
          toldAtSeconds: now,
          attempt: { atSeconds: now, outcome: "told", because: "" },
        }),
        alarm,
        telling: "told",
      };
    case "failed":
      return {
        before,
        after: keep({
          ...after,
          attempt: { atSeconds: now, outcome: "failed", because: end.because },
        }),
        alarm,
        telling: "failed",
      };
  }
}

async function look(
  { record, home, environment }: SampleSetup,
  moment: Moment,
): Promise<Pick<Sample, "kind" | "because">> {
  if (isBooting(moment, record)) {
    const because = `up for ${moment.uptimeSeconds} s; judged from ${record.bootGraceSeconds} s on`;
    return { kind: "grace", because };
  }
  const facts = observeTurnEnd({
    input: { kind: "bytes", bytes: new Uint8Array() },
    home,
    environment,
    processes: systemProcesses(environment),
    anchor: undefined,
    // Out of band nobody waits for a beat: a second sample decides.
    steady: (fact) => Promise.resolve(fact),
  });
  const { kind, because } = await judgeCondition(facts);
  const blind = kind === "unhealthy" ? observeBlindEnd(home.state) : undefined;
  const told = blind === undefined ? because : `${because}; last turn end: ${blind.because}`;
  // Texts of lock files are in it; the record and the notify command are to get plain ones.
  return { kind, because: printableWithin(told, BECAUSE_LIMIT) };
}
