/** `deadman install` and `deadman uninstall`: a schedule made, and taken away again. */

import { type DeadmanTiming, NO_MEMORY } from "../../decide/deadman.ts";
import { judgeScope } from "../../decide/scope.ts";
import { observeScope } from "../../observe/scope.ts";
import { logicalWorkingDirectory } from "../../observe/home.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { writeTo } from "../../platform/output.ts";
import { printable } from "../../platform/printable.ts";
import { type HeldLock, lockWithin } from "../../state/lock.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import { type Backend, type Job, jobOf, unregistrable } from "../../watch/deadman/backend.ts";
import { schedulers } from "../../watch/deadman/backends.ts";
import { resolveCommand } from "../../watch/deadman/notify.ts";
import { hostPrograms } from "../../watch/deadman/programs.ts";
import {
  BACKEND_NAMES,
  type BackendName,
  currentSettings,
  type DeadmanRecord,
  makeRecordFolder,
  readRecord,
  writeRecord,
} from "../../watch/deadman/record.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag } from "../mode.ts";
import { complain, complainUsage, labelled, pasteable, say } from "../person_output.ts";
import { executableOf } from "../registered_paths.ts";
import { lockPath } from "./run.ts";
import { complainOfNoPlace, liesIn, type Target, targetOf } from "./target.ts";
import { timingOf } from "./timing.ts";

/** Milliseconds that a sample which is being taken is waited for. */
const LOCK_WAIT_MS = 5_000;

/** Installs the deadman of the home that `call` means. */
export async function install(call: Call): Promise<ExitStatus> {
  const timing = timingOf(call);
  if (timing.kind === "wrong") return await complainUsage("deadman", timing.wrong);
  const backend = flagValue(call, "backend");
  const name = BACKEND_NAMES.find((each) => each === backend);
  if (backend !== undefined && name === undefined) {
    return await complainUsage("deadman", `--backend is one of ${BACKEND_NAMES.join(", ")}`);
  }
  const [command = "", ...args] = call.rest;
  if (command === "") {
    return await complainUsage("deadman", "say what is to tell you: -- COMMAND [ARGS]");
  }
  const target = await targetOf(call);
  if (target === undefined) return await complainOfNoPlace();
  const plan = await planFor(call, target, { timing, name, notify: [command, ...args] });
  if (plan.kind === "refused") return await refuse(plan.wrong, plan.todo);
  if (hasFlag(call, "dry-run")) return await preview(plan);
  return await apply(plan, target);
}

interface Plan {
  readonly kind: "plan";
  readonly record: DeadmanRecord;
  readonly job: Job;
  readonly backend: Backend;
  readonly backends: readonly Backend[];
}

interface Refused {
  readonly kind: "refused";
  readonly wrong: string;
  readonly todo: string;
}

interface Wishes {
  readonly timing: DeadmanTiming;
  readonly name: BackendName | undefined;
  readonly notify: readonly [string, ...string[]];
}

async function planFor(call: Call, target: Target, wishes: Wishes): Promise<Plan | Refused> {
  const { environment } = call;
  const { home, root, id, recordPath } = target;
  const scope = judgeScope(observeScope(home));
  if (scope.kind === "out") {
    return refused(
      `${root} is not guarded: ${scope.because}`,
      "make it a home with turnguard init, or name one with --root DIR",
    );
  }
  if ([root, home.home, home.state].some((folder) => liesIn(recordPath, folder))) {
    return refused(
      `the record ${recordPath} would lie in the home, which a deadman never changes`,
      "set XDG_STATE_HOME to a folder outside of it",
    );
  }
  const executable = executableOf(call);
  if (executable.kind === "refused") {
    return refused(
      `${executable.path} ${executable.because}`,
      "name another path of turnguard with --executable PATH",
    );
  }
  const notify = resolveCommand(wishes.notify, {
    path: environment.get("PATH"),
    workingDirectory: () => logicalWorkingDirectory(environment),
  });
  if (notify === undefined) {
    return refused(`there is no program ${wishes.notify[0]}`, "name it by its absolute path");
  }
  const record: Omit<DeadmanRecord, "backend"> = {
    format: 1,
    root,
    home: home.home,
    executable: executable.path,
    ...wishes.timing,
    notify,
    settings: currentSettings(environment),
    memory: NO_MEMORY,
  };
  const job = jobOf({ ...record, backend: "none" }, id, recordPath);
  const unfit = unregistrable([...job.words, job.home]);
  if (unfit !== undefined) {
    return refused(`${unfit} holds a control character, which no schedule can`, "rename it");
  }
  const backends = schedulers(environment, target.userFolder, hostPrograms(environment));
  const chosen = await choose(backends, job, wishes.name, hasFlag(call, "dry-run"));
  if (chosen.kind === "refused") return chosen;
  const { backend } = chosen;
  return { kind: "plan", record: { ...record, backend: backend.name }, job, backend, backends };
}

/** The scheduler that was asked for, else the first that the host has. */
async function choose(
  backends: readonly Backend[],
  job: Job,
  name: BackendName | undefined,
  isDryRun: boolean,
): Promise<Refused | { readonly kind: "chosen"; readonly backend: Backend }> {
  const reasons: string[] = [];
  for (const backend of backends) {
    if (name === undefined ? backend.name === "none" : backend.name !== name) continue;
    const because = await backend.unavailable(job);
    // What would be written may be looked at anywhere.
    if (because === undefined || (isDryRun && name !== undefined)) {
      return { kind: "chosen", backend };
    }
    reasons.push(`${backend.name}: ${because}`);
  }
  return refused(
    `no scheduler can be used (${reasons.join("; ")})`,
    "start one of them, or run the samples yourself with --backend none",
  );
}

function refused(wrong: string, todo: string): Refused {
  return { kind: "refused", wrong, todo };
}

async function refuse(wrong: string, todo: string): Promise<ExitStatus> {
  return await complain({ mode: "deadman", wrong, untouched: "nothing was changed", todo });
}

async function preview({ backend, job }: Plan): Promise<ExitStatus> {
  await say((backend.name === "none" ? ownSchedule(job) : backend.preview(job)).map(printable));
  await writeTo("stderr", "turnguard deadman: dry run; nothing was written\n");
  return EXIT.ok;
}

function ownSchedule(job: Job): readonly string[] {
  return [`Run this every ${job.intervalSeconds} s:`, `  ${job.words.map(pasteable).join(" ")}`];
}

async function apply(plan: Plan, target: Target): Promise<ExitStatus> {
  const { recordPath, id } = target;
  const { backend, job } = plan;
  try {
    makeRecordFolder(recordPath);
    const lock = await locked(recordPath);
    if (lock === undefined) return await complainOfSample();
    using _lock = lock;
    const earlier = readRecord(recordPath);
    const memory = earlier.kind === "record" ? earlier.record.memory : NO_MEMORY;
    // The schedule may start at once, and needs the record.
    writeRecord(recordPath, { ...plan.record, memory });
    const outcome = await backend.add(job);
    if (outcome.kind === "failed") {
      if (earlier.kind === "record") writeRecord(recordPath, earlier.record);
      else removeQuietly(recordPath);
      return await refuse(outcome.because, "see to it, or choose another with --backend");
    }
    const report = backend.name === "none" ? ownSchedule(job) : outcome.report;
    const replaced = earlier.kind === "record" && earlier.record.backend !== backend.name
      ? await removeFrom(plan.backends, id, earlier.record.backend)
      : NOTHING_REMOVED;
    await say([
      ...(outcome.kind === "unchanged" ? ["The schedule was left as it is:"] : []),
      ...[...report, ...replaced.report].map(printable),
      ...told(plan.record),
    ]);
    return replaced.because === undefined ? EXIT.ok : await complain({
      mode: "deadman",
      wrong: `the earlier schedule remains: ${replaced.because}`,
      untouched: "the new one was made",
      todo: "remove the earlier one by hand",
    });
  } catch (error) {
    return await refuse(errorMessage(error), "see to it, then install again");
  }
}

function told(record: DeadmanRecord): readonly string[] {
  const { notify, cooldownSeconds } = record;
  return labelled(
    "",
    `After two unhealthy samples in a row ${printable(notify[0])} is started, at most once in ` +
      `${cooldownSeconds} s. Now and then look whether it still runs: turnguard deadman status`,
  );
}

async function locked(recordPath: string): Promise<HeldLock | undefined> {
  const lock = await lockWithin(lockPath(recordPath), LOCK_WAIT_MS);
  return lock.kind === "acquired" ? lock.lock : undefined;
}

async function complainOfSample(): Promise<ExitStatus> {
  return await refuse("a sample of this home is being taken", "do it again in half a minute");
}

interface Removed {
  readonly report: readonly string[];
  /** Why something remains. */
  readonly because: string | undefined;
}

const NOTHING_REMOVED: Removed = { report: [], because: undefined };

async function removeFrom(
  backends: readonly Backend[],
  id: string,
  name: BackendName,
): Promise<Removed> {
  const outcome = await backends.find((backend) => backend.name === name)?.remove(id);
  if (outcome === undefined) return NOTHING_REMOVED;
  return outcome.kind === "failed"
    ? { report: [], because: outcome.because }
    : { report: outcome.report, because: undefined };
}

/**
 * Uninstalls the deadman of the home that `call` means.
 *
 * Every scheduler is asked, since the record may have been lost; one that cannot answer matters only
 * when it is the recorded one. The home itself may be gone.
 */
export async function uninstall(call: Call): Promise<ExitStatus> {
  const target = await targetOf(call);
  if (target === undefined) return await complainOfNoPlace();
  const { id, recordPath, userFolder } = target;
  const earlier = readRecord(recordPath);
  const lock = earlier.kind === "absent" ? undefined : await locked(recordPath);
  if (lock === undefined && earlier.kind !== "absent") return await complainOfSample();
  using _lock = lock;
  const backends = schedulers(call.environment, userFolder, hostPrograms(call.environment));
  const report: string[] = [];
  for (const { name } of backends) {
    const removed = await removeFrom(backends, id, name);
    report.push(...removed.report);
    const matters = earlier.kind !== "record" || earlier.record.backend === name;
    if (removed.because !== undefined && earlier.kind !== "absent" && matters) {
      return await complain({
        mode: "deadman",
        wrong: `${name}: ${removed.because}`,
        untouched: "the record was left as it is",
        todo: "see to it, then uninstall again",
      });
    }
  }
  if (earlier.kind !== "absent") {
    removeQuietly(recordPath);
    report.push("Its record was removed:", `  ${recordPath}`);
  }
  await say(report.length === 0 ? ["No deadman is installed here."] : report.map(printable));
  return EXIT.ok;
}
