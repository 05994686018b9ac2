/** `deadman run`: one sample, silent unless there is something to say. */

import { writeTo } from "../../platform/output.ts";
import { printable } from "../../platform/printable.ts";
import { firstStopSignal, type StopSignal } from "../../platform/stop_signal.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { tryLock } from "../../state/lock.ts";
import {
  type DeadmanRecord,
  lockPath,
  readRecord,
  recordedEnvironment,
} from "../../watch/deadman/record.ts";
import { type Sampled, takeSample } from "../../watch/deadman/sample.ts";
import { alarmMessage } from "../../decide/deadman.ts";
import { personHome } from "../call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue } from "../mode.ts";
import { ageInWords, complain } from "../person_output.ts";
import { complainOfNoPlace, targetOf } from "./target.ts";

/** Takes one sample of the home that `call` means. */
export async function run(call: Call): Promise<ExitStatus> {
  const path = flagValue(call, "record") ?? (await targetOf(call))?.recordPath;
  if (path === undefined) return await complainOfNoPlace();
  // Asked before the lock: where nothing is installed nothing may be made.
  const glance = readRecord(path);
  if (glance.kind !== "record") return await complainOfRecord(path, glance);
  const lock = tryLock(lockPath(path));
  if (lock.kind === "refused") {
    return await undetermined("another sample of this home is being taken");
  }
  using _lock = lock.lock;
  const reading = readRecord(path);
  if (reading.kind !== "record") return await complainOfRecord(path, reading);
  const root = flagValue(call, "root");
  if (
    root !== undefined && flagValue(call, "record") !== undefined && root !== reading.record.root
  ) {
    return await complain({
      mode: "deadman",
      wrong: `the record ${path} is of ${reading.record.root}`,
      untouched: "no sample was taken",
      todo: "name its own root, or leave --record out",
    });
  }
  return await sample(call, path, reading.record);
}

async function sample(call: Call, path: string, record: DeadmanRecord): Promise<ExitStatus> {
  const environment = recordedEnvironment(call.environment, record.settings);
  const home = personHome({ ...call, environment, flags: new Map([["root", record.root]]) });
  let signal: Promise<StopSignal> | undefined;
  let sampled: Sampled;
  try {
    sampled = await takeSample({
      record,
      recordPath: path,
      home,
      environment,
      stop: () => signal ??= firstStopSignal(),
    });
  } catch (error) {
    return await complain({
      mode: "deadman",
      wrong: `the sample cannot be kept: ${errorMessage(error)}`,
      untouched: "nobody was told of anything",
      todo: `make ${path} writable`,
    });
  }
  if (sampled.telling === "stopped" && signal !== undefined) return (await signal).status;
  return await report(sampled, record, home.home);
}

async function report(sampled: Sampled, record: DeadmanRecord, home: string): Promise<ExitStatus> {
  const { after, before, telling } = sampled;
  const message = alarmMessage(home, after);
  if (telling === "failed") {
    const because = after.attempt?.because ?? "";
    return await complain({
      mode: "deadman",
      wrong: `${record.notify[0]} could not tell "${message}": ${because}`,
      untouched: "the home was not changed",
      todo: "it is tried again at the next sample",
    });
  }
  if (telling === "told") {
    const wait = ageInWords(record.cooldownSeconds);
    await writeTo("stderr", `${printable(message)} Told; again in ${wait} at the earliest.\n`);
  }
  if (after.sample?.kind === "unknown") {
    const { because } = after.sample;
    const isNews = before.sample?.kind !== "unknown" || before.sample.because !== because;
    return isNews ? await undetermined(because) : EXIT.undetermined;
  }
  return sampled.alarm ? EXIT.failure : EXIT.ok;
}

async function undetermined(because: string): Promise<ExitStatus> {
  const line = `turnguard deadman: not determined: ${because}; this sample does not count`;
  await writeTo("stderr", `${printable(line)}\n`);
  return EXIT.undetermined;
}

async function complainOfRecord(
  path: string,
  reading: Exclude<ReturnType<typeof readRecord>, { kind: "record" }>,
): Promise<ExitStatus> {
  return await complain({
    mode: "deadman",
    wrong: reading.kind === "absent"
      ? `no deadman is installed: there is no ${path}`
      : `the record ${path} cannot be used: ${reading.because}`,
    untouched: "no sample was taken",
    todo: "install it: turnguard deadman install --root DIR -- COMMAND",
  });
}
