/** What a Cursor park reads, and what it makes of it. */

import { assertEquals } from "@std/assert";
import { budgetSession, judgeLoop, loopCount } from "../../src/decide/park/loop_count.ts";
import { parkSettings } from "../../src/decide/park/settings.ts";
import { foreignVariables } from "../../src/observe/foreign_environment.ts";
import { observeParkPayload } from "../../src/observe/park.ts";
import { environmentOf } from "../../src/platform/environment.ts";

function countIn(json: string): number | undefined {
  const payload = observeParkPayload({ kind: "bytes", bytes: new TextEncoder().encode(json) });
  return payload.kind === "object" ? loopCount(payload.loop) : undefined;
}

Deno.test("loopCount: a whole number from 0, rounded down; what is something else bounds nothing", () => {
  const rows: readonly (readonly [json: string, count: number | undefined])[] = [
    ["{}", 0],
    ['{"loop_count":0}', 0],
    ['{"loop_count":-0}', 0],
    ['{"loop_count":2.9}', 2],
    ['{"loop_count":180}', 180],
    ['{"loop_count":1e3}', 1000],
    ['{"loop_count":-1}', undefined],
    ['{"loop_count":-0.5}', undefined],
    ['{"loop_count":1e30}', undefined],
    ['{"loop_count":1e400}', undefined],
    ['{"loop_count":null}', undefined],
    ['{"loop_count":true}', undefined],
    ['{"loop_count":"3"}', undefined],
    ['{"loop_count":[3]}', undefined],
    ["[]", undefined],
    ["", undefined],
    ["{}{}", undefined],
  ];
  assertEquals(rows.map(([json]) => [json, countIn(json)]), rows.map((row) => [...row]));
});

Deno.test("judgeLoop: exactly at the ceiling is a case of its own", () => {
  assertEquals([0, 179, 180, 181].map((count) => judgeLoop(count, 180)), [
    "below",
    "below",
    "at-ceiling",
    "past-ceiling",
  ]);
});

Deno.test("budgetSession: an id that cannot stand in a file is nobody's", () => {
  const rows = [undefined, "", "a b", "a/b", "a\nb", "é", "conv-1", "A_1.x-2", "17"] as const;
  assertEquals(rows.map(budgetSession), [
    ...Array.from({ length: 6 }, () => "unknown"),
    "conv-1",
    "A_1.x-2",
    "17",
  ]);
});

Deno.test("parkSettings: defaults, and what counts as unset", () => {
  const defaults = {
    ceiling: 180,
    budget: 3,
    attempts: 2,
    pollMs: 2_000,
    lock: { limitMs: 4_900, stepMs: 100 },
    hostSeconds: 28_800,
  };
  assertEquals(parkSettings({}), defaults);
  for (const text of ["", "0", "x", "-1", "1.5"]) {
    assertEquals(
      parkSettings({
        FM_CURSOR_TURNEND_LOOP_CEILING: text,
        FM_CURSOR_TURNEND_BLOCK_BUDGET: text,
        FM_CURSOR_PARK_ATTEMPTS: text,
        FM_CURSOR_PARK_POLL: text,
        FM_CURSOR_LOCK_ATTEMPTS: text,
        TURNGUARD_PARK_MAX_SECONDS: text,
      }),
      defaults,
      text,
    );
  }
  assertEquals(
    parkSettings({
      FM_CURSOR_TURNEND_LOOP_CEILING: "10",
      FM_CURSOR_TURNEND_BLOCK_BUDGET: "1",
      FM_CURSOR_PARK_ATTEMPTS: "3",
      FM_CURSOR_PARK_POLL: "5",
      FM_CURSOR_LOCK_ATTEMPTS: "1",
      TURNGUARD_PARK_MAX_SECONDS: "60",
    }),
    {
      ceiling: 10,
      budget: 1,
      attempts: 3,
      pollMs: 5_000,
      lock: { limitMs: 0, stepMs: 100 },
      hostSeconds: 60,
    },
  );
  assertEquals(parkSettings({ FM_CURSOR_PARK_ATTEMPTS: "4" }).attempts, 2);
});

Deno.test("foreignVariables: only those of another home that exists", () => {
  const folder = Deno.makeTempDirSync();
  try {
    for (const name of ["own", "other"]) Deno.mkdirSync(`${folder}/${name}`);
    Deno.symlinkSync(`${folder}/own`, `${folder}/link`);
    const names = (override: string | undefined, root: string | undefined): readonly string[] =>
      Object.keys(foreignVariables(environmentOf({ FM_ROOT_OVERRIDE: override ?? "" }), root));
    const own = `${folder}/own`;
    assertEquals(names(undefined, own), []);
    assertEquals(names(own, own), []);
    assertEquals(names(`${folder}/link`, own), []);
    assertEquals(names(`${folder}/nothing`, own), []);
    assertEquals(names(`${folder}/other`, `${folder}/nothing`), []);
    assertEquals(names(`${folder}/other`, undefined), []);
    assertEquals(names(`${folder}/other`, own), [
      "FM_ROOT_OVERRIDE",
      "FM_STATE_OVERRIDE",
      "FM_DATA_OVERRIDE",
      "FM_PROJECTS_OVERRIDE",
      "FM_CONFIG_OVERRIDE",
      "FM_HOME",
    ]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
