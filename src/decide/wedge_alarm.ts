/** By which channels somebody is told that a digest cannot be delivered. */

/** One way to tell somebody. */
export type AlarmChannel =
  /** Whatever this operating system has. */
  | { readonly kind: "auto" }
  | { readonly kind: "osascript" }
  /** A command for the shell. */
  | { readonly kind: "command"; readonly command: string }
  /** Known by name, and not done here. */
  | { readonly kind: "skipped"; readonly name: string }
  /** Its text is nobody's business. */
  | { readonly kind: "unknown" };

/** The channels, or none at all when somebody has switched them off. */
export function alarmChannels(
  setting: string | undefined,
  file: string | undefined,
): readonly AlarmChannel[] {
  const lines = setting === undefined ? linesOf(file ?? "") : [setting.trim()];
  if (lines.includes("off")) return [];
  return (lines.length === 0 ? ["auto"] : lines).map(channelOf);
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

function channelOf(directive: string): AlarmChannel {
  if (directive === "auto" || directive === "default") return { kind: "auto" };
  if (directive === "osascript") return { kind: "osascript" };
  if (directive === "herdr") return { kind: "skipped", name: directive };
  const command = /^command:(.+)$/s.exec(directive)?.[1];
  return command === undefined ? { kind: "unknown" } : { kind: "command", command };
}

/** The first line of the alarm's file, and what an alert says. */
export function alarmSummary(ageSeconds: number, time: string): string {
  return `fm away-mode inject WEDGED: ${ageSeconds}s undelivered as of ${time}`;
}
