/** What the away daemon makes of one wake: nothing, a look at status logs, or an item for the digest. */

/** The decision about one payload. */
export type WakeDecision =
  | { readonly kind: "silent" }
  /** Status logs to look at, by the base names of their files. */
  | { readonly kind: "status"; readonly names: readonly string[] }
  /** A pane of a backend that looks at panes; what its task says last decides. */
  | { readonly kind: "stale"; readonly tasks: readonly string[]; readonly item: string }
  | { readonly kind: "escalate"; readonly item: string };

const SILENT: WakeDecision = { kind: "silent" };

/** Prefixes that are skipped when `FM_INJECT_SKIP` is not set. */
export const DEFAULT_SKIP = "heartbeat";

/**
 * Decides about a payload; the first rule that applies does.
 *
 * `skip` holds prefixes, separated by `|`. `state` is the folder of the named files: their names may
 * contain blanks, which also separate them.
 */
export function decideWake(payload: string, skip: string, state: string): WakeDecision {
  if (skip.split("|").some((prefix) => prefix !== "" && payload.startsWith(prefix))) return SILENT;
  const files = /^(?:signal|needs-decision):(.*)$/s.exec(payload)?.[1];
  if (files !== undefined) return { kind: "status", names: statusNames(files, state) };
  const target = /^stale:\s*(.*)$/s.exec(payload)?.[1];
  if (target !== undefined) return { kind: "stale", tasks: tasksOf(target), item: payload };
  if (payload.startsWith("check:")) return { kind: "escalate", item: payload };
  if (payload === "heartbeat" || payload.startsWith("heartbeat:")) return SILENT;
  return { kind: "escalate", item: `unknown wake: ${payload}` };
}

/** Base names of the status logs; a turn's end alone says nothing that somebody has to see. */
function statusNames(files: string, state: string): readonly string[] {
  const folder = ` ${state}/`;
  const names = files.includes(folder)
    ? files.split(folder).slice(1)
    : files.split(" ").map((path) => path.slice(path.lastIndexOf("/") + 1));
  return [...new Set(names.filter((name) => name.endsWith(".status") && !name.includes("/")))];
}

/**
 * Names that the task of a stale pane may have, the likeliest first.
 *
 * A target is a place, `<session>:<window>` or a path, and words about it may follow. The window of a
 * task is named after it, with or without the fleet's `fm-` in front.
 */
function tasksOf(target: string): readonly string[] {
  const place = target.split(/\s/)[0] ?? "";
  const window = place.slice(Math.max(place.lastIndexOf(":"), place.lastIndexOf("/")) + 1);
  const names = [window, window.replace(/^fm-/, "")];
  return [...new Set(names)].filter((name) => name !== "" && !name.startsWith("."));
}

/** Characters of an item that are kept: people and sessions read it. */
const ITEM_LIMIT = 4_000;

/** An item as one line of the buffer. */
export function oneLine(item: string): string {
  const line = item.replaceAll(/[\r\n]+/g, " ").trim();
  return line.length <= ITEM_LIMIT ? line : `${line.slice(0, ITEM_LIMIT)}…`;
}

/** The message that carries a digest, on one line. */
export function digestMessage(items: readonly string[]): string {
  const joined = items.map((item) => item.replaceAll(/[\r\n]+/g, " - ")).join(" | ");
  return `\u2063FIRSTMATE_OP: v1 away-supervisor: Supervisor escalate (${items.length} event(s)): ` +
    `${joined} (already read and acknowledged; the watcher is armed again, no re-arm is needed)`;
}

/** Whether a message is operational input and not a person's. */
export function isOperationalInput(message: string): boolean {
  return message.startsWith("\u2063");
}

/** Whether an operator's message ends away or quiet mode; quiet mode ends on request only. */
export function shouldExit(mode: "off" | "away" | "quiet", message: string): boolean {
  return mode === "away" && !isOperationalInput(message) && !message.startsWith("/afk");
}
