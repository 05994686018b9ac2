import { assertEquals } from "@std/assert";
import { judgeExit, saysReplaced } from "../../src/decide/arm_cycle.ts";
import { isWakeLine, wakeKind } from "../../src/decide/wake_line.ts";

const REPLACED = "watcher: replaced stalled pid 7 (beacon 20s past hard bound 12s)\n";

/** Exit status, output, and what is made of it. */
const EXITS: readonly (readonly [status: number, output: string, meaning: string])[] = [
  [0, "signal: /s/t.status\n", "wake about signal"],
  [0, "check: /s/c.check.sh: one\ntwo\n", "wake about check"],
  [0, "stale: 3\n", "wake about stale"],
  [0, "heartbeat\n", "wake about heartbeat"],
  [0, "heartbeat: x\n", "wake about heartbeat"],
  [0, `${REPLACED}check: rearm-resurface\n`, "wake about check"],
  [0, "", "clean"],
  [0, "watcher: already running pid 4\n", "clean"],
  [0, "heartbeats\n", "clean"],
  [0, " signal: x\n", "clean"],
  [1, "", "nonzero-exit, signal none, to be told"],
  // Told and lost: it stays queued, and the status says that something went wrong.
  [1, "signal: /s/t.status\n", "nonzero-exit, signal none, to be told"],
  [1, "watcher: FAILED - a setting\n", "nonzero-exit, signal none, told"],
  [128, "", "nonzero-exit, signal none, to be told"],
  [129, "", "signal-exit, signal HUP, to be told"],
  [137, "words\n", "signal-exit, signal KILL, to be told"],
  [143, "watcher: FAILED - x\n", "signal-exit, signal TERM, told"],
  [255, "", "signal-exit, signal unknown, to be told"],
];

Deno.test("judgeExit: status and output of a watcher tell what its arm does", () => {
  for (const [status, output, expected] of EXITS) {
    const meaning = judgeExit({ status, output });
    const text = meaning.kind === "wake"
      ? `wake about ${meaning.about}`
      : meaning.kind === "clean"
      ? "clean"
      : `${meaning.how}, signal ${meaning.signal}, ${meaning.told ? "told" : "to be told"}`;
    assertEquals(text, expected, `${status} ${JSON.stringify(output)}`);
  }
});

Deno.test("saysReplaced: one line of the output says it", () => {
  assertEquals(
    [REPLACED, `x\n${REPLACED}`, "", "watcher: replaced\n", `y ${REPLACED}`].map(saysReplaced),
    [true, true, false, false, false],
  );
});

Deno.test("wakeKind: a line's first word, and for a heartbeat the whole of it", () => {
  const lines = ["signal:", "stale: x", "check:x", "heartbeat", "heartbeat:", "heartbeat x", "x"];
  assertEquals(lines.map(wakeKind), [
    "signal",
    "stale",
    "check",
    "heartbeat",
    "heartbeat",
    undefined,
    undefined,
  ]);
  assertEquals(lines.map(isWakeLine), [true, true, true, true, true, false, false]);
});
