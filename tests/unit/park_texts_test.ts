/** What Cursor sessions are told, and the hook file that makes Cursor ask. */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { hookLifeSeconds } from "../../src/decide/autoarm.ts";
import { parkSettings } from "../../src/decide/park/settings.ts";
import { FLEET_COMMANDS } from "../../src/harness/commands.ts";
import { CURSOR_STOP_TOKEN, parkOfCommand } from "../../src/harness/cursor.ts";
import {
  ceilingFollowup,
  followupAnswer,
  rearmFollowup,
  repairFollowup,
  wakeFollowup,
} from "../../src/harness/cursor_texts.ts";
import { operationalPrompt } from "../../src/harness/operational_prompt.ts";
import hooks from "../../hooks/cursor/hooks.json" with { type: "json" };

const REPAIR = { attempts: 2, nag: 1, budget: 3, evidence: [], reason: "why" };

Deno.test("operationalPrompt: the mark, byte for byte, and the body as it is", () => {
  const bytes = new TextEncoder().encode(operationalPrompt("watcher", " a\n"));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  assertEquals(
    hex,
    "e2 81 a3 46 49 52 53 54 4d 41 54 45 5f 4f 50 3a 20 76 31 20 " +
      "77 61 74 63 68 65 72 3a 20 20 61 0a",
  );
  assertThrows(() => operationalPrompt("watcher", ""));
});

Deno.test("followups: every kind is marked as what it is", () => {
  const kinds = [
    wakeFollowup(["signal: x"], FLEET_COMMANDS),
    rearmFollowup(FLEET_COMMANDS),
    repairFollowup(REPAIR),
    ceilingFollowup(180, FLEET_COMMANDS),
  ].map((text) => /^\u2063FIRSTMATE_OP: v1 ([a-z-]+): /.exec(text)?.[1]);
  assertEquals(kinds, ["watcher", "watcher", "turn-end-guard", "turn-end-guard"]);
});

Deno.test("followupAnswer: one line of JSON with one field", () => {
  const text = 'a "quote"\nand \u2063 a line';
  const answer = followupAnswer(text);
  assertEquals(answer.indexOf("\n"), answer.length - 1);
  assertEquals(JSON.parse(answer), { followup_message: text });
  assert(answer.includes("\u2063"));
});

Deno.test("followups: what a file has written cannot steer a terminal or start a line", () => {
  const wake = wakeFollowup(["signal: \u001b[2J\r"], FLEET_COMMANDS);
  assertEquals(wake.split("\n")[1], "signal: \\x1b[2J\\x0d");
  const repair = repairFollowup({ ...REPAIR, evidence: ["watcher: \u001b[2J", "signal: no"] });
  assertEquals(repair.split("\n").slice(1), ["watcher: \\x1b[2J", "", "why"]);
});

Deno.test("repairFollowup: without a word of the arm, the empty line stays", () => {
  const [first, ...rest] = repairFollowup(REPAIR).split("\n");
  assertMatch(first ?? "", /turn-end-guard: TURN WOULD END BLIND - .* \(nag 1 of 3\)\.$/);
  assertEquals(rest, ["", "why"]);
});

Deno.test("hooks/cursor: one stop entry, bounded above the hook's own bounds", () => {
  assertEquals([hooks.version, Object.keys(hooks.hooks)], [1, ["stop"]]);
  const [entry, ...more] = hooks.hooks.stop;
  assertEquals(more, []);
  assert(entry !== undefined);
  assertEquals(Object.keys(entry), ["type", "command", "timeout", "loop_limit"]);
  const { ceiling, hostSeconds } = parkSettings({});
  assert(entry.loop_limit > ceiling);
  assertEquals(entry.timeout, hostSeconds);
  assert(hookLifeSeconds(entry.timeout) < entry.timeout);
  assert(entry.command.startsWith(`: ${CURSOR_STOP_TOKEN}; `));
  assertMatch(entry.command, /; cd \/ && exec \{TG\} park --root "\$CURSOR_PROJECT_DIR"$/);
});

Deno.test("parkOfCommand: ours by its token, the scripts' by their name", () => {
  assertEquals(
    [hooks.hooks.stop[0]?.command ?? "", "bash bin/fm-turnend-guard-cursor.sh", "turnguard stop"]
      .map(parkOfCommand),
    ["turnguard", "scripts", undefined],
  );
});
