import { assertEquals } from "@std/assert";
import { type AlarmChannel, alarmChannels } from "../../src/decide/wedge_alarm.ts";

const AUTO: AlarmChannel = { kind: "auto" };
const UNKNOWN: AlarmChannel = { kind: "unknown" };

/** The setting, the file, and the channels. */
const ROWS: readonly (readonly [
  setting: string | undefined,
  file: string | undefined,
  channels: readonly AlarmChannel[],
  why: string,
])[] = [
  [undefined, undefined, [AUTO], "whatever the system has, unless somebody says otherwise"],
  [undefined, "# a\n\n", [AUTO], "comments and empty lines say nothing"],
  [undefined, " osascript \ndefault\n", [{ kind: "osascript" }, AUTO], "one directive a line"],
  ["osascript", "auto\n", [{ kind: "osascript" }], "the setting comes before the file"],
  [undefined, "command:x\noff\n", [], "one off switches all of them off"],
  ["command: a:b", undefined, [{ kind: "command", command: " a:b" }], "a command is kept as it is"],
  ["herdr", undefined, [{ kind: "skipped", name: "herdr" }], "known, and not done here"],
  ["command:", undefined, [UNKNOWN], "an empty command is none"],
  ["token=secret", undefined, [UNKNOWN], "the text of what is unknown is not kept"],
];

Deno.test("alarmChannels: the channels of a setting and a file", () => {
  for (const [setting, file, channels, why] of ROWS) {
    assertEquals(alarmChannels(setting, file), channels, why);
  }
});
