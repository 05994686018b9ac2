/** `warn`: the pull guard, which tells a session inside its turn that nobody watches its home. */

import {
  claimAnnouncement,
  endLapse,
  forgetAdapterFailure,
  seenAnnouncement,
} from "../act/pull_warning.ts";
import type { WatcherFact } from "../decide/facts.ts";
import { describeBeacon } from "../decide/freshness.ts";
import { flatGrace } from "../decide/grace.ts";
import { judgeNeed } from "../decide/need.ts";
import { decidePullWarning, pullReason } from "../decide/pull_warning.ts";
import { judgeTangle } from "../decide/pull_warning/tangle.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import { modelOf, namedModel } from "../decide/supervision_model.ts";
import { repairInstruction } from "../harness/instructions.ts";
import type { HarnessName } from "../harness/names.ts";
import {
  adapterFailureLine,
  blindEndLine,
  branchWakesLine,
  type Lapse,
  pendingWakesLine,
  reminderLine,
  type Standing,
  tangleBanner,
  unknownNeedLine,
  warningBanner,
} from "../harness/warning_texts.ts";
import { observeBlindEnd } from "../watch/blind_end.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import type { Home } from "../observe/home.ts";
import { homeCommands } from "../observe/home_commands.ts";
import { observeNeed } from "../observe/need.ts";
import { once } from "../observe/once.ts";
import { observePullWarning } from "../observe/pull_warning.ts";
import { observeAdapterFailure } from "../observe/pull_warning/adapter_failure.ts";
import { observeCheckout } from "../observe/pull_warning/checked_out_branch.ts";
import { observeWakeBacklog, type WakeBacklog } from "../observe/pull_warning/wake_backlog.ts";
import { graceVariables } from "../observe/turn_end.ts";
import type { Environment } from "../platform/environment.ts";
import { nowSeconds } from "../platform/clock.ts";
import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { systemProcesses } from "../platform/processes.ts";
import { personHome } from "./call_home.ts";
import { checkpointSeconds, harnessAround, isYes, relaySettings } from "./instructions.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";
import { pasteable } from "./person_output.ts";
import { steadyWatcher } from "./steady_watcher.ts";

/** Milliseconds after which nothing is said: a warning must not hold up what it warns about. */
const DEADLINE_MS = 10_000;

/** The mode. */
export const warnMode: ModeSpec = {
  name: "warn",
  kind: "person",
  summary: "Warn a session inside its turn when nobody watches its home.",
  // Scripts pass their own words on; none of them matters here.
  maximumOperands: Infinity,
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  details: [
    "Writes to standard error alone and ends with status 0 whatever it finds. A lapse is announced " +
    "in full once; later calls remind of it in one line until supervision has been seen again.",
    "FM_SUPERVISION_MODEL (autoarm, extension or persistent) says how the home is kept watched; " +
    "without it the harness does. With FM_GUARD_READ_ONLY=1 nothing is written, and repair is left " +
    "to the session that holds the home's lock.",
    "Words after the mode are ignored.",
  ],
  deadlineMs: () => DEADLINE_MS,
  startsPrograms: true,
  run: warn,
};

async function warn(call: Call): Promise<ExitStatus> {
  const { environment } = call;
  if (standingOf(environment) === "read-only") Deno.permissions.revokeSync({ name: "write" });
  await warnAbout(() => personHome(call), call);
  return EXIT.ok;
}

/**
 * Warns about a home on standard error, for whatever command calls this at its end.
 *
 * Never throws, `findHome` failing included, and decides nothing: the caller's own outcome stands.
 */
export async function warnAbout(
  findHome: () => Home,
  call: Pick<Call, "environment" | "deadline">,
): Promise<void> {
  try {
    const context = contextOf(findHome(), call);
    await writeTo("stderr", tangleText(context) + await supervisionText(context));
  } catch {
    // The command that this warning accompanies must run, whatever is wrong here.
  }
}

/** What every part of a warning needs. */
interface Context {
  readonly home: Home;
  readonly environment: Environment;
  readonly standing: Standing;
  readonly harness: () => Promise<HarnessName>;
  readonly backlog: () => Promise<WakeBacklog>;
  readonly facts: ReturnType<typeof observePullWarning>;
}

function contextOf(home: Home, call: Pick<Call, "environment" | "deadline">): Context {
  const { environment } = call;
  const processes = systemProcesses(environment);
  return {
    home,
    environment,
    standing: standingOf(environment),
    harness: once(() => harnessAround(environment, processes)),
    backlog: once(() => observeWakeBacklog(home.state, environment, processes)),
    facts: observePullWarning({
      home,
      environment,
      processes,
      steady: steadyWatcher(call, home.state),
    }),
  };
}

function standingOf(environment: Environment): Standing {
  return isYes(environment.get("FM_GUARD_READ_ONLY")) ? "read-only" : "writable";
}

/** Without need there is nothing to warn of, queued wakes included. */
async function supervisionText(context: Context): Promise<string> {
  const { home, standing } = context;
  if (targetKind(home.state) === "absent") return "";
  const need = judgeNeed(observeNeed(home.state));
  if (need.kind === "unknown") return unknownNeedLine(need.because);
  if (need.kind === "none") {
    if (standing === "writable") endLapse(home.state);
    return "";
  }
  const lapse = await currentLapse(context);
  if (lapse === undefined && standing === "writable") {
    endLapse(home.state);
    forgetAdapterFailure(home.state);
  }
  const warning = lapse === undefined ? "" : await lapseText(context, need.what, lapse);
  return warning + await wakesText(context);
}

/** The lapse that stands now; `undefined` while supervision is healthy. */
async function currentLapse(
  { environment, harness, facts }: Context,
): Promise<Lapse | undefined> {
  const model = namedModel(environment.get("FM_SUPERVISION_MODEL")) ?? modelOf(await harness());
  const verdict = await decidePullWarning(model, facts);
  return verdict.kind === "healthy" ? undefined : lapseOf(await facts("watcher"));
}

function lapseOf(watcher: WatcherFact): Lapse {
  return {
    reason: pullReason(watcher),
    beat: describeBeacon(watcher.beacon),
    graceSeconds: flatGrace(watcher.grace).value,
  };
}

async function lapseText(context: Context, need: string, lapse: Lapse): Promise<string> {
  const { home, standing } = context;
  const announcement = standing === "read-only"
    ? seenAnnouncement(home.state, lapse.reason)
    : await claimAnnouncement(home.state, lapse.reason);
  const text = announcement === "repeat"
    ? reminderLine(lapse)
    : await bannerText(context, need, lapse);
  const failure = observeAdapterFailure(home.state);
  const blind = observeBlindEnd(home.state);
  return text + (failure === undefined ? "" : adapterFailureLine(failure)) +
    (blind === undefined
      ? ""
      : blindEndLine(blind.because, nowSeconds() - Math.floor(blind.atMs / 1000)));
}

async function bannerText(context: Context, need: string, lapse: Lapse): Promise<string> {
  const { environment, standing } = context;
  const { FM_GUARD_GRACE } = graceVariables(environment);
  return warningBanner({
    ...lapse,
    need,
    standing,
    continueLine: environment.get("FM_GUARD_CONTINUE_LINE"),
    // The poll plays no part in the grace of this warning.
    notices: malformedSettings({ FM_GUARD_GRACE, FM_POLL: undefined }).map(describeMalformed),
    repair: await repairText(context).catch(() => undefined),
  });
}

async function repairText(context: Context): Promise<string> {
  const { home, environment, standing, harness, backlog } = context;
  return repairInstruction({
    harness: await harness(),
    mode: observeAwayMode(home.state),
    relaySettings: relaySettings(home),
    checkpointSeconds: checkpointSeconds(environment),
    commands: homeCommands(home),
    readOnly: standing === "read-only",
    queuePending: (await backlog()).pending > 0,
  });
}

async function wakesText({ home, standing, backlog }: Context): Promise<string> {
  const { pending, reserved } = await backlog();
  if (pending > 0) return pendingWakesLine(standing, drainCommand(home));
  return reserved > 0 ? branchWakesLine(reserved) : "";
}

/** A fleet's own script where it has one; a home that had to be named has to be named again. */
export function drainCommand(home: Home): string {
  const script = "bin/fm-wake-drain.sh";
  if (targetKind(`${home.root}/${script}`) === "file") return script;
  const root = home.foundBy === "--root" ? ` --root ${pasteable(home.root)}` : "";
  return `turnguard wake drain${root}`;
}

/** The alarm about the checkout itself; it needs no supervision to be wrong. */
function tangleText({ home, environment, standing }: Context): string {
  if (!mindsBranches(home, environment)) return "";
  const tangle = judgeTangle(observeCheckout(home.root));
  if (tangle === undefined) return "";
  const { branch, defaultBranch } = tangle;
  const command = `git -C ${pasteable(home.root)} checkout ${pasteable(defaultBranch)}`;
  return tangleBanner({ root: home.root, branch, defaultBranch, standing, command });
}

/**
 * A fleet keeps its primary checkout on the default branch, and has its watcher's script there. Any
 * other project lives on feature branches and has to ask for this alarm.
 */
function mindsBranches(home: Home, environment: Environment): boolean {
  return environment.get("TURNGUARD_TANGLE") === "1" ||
    targetKind(`${home.root}/bin/fm-watch.sh`) === "file";
}
