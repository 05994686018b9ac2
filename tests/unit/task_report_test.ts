import { assertEquals } from "@std/assert";
import { judgeSpan, provesWork } from "../../src/decide/task_report.ts";

const RULES = { captainPattern: undefined, pauseVerb: "paused" } as const;

/** A line of a status log, and whether somebody has to see it. */
const LINES: readonly (readonly [line: string, relevant: boolean, why: string])[] = [
  ["done: shipped", true, "an ending is always seen"],
  ["failed: no disk", true, "so is a failure"],
  ["blocked[key=a]: waits", true, "a bracketed part does not change the verb"],
  ["needs-decision: a or b", true, "a question is seen"],
  ["working: merged #7", false, "progress never matches prose"],
  ["resolved: done: all of it", false, "whatever else the line says"],
  ["captain-held: later", false, "a held decision is known"],
  ["paused: until noon", false, "a declared pause is progress"],
  ["note: PR ready", true, "prose of another verb may match"],
  ["note: CHECKS GREEN", true, "in any case of letters"],
  ["note: nothing new", false, "and is silent otherwise"],
];

Deno.test("judgeSpan: each line is judged by its verb, and prose only where no verb decides", () => {
  for (const [line, relevant, why] of LINES) {
    assertEquals(judgeSpan(line, RULES).relevant, relevant ? [line] : [], why);
  }
});

Deno.test("judgeSpan: reads the whole span, with its last line unfinished and blank ones left out", () => {
  const span = "blocked: a\n\nworking: b\nneeds-decision: c";
  assertEquals(judgeSpan(span, RULES), {
    relevant: ["blocked: a", "needs-decision: c"],
    decision: true,
  });
});

Deno.test("judgeSpan: a pattern of one's own replaces the verbs, and a broken one matches all", () => {
  const own = { ...RULES, captainPattern: "urgent" };
  assertEquals(judgeSpan("done: x\ndone: urgent", own).relevant, ["done: urgent"]);
  assertEquals(judgeSpan("note: x", { ...RULES, captainPattern: "(" }).relevant, ["note: x"]);
});

Deno.test("provesWork: only a working crew that is seen at work proves it", () => {
  assertEquals(provesWork("state: working · source: pane · x"), true);
  assertEquals(provesWork("state: working · source: run-step"), true);
  assertEquals(provesWork("state: working · source: guess"), false);
  assertEquals(provesWork("state: idle · source: pane"), false);
  assertEquals(provesWork(""), false);
});
