/** Which lines of a task's status log somebody has to see. */

/** How lines are told apart. */
export interface ReportRules {
  /** Text of a regular expression that replaces the default, `FM_CAPTAIN_RE`. */
  readonly captainPattern: string | undefined;
  /** The verb that declares a pause, `FM_CLASSIFY_PAUSED_VERB`. */
  readonly pauseVerb: string;
}

/** Verbs by which a task tells that it goes on, whatever else the line says. */
const PROGRESS_VERBS: readonly string[] = ["working", "resolved", "captain-held"];

/** Verbs that somebody has to act on. */
const ACTION_VERBS: readonly string[] = ["done", "needs-decision", "blocked", "failed"];

/** Verbs whose lines open or hold a decision. */
const DECISION_VERBS: readonly string[] = ["needs-decision", "captain-held"];

/** What a line of any other verb has to say to count. */
const DEFAULT_PATTERN =
  "done:|needs-decision:|blocked:|failed:|PR ready|checks green|ready in branch|merged";

/** What a span of a status log comes to. */
export interface SpanReport {
  /** Lines that somebody has to see, in order. */
  readonly relevant: readonly string[];
  /** Whether a line opens or holds a decision. */
  readonly decision: boolean;
}

/**
 * Reads a span line by line, blank lines left out. A line that is still being written counts: it may
 * never get its newline.
 */
export function judgeSpan(span: string, rules: ReportRules): SpanReport {
  const lines = span.split("\n").filter((line) => line.trim() !== "");
  return {
    relevant: lines.filter((line) => isRelevant(line, rules)),
    decision: lines.some((line) => DECISION_VERBS.includes(verbOf(line))),
  };
}

function isRelevant(line: string, rules: ReportRules): boolean {
  const verb = verbOf(line);
  if (PROGRESS_VERBS.includes(verb) || verb === rules.pauseVerb) return false;
  if (ACTION_VERBS.includes(verb) && rules.captainPattern === undefined) return true;
  return matches(line, rules.captainPattern ?? DEFAULT_PATTERN);
}

/** The text before the first colon, without a bracketed part. */
export function verbOf(line: string): string {
  return (line.split(":")[0] ?? "").split("[")[0]?.trim() ?? "";
}

/** A pattern that is none matches everything: a wake too many is better than one too few. */
function matches(line: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, "i").test(line);
  } catch {
    return true;
  }
}

/** Whether the answer of the program that knows a task's crew proves that it is still working. */
export function provesWork(answer: string): boolean {
  return answer.startsWith("state: working") && /\bsource: (?:run-step|pane)\b/.test(answer);
}
