import { assertEquals } from "@std/assert";
import {
  decideWake,
  DEFAULT_SKIP,
  digestMessage,
  oneLine,
  shouldExit,
  type WakeDecision,
} from "../../src/decide/daemon_wake.ts";

const SILENT: WakeDecision = { kind: "silent" };

function logs(...names: readonly string[]): WakeDecision {
  return { kind: "status", names };
}

function told(item: string): WakeDecision {
  return { kind: "escalate", item };
}

/** Payloads over the folder `/h/state`, and what is made of them. */
const WAKES: readonly (readonly [payload: string, decision: WakeDecision, why: string])[] = [
  ["signal: /h/state/t.status", logs("t.status"), "a log is known by its base name"],
  ["signal: /h/state/a b.status", logs("a b.status"), "a blank in a name loses no log"],
  ["signal: /other/state/t.status", logs("t.status"), "whatever folder a row names"],
  [
    "signal: /h/state/a.status /h/state/b.turn-ended /h/state/c.status",
    logs("a.status", "c.status"),
    "the end of a turn alone needs nothing",
  ],
  ["signal: /h/state/t.turn-ended", logs(), "not even when it is all"],
  ["signal: /h/state/t.status /h/state/t.status", logs("t.status"), "one log is read once"],
  ["needs-decision: /h/state/t.status", logs("t.status"), "a decision is a signal"],
  ["check: x: y", told("check: x: y"), "a check is told whole"],
  ["check:", told("check:"), "even when it says nothing"],
  ["heartbeat", SILENT, "a heartbeat is silent"],
  ["heartbeat: 5", SILENT, "with a note, too"],
  ["checkmate", told("unknown wake: checkmate"), "a word is not a prefix"],
  ["", told("unknown wake: "), "nothing is lost"],
];

Deno.test("decideWake: the text of a wake decides what is looked at", () => {
  for (const [payload, decision, why] of WAKES) {
    assertEquals(decideWake(payload, "", "/h/state"), decision, `${why}: ${payload}`);
  }
});

/** What follows `stale:`, and the names that the task may have. */
const STALE: readonly (readonly [target: string, tasks: readonly string[]])[] = [
  ["t", ["t"]],
  ["fm-t", ["fm-t", "t"]],
  ["fm:fm-t", ["fm-t", "t"]],
  ["fm:t idle for 5m", ["t"]],
  ["main:fm-t is not working", ["fm-t", "t"]],
  ["/a/b/fm:fm-t", ["fm-t", "t"]],
  ["../../x", ["x"]],
  [".hidden", []],
  ["fm-", ["fm-"]],
  ["", []],
];

Deno.test("decideWake: a stale target names the place of a task, and words may follow", () => {
  for (const [target, tasks] of STALE) {
    const payload = `stale: ${target}`;
    const decision: WakeDecision = { kind: "stale", tasks, item: payload };
    assertEquals(decideWake(payload, "", "/h/state"), decision, payload);
  }
});

Deno.test("decideWake: a skipped prefix comes before every other rule, the empty one never", () => {
  const skip = "check: noisy||signal:";
  assertEquals(decideWake("check: noisy 1", skip, "/h/state"), SILENT);
  assertEquals(decideWake("signal: /h/state/t.status", skip, "/h/state"), SILENT);
  assertEquals(decideWake("check: quiet", skip, "/h/state").kind, "escalate");
  assertEquals(decideWake("heartbeat", DEFAULT_SKIP, "/h/state"), SILENT);
});

Deno.test("oneLine: an item is one line, and no longer than somebody reads", () => {
  assertEquals(oneLine(" one\r\ntwo\n\nthree "), "one two three");
  assertEquals(oneLine("x".repeat(100_000)).length, 4_001);
});

Deno.test("digestMessage: one line, marked as operational, with the number of its items", () => {
  assertEquals(
    digestMessage(["a.status: done: x", "two\r\nlines"]),
    "\u2063FIRSTMATE_OP: v1 away-supervisor: Supervisor escalate (2 event(s)): " +
      "a.status: done: x | two - lines " +
      "(already read and acknowledged; the watcher is armed again, no re-arm is needed)",
  );
});

/** Mode, message, and whether it ends the mode. */
const MESSAGES:
  readonly (readonly [mode: "off" | "away" | "quiet", text: string, exit: boolean])[] = [
    ["away", "hello", true],
    ["away", "\u2063FIRSTMATE_OP: v1 x", false],
    ["away", "/afk", false],
    ["away", "/afk on", false],
    ["quiet", "hello", false],
    ["off", "hello", false],
  ];

Deno.test("shouldExit: which message of an operator ends which mode", () => {
  for (const [mode, text, exit] of MESSAGES) assertEquals(shouldExit(mode, text), exit, text);
});
