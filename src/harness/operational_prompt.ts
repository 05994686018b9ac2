/** Prompts that a program submits in a person's place, marked so that the session can tell. */

/** What a marked prompt is about. */
export type OperationalKind =
  | "session-start"
  | "watcher"
  | "turn-end-guard"
  | "away-supervisor"
  | "launch-brief";

/** An invisible separator comes first: no person types it, and no terminal shows it. */
const MARK = "\u2063";

/** `body` as a marked prompt; the body is kept to the letter. Throws when it is empty. */
export function operationalPrompt(kind: OperationalKind, body: string): string {
  if (body === "") throw new Error("an operational prompt needs a body");
  return `${MARK}FIRSTMATE_OP: v1 ${kind}: ${body}`;
}
