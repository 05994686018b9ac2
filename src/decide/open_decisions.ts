/** Decisions that a task's status log leaves open. */

/** A decision that nobody has taken yet. */
export interface OpenDecision {
  readonly verb: "blocked" | "needs-decision";
  readonly key: string;
  readonly summary: string;
}

/** Verbs that open a key, and verbs that close one. */
const OPENING: readonly string[] = ["blocked", "needs-decision"];
const CLOSING: readonly string[] = ["resolved", "captain-held"];

/** The key of a line that names none. */
const DEFAULT_KEY = "default";

/** Reads a log from its beginning; the last line about a key decides. */
export function openDecisions(log: string): readonly OpenDecision[] {
  const open = new Map<string, OpenDecision>();
  for (const line of log.split("\n")) {
    const { verb, key, summary } = parseLine(line);
    if (CLOSING.includes(verb)) open.delete(key);
    if (isOpening(verb)) open.set(key, { verb, key, summary });
  }
  return [...open.values()];
}

function isOpening(verb: string): verb is OpenDecision["verb"] {
  return OPENING.includes(verb);
}

/** `verb [key=slug]: summary`, or `verb: [key=slug] summary`. */
function parseLine(line: string): { verb: string; key: string; summary: string } {
  const colon = line.indexOf(":");
  const head = colon < 0 ? line : line.slice(0, colon);
  const note = colon < 0 ? "" : line.slice(colon + 1).trim();
  const verb = (head.split("[")[0] ?? "").trim();
  const inHead = /\[key=([A-Za-z0-9._-]+)\]/.exec(head)?.[1];
  const inNote = /^\[key=([A-Za-z0-9._-]+)\]/.exec(note);
  return {
    verb,
    key: inHead ?? inNote?.[1] ?? DEFAULT_KEY,
    summary: inHead === undefined && inNote !== null ? note.slice(inNote[0].length).trim() : note,
  };
}
