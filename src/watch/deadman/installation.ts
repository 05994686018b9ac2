/** A deadman put in place and taken away: its record first and last, its schedule in between. */

import { NO_MEMORY } from "../../decide/deadman.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { type HeldLock, lockWithin } from "../../state/lock.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import { type Backend, failed, type Job, type Outcome } from "./backend.ts";
import {
  type BackendName,
  type DeadmanRecord,
  lockPath,
  makeRecordFolder,
  readRecord,
  writeRecord,
} from "./record.ts";

/** Milliseconds that a sample which is being taken is waited for. */
const LOCK_WAIT_MS = 5_000;

/** Which deadman it is about. */
export interface Place {
  readonly id: string;
  readonly recordPath: string;
  /** Every scheduler there is, since an earlier installation may have used another one. */
  readonly backends: readonly Backend[];
}

/** What is to be put in place. */
export interface Installation extends Place {
  readonly record: DeadmanRecord;
  readonly job: Job;
  readonly backend: Backend;
}

/** How a change ended. */
export type Change =
  | Outcome
  /** A sample is being taken; nothing was changed. */
  | { readonly kind: "busy" }
  /** It was installed, but the schedule of an earlier installation could not be removed. */
  | { readonly kind: "doubled"; readonly report: readonly string[]; readonly because: string };

/**
 * Installs, or changes what is installed; what was remembered stays. When the schedule cannot be
 * made, the record is as it was before.
 */
export async function installDeadman(installation: Installation): Promise<Change> {
  try {
    makeRecordFolder(installation.recordPath);
    const lock = await lockRecord(installation.recordPath);
    if (lock === undefined) return { kind: "busy" };
    using _lock = lock;
    return await putInPlace(installation);
  } catch (error) {
    return failed(errorMessage(error));
  }
}

async function putInPlace(installation: Installation): Promise<Change> {
  const { backend, backends, id, job, record, recordPath } = installation;
  const earlier = readRecord(recordPath);
  const memory = earlier.kind === "record" ? earlier.record.memory : NO_MEMORY;
  // The schedule may start at once, and needs the record.
  writeRecord(recordPath, { ...record, memory });
  const outcome = await backend.add(job);
  if (outcome.kind === "failed") {
    if (earlier.kind === "record") writeRecord(recordPath, earlier.record);
    else removeQuietly(recordPath);
    return outcome;
  }
  if (earlier.kind !== "record" || earlier.record.backend === backend.name) return outcome;
  const removed = await removeFrom(backends, id, earlier.record.backend);
  return removed.kind === "failed"
    ? { kind: "doubled", report: outcome.report, because: removed.because }
    : { ...outcome, report: [...outcome.report, ...removed.report] };
}

/**
 * Uninstalls; `unchanged` when there was nothing. The record stays when its schedule does.
 *
 * Every scheduler is asked, since the record may have been lost; one that cannot answer matters only
 * when it is the recorded one.
 */
export async function uninstallDeadman({ id, recordPath, backends }: Place): Promise<Change> {
  const earlier = readRecord(recordPath);
  const lock = earlier.kind === "absent" ? undefined : await lockRecord(recordPath);
  if (lock === undefined && earlier.kind !== "absent") return { kind: "busy" };
  using _lock = lock;
  const report: string[] = [];
  for (const { name } of backends) {
    const removed = await removeFrom(backends, id, name);
    if (removed.kind !== "failed") report.push(...removed.report);
    else if (earlier.kind === "record" && earlier.record.backend === name) return removed;
  }
  if (earlier.kind !== "absent") {
    try {
      Deno.removeSync(recordPath);
    } catch (error) {
      return failed(`${recordPath} cannot be removed: ${errorMessage(error)}`);
    }
    report.push("Its record was removed:", `  ${recordPath}`);
  }
  return { kind: report.length === 0 ? "unchanged" : "done", report };
}

async function lockRecord(recordPath: string): Promise<HeldLock | undefined> {
  const lock = await lockWithin(lockPath(recordPath), LOCK_WAIT_MS);
  return lock.kind === "acquired" ? lock.lock : undefined;
}

async function removeFrom(
  backends: readonly Backend[],
  id: string,
  name: BackendName,
): Promise<Outcome> {
  return await backends.find((backend) => backend.name === name)?.remove(id) ??
    { kind: "unchanged", report: [] };
}
