/** The banner of a blocked turn end, from the facts that blocked it. */

import { describeBeacon } from "../decide/freshness.ts";
import { judgeNeed } from "../decide/need.ts";
import { numberSetting } from "../decide/number.ts";
import { blockBanner } from "../harness/banner.ts";
import { detectHarness } from "../harness/detect.ts";
import type { HarnessName } from "../harness/names.ts";
import { repairLine } from "../harness/repair_line.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import type { Home } from "../observe/home.ts";
import { homeCommands } from "../observe/home_commands.ts";
import { graceVariables, type TurnEndObserver } from "../observe/turn_end.ts";
import type { Environment } from "../platform/environment.ts";
import { targetKind } from "../platform/path_kind.ts";
import { parentPid } from "../platform/processes.ts";
import type { JudgedTurnEnd } from "./stop_verdict.ts";

/** Seconds of a Codex checkpoint when nothing is set. */
const DEFAULT_CHECKPOINT_SECONDS = 180;

/** What a banner is built from. */
export interface BannerSituation {
  readonly facts: TurnEndObserver;
  readonly home: Home;
  readonly environment: Environment;
  readonly harness: HarnessName;
  /** The line that only a cooperating host has. */
  readonly cooperation: string | undefined;
}

/** The banner of a turn end that is blocked. */
export async function turnEndBanner(situation: BannerSituation): Promise<string> {
  const { facts, home, environment, harness, cooperation } = situation;
  const settings = `${home.config}/x-mode.env`;
  return blockBanner({
    need: await needInWords(facts),
    beat: describeBeacon((await facts("watcher")).beacon),
    cooperation,
    notices: malformedSettings(graceVariables(environment)).map(describeMalformed),
    repair: repairLine({
      harness,
      mode: (await facts("daemon")).mode,
      relaySettings: targetKind(settings) === "file" ? settings : undefined,
      checkpointSeconds: numberSetting(
        environment.get("FM_CODEX_WATCH_CHECKPOINT"),
        "positive-digits",
        DEFAULT_CHECKPOINT_SECONDS,
      ).value,
      commands: homeCommands(home),
    }),
  });
}

/** What needs supervision, in the banner's words. */
export async function needInWords(facts: TurnEndObserver): Promise<string> {
  const need = judgeNeed(await facts("need"));
  return need.kind === "needed" ? need.what : "background work";
}

/** The harness whose repair a banner names. Ancestors are looked at when nothing else tells. */
export async function blockedHarness(
  judged: JudgedTurnEnd,
  environment: Environment,
): Promise<HarnessName> {
  if (judged.mode === "cursor") return "cursor";
  return judged.anchor?.harness ?? await detectHarness(environment, {
    nearest: parentPid(),
    info: (pid) => judged.processes.info(pid),
  });
}
