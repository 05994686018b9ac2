/**
 * The files of a failure episode: made once, removed together.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  ALARM_NAME,
  alarmExists,
  createAlarm,
  createNotice,
  NOTICE_NAME,
  noticeExists,
  removeBudget,
  removeEpisodeFiles,
} from "../../src/state/failure_episode.ts";
import { BUDGET_NAME } from "../../src/state/claude_budget.ts";

const NAMES = [BUDGET_NAME, NOTICE_NAME, ALARM_NAME];

function inFolder(name: string, work: (state: string) => void): void {
  Deno.test(name, () => {
    const state = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
    try {
      work(state);
    } finally {
      Deno.removeSync(state, { recursive: true });
    }
  });
}

function entries(state: string): readonly string[] {
  return [...Deno.readDirSync(state)].map(({ name }) => name).sort();
}

inFolder("createAlarm: is raised once", (state) => {
  assertEquals([createAlarm(state), createAlarm(state), alarmExists(state)], [true, false, true]);
});

inFolder("createNotice: may be made again, but not in a missing folder", (state) => {
  assertEquals([createNotice(state), createNotice(state), noticeExists(state)], [true, true, true]);
  assertEquals(createNotice(`${state}/missing`), false);
});

inFolder("noticeExists: a link to nowhere is none, a directory is one", (state) => {
  Deno.symlinkSync("nowhere", `${state}/${NOTICE_NAME}`);
  Deno.mkdirSync(`${state}/${ALARM_NAME}`);
  assertEquals([noticeExists(state), alarmExists(state)], [false, true]);
  assertEquals(createAlarm(state), false);
});

inFolder("removeEpisodeFiles: takes all three, links themselves included", (state) => {
  assertEquals(removeEpisodeFiles(state), true);
  Deno.writeTextFileSync(`${state}/kept`, "");
  Deno.symlinkSync("kept", `${state}/${BUDGET_NAME}`);
  Deno.symlinkSync("nowhere", `${state}/${NOTICE_NAME}`);
  createAlarm(state);
  assertEquals([removeEpisodeFiles(state), entries(state)], [true, ["kept"]]);
});

for (const directory of NAMES) {
  inFolder(`removeEpisodeFiles: ${directory} as a directory keeps all three`, (state) => {
    for (const name of NAMES) {
      if (name === directory) Deno.mkdirSync(`${state}/${name}`);
      else Deno.writeTextFileSync(`${state}/${name}`, "");
    }
    assertEquals([removeEpisodeFiles(state), entries(state)], [false, [...NAMES].sort()]);
  });
}

inFolder("removeBudget: takes the budget alone", (state) => {
  for (const name of NAMES) Deno.writeTextFileSync(`${state}/${name}`, "");
  assertEquals([removeBudget(state), removeBudget(state)], [true, true]);
  assertEquals(entries(state), [ALARM_NAME, NOTICE_NAME].sort());
});
