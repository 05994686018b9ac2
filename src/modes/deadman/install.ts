/** `deadman install` and `deadman uninstall`: a schedule made, and taken away again. */

import { type DeadmanTiming, NO_MEMORY } from "../../decide/deadman.ts";
import { judgeScope } from "../../decide/scope.ts";
import { observeScope } from "../../observe/scope.ts";
import { logicalWorkingDirectory } from "../../observe/home.ts";
import { writeTo } from "../../platform/output.ts";
import { printable } from "../../platform/printable.ts";
import { type Backend, type Job, jobOf, unregistrable } from "../../watch/deadman/backend.ts";
import { type Choice, chooseScheduler, schedulers } from "../../watch/deadman/backends.ts";
import { installDeadman, uninstallDeadman } from "../../watch/deadman/installation.ts";
import { resolveCommand } from "../../watch/deadman/notify.ts";
import { hostPrograms } from "../../watch/deadman/programs.ts";
import {
  BACKEND_NAMES,
  type BackendName,
  currentSettings,
  type DeadmanRecord,
} from "../../watch/deadman/record.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag } from "../mode.ts";
import { complain, complainUsage, labelled, pasteable, say } from "../person_output.ts";
import { executableOf } from "../registered_paths.ts";
import { complainOfNoPlace, liesIn, type Target, targetOf } from "./target.ts";
import { timingOf } from "./timing.ts";

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
  const plan = await planFor(call, target, {
    timing: timing.timing,
    name,
    notify: [command, ...args],
  });
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
  const chosen = await chooseScheduler(backends, job, wishes.name);
  // What would be written may be looked at anywhere.
  const backend = chosen.kind === "chosen" || hasFlag(call, "dry-run") ? chosen.backend : undefined;
  if (backend === undefined) {
    return refused(
      `no scheduler can be used (${reasonsOf(chosen).join("; ")})`,
      "start one of them, or run the samples yourself with --backend none",
    );
  }
  return { kind: "plan", record: { ...record, backend: backend.name }, job, backend, backends };
}

function reasonsOf(choice: Choice): readonly string[] {
  return choice.kind === "none" ? choice.reasons : [];
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
  const change = await installDeadman({ ...plan, ...target });
  switch (change.kind) {
    case "busy":
      return await complainOfSample();
    case "failed":
      return await refuse(change.because, "see to it, or choose another with --backend");
    case "doubled":
      await say(change.report.map(printable));
      return await complain({
        mode: "deadman",
        wrong: `the schedule of an earlier installation remains: ${change.because}`,
        untouched: "the new one was made",
        todo: "remove the earlier one by hand",
      });
    case "unchanged":
    case "done":
      await say([
        ...(change.kind === "unchanged" ? ["The schedule was left as it is:"] : []),
        ...change.report.map(printable),
        ...(plan.backend.name === "none" ? ownSchedule(plan.job) : []),
        ...advice(plan.record),
      ]);
      return EXIT.ok;
  }
}

function advice({ notify, cooldownSeconds }: DeadmanRecord): readonly string[] {
  return labelled(
    "",
    `After two unhealthy samples in a row ${printable(notify[0])} is started, at most once in ` +
      `${cooldownSeconds} s. Now and then look whether it still runs: turnguard deadman status`,
  );
}

async function complainOfSample(): Promise<ExitStatus> {
  return await refuse("a sample of this home is being taken", "do it again in half a minute");
}

/** Uninstalls the deadman of the home that `call` means; the home itself may be gone. */
export async function uninstall(call: Call): Promise<ExitStatus> {
  const target = await targetOf(call);
  if (target === undefined) return await complainOfNoPlace();
  const programs = hostPrograms(call.environment);
  const backends = schedulers(call.environment, target.userFolder, programs);
  const change = await uninstallDeadman({ ...target, backends });
  switch (change.kind) {
    case "busy":
      return await complainOfSample();
    case "failed":
    case "doubled":
      return await complain({
        mode: "deadman",
        wrong: change.because,
        untouched: "the record was left as it is",
        todo: "see to it, then uninstall again",
      });
    case "unchanged":
      await say(["No deadman is installed here."]);
      return EXIT.ok;
    case "done":
      await say(change.report.map(printable));
      return EXIT.ok;
  }
}
