/** The alarm about a digest that cannot be delivered. */

import { type AlarmChannel, alarmChannels, alarmSummary } from "../../decide/wedge_alarm.ts";
import { readText } from "../../platform/file_text.ts";
import { runGroup } from "../../platform/process_group.ts";
import { readEscalations } from "../../state/escalations.ts";
import { logTime } from "../../state/log_file.ts";
import { replaceFile } from "../../state/replace_file.ts";
import type { Log } from "./daemon_log.ts";
import type { DaemonSettings } from "./daemon_settings.ts";
import { WEDGED_NAME } from "./delivery.ts";

/** What alarming needs. */
export interface AlarmSetup {
  readonly state: string;
  readonly config: string;
  readonly settings: DaemonSettings;
  readonly log: Log;
  /** Resolves when an alert under way is to be ended. */
  readonly stop: Promise<unknown>;
}

/** Leaves the marker and tells somebody. Never throws, and never touches the buffer. */
export async function raiseWedgeAlarm(setup: AlarmSetup, ageSeconds: number): Promise<void> {
  const { state, config, settings, log } = setup;
  const summary = alarmSummary(ageSeconds, logTime(new Date()));
  log(`ERROR: the digest could not be delivered for ${ageSeconds}s`);
  try {
    const lines = [summary, ...whatWaits(state)];
    replaceFile(`${state}/${WEDGED_NAME}`, lines.map((line) => `${line}\n`).join(""));
  } catch {
    log("the alarm's marker could not be written");
  }
  const file = readText(`${config}/wedge-alarm`);
  const channels = alarmChannels(
    settings.alarmChannel,
    file.kind === "text" ? file.text : undefined,
  );
  for (const channel of channels) await alert(setup, channel, summary);
}

function whatWaits(state: string): readonly string[] {
  const buffer = readEscalations(state);
  return buffer.kind === "unreadable"
    ? [`What waits is not known: the daemon's buffer cannot be read (${buffer.because}).`]
    : ["Nobody has been told of these; they stay in the daemon's buffer.", ...buffer.items];
}

async function alert(setup: AlarmSetup, channel: AlarmChannel, summary: string): Promise<void> {
  const { settings, log, stop } = setup;
  const command = settings.alarmProgram === undefined
    ? commandOf(channel, summary)
    : settings.alarmProgram === "discard"
    ? undefined
    : { path: settings.alarmProgram, args: [nameOf(channel), summary] };
  if (command === undefined) {
    if (settings.alarmProgram !== "discard") log(`no alert for the channel ${nameOf(channel)}`);
    return;
  }
  const end = await runGroup({ ...command, input: summary }, {
    deadlineMs: settings.alarmTimeoutSeconds * 1000,
    outputLimitBytes: 0,
    tick: () => {},
    stop,
  });
  if (end.kind !== "ended" || end.status !== 0) log(`the alert by ${nameOf(channel)} failed`);
}

function nameOf(channel: AlarmChannel): string {
  return channel.kind === "skipped" ? channel.name : channel.kind;
}

function commandOf(
  channel: AlarmChannel,
  summary: string,
): { readonly path: string; readonly args: readonly string[] } | undefined {
  switch (channel.kind) {
    case "auto":
      return Deno.build.os === "darwin" ? notification(summary) : undefined;
    case "osascript":
      return notification(summary);
    case "command":
      return { path: "/bin/sh", args: ["-c", channel.command, "turnguard-alarm", summary] };
    case "skipped":
    case "unknown":
      return undefined;
  }
}

/** The summary is an argument of the script, never a part of it. */
function notification(
  summary: string,
): { readonly path: string; readonly args: readonly string[] } {
  const script =
    'on run words\ndisplay notification (item 1 of words) with title "turnguard"\nend run';
  return { path: "/usr/bin/osascript", args: ["-e", script, summary] };
}
