import { assertEquals } from "@std/assert";
import { openDecisions } from "../../src/decide/open_decisions.ts";

/** Lines of a log, and verb, key and summary of what is open after them. */
const LOGS: readonly (readonly [lines: readonly string[], open: readonly string[], why: string])[] =
  [
    [["blocked: x"], ["blocked default x"], "without a key it is the default one"],
    [["blocked [key=a]: x"], ["blocked a x"], "a key before the colon"],
    [["blocked[key=a]: x"], ["blocked a x"], "with or without a blank"],
    [["blocked: [key=a] x"], ["blocked a x"], "a key at the head of the note"],
    [["blocked: x [key=a]"], ["blocked default x [key=a]"], "but not behind it"],
    [["blocked [key=a: x"], ["blocked default x"], "a key that is not complete is none"],
    [["blocked [key=a]: x", "resolved [key=a]: ok"], [], "resolving closes"],
    [["blocked [key=a]: x", "captain-held: [key=a] later"], [], "holding closes"],
    [["blocked [key=a]: x", "resolved: ok"], ["blocked a x"], "only its own key"],
    [["blocked: x", "done: y", "working: z"], ["blocked default x"], "nothing else closes"],
    [["blocked: x", "needs-decision: y"], ["needs-decision default y"], "the last word counts"],
    [
      ["needs-decision [key=b]: q", "blocked [key=a]: x", "needs-decision [key=b]: r"],
      ["needs-decision b r", "blocked a x"],
      "in the order of opening",
    ],
    [["resolved: ok", "", "note"], [], "closing what is not open is nothing"],
    [["blocked"], ["blocked default "], "a line without a note"],
  ];

Deno.test("openDecisions: what is open after the lines of a log", () => {
  for (const [lines, open, why] of LOGS) {
    const found = openDecisions(lines.join("\n"));
    assertEquals(found.map(({ verb, key, summary }) => `${verb} ${key} ${summary}`), open, why);
  }
});
