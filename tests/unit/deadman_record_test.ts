/** The record of a deadman: where it lies, what it holds, and what is not believed. */

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { NO_MEMORY } from "../../src/decide/deadman.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { resolveCommand } from "../../src/watch/deadman/notify.ts";
import {
  currentSettings,
  type DeadmanRecord,
  parseRecord,
  readRecord,
  recordedEnvironment,
  recordPath,
  writeRecord,
} from "../../src/watch/deadman/record.ts";
import { parseBootTime, parseProcUptime } from "../../src/watch/deadman/uptime.ts";

const RECORD: DeadmanRecord = {
  format: 1,
  root: "/r",
  home: "/h",
  backend: "cron",
  executable: "/t",
  intervalSeconds: 300,
  cooldownSeconds: 3_600,
  bootGraceSeconds: 0,
  notify: ["/n", "", "two words"],
  settings: { FM_HOME: "/h" },
  memory: {
    sample: { kind: "unhealthy", because: "x", atSeconds: 9 },
    streak: 2,
    streakSinceSeconds: 8,
    countedAtSeconds: 9,
    toldAtSeconds: null,
    attempt: { atSeconds: 9, outcome: "failed", because: "y" },
  },
};

function withFolder(work: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  try {
    work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("deadman record: what is written is read back, and closed to others", () => {
  withFolder((folder) => {
    const path = join(folder, "r.json");
    assertEquals(readRecord(path), { kind: "absent" });
    writeRecord(path, RECORD);
    assertEquals(readRecord(path), { kind: "record", record: RECORD });
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
    assertEquals([...Deno.readDirSync(folder)].length, 1);
  });
});

Deno.test("deadman record: one that others may write is not used", () => {
  withFolder((folder) => {
    const path = join(folder, "r.json");
    writeRecord(path, RECORD);
    Deno.chmodSync(path, 0o620);
    assertEquals(readRecord(path).kind, "unreadable");
  });
});

const BROKEN: ReadonlyArray<readonly [what: string, change: Record<string, unknown>]> = [
  ["another format", { format: 2 }],
  ["no root", { root: undefined }],
  ["an unknown scheduler", { backend: "at" }],
  ["an interval of nothing", { intervalSeconds: 0 }],
  ["a negative cooldown", { cooldownSeconds: -1 }],
  ["a fraction", { intervalSeconds: 1.5 }],
  ["no command", { notify: [] }],
  ["a command by name", { notify: ["mail"] }],
  ["a command that is no text", { notify: ["/n", 1] }],
  ["settings that are no texts", { settings: { FM_HOME: 1 } }],
];

Deno.test("deadman record: what does not make sense is no record", () => {
  for (const [what, change] of BROKEN) {
    assertEquals(parseRecord(JSON.stringify({ ...RECORD, ...change })), undefined, what);
  }
  for (const text of ["", "null", "[]", "{", '"x"']) {
    assertEquals(parseRecord(text), undefined, text);
  }
});

Deno.test("deadman record: a memory that makes no sense is forgotten, the rest kept", () => {
  for (const memory of [null, [], { streak: -1 }, { streak: "2" }]) {
    const text = JSON.stringify({ ...RECORD, memory });
    assertEquals(parseRecord(text), { ...RECORD, memory: NO_MEMORY });
  }
  const odd = { ...RECORD.memory, sample: { kind: "odd" }, attempt: 3, toldAtSeconds: "now" };
  assertEquals(parseRecord(JSON.stringify({ ...RECORD, memory: odd }))?.memory, {
    ...RECORD.memory,
    sample: null,
    attempt: null,
  });
});

Deno.test("deadman record: lies in the state folder of the user, wherever that is", () => {
  const path = (values: Record<string, string>) => recordPath(environmentOf(values), "id");
  assertEquals(path({ HOME: "/u" }), "/u/.local/state/turnguard/deadman/id.json");
  assertEquals(path({ HOME: "/u", XDG_STATE_HOME: "/s/" }), "/s/turnguard/deadman/id.json");
  assertEquals(
    path({ HOME: "/u", XDG_STATE_HOME: "s" }),
    "/u/.local/state/turnguard/deadman/id.json",
  );
  assertEquals([path({}), path({ HOME: "u" })], [undefined, undefined]);
});

Deno.test("deadman record: a home is judged with the settings of its installation alone", () => {
  const installed = environmentOf({ FM_HOME: "/h", FM_POLL: "30", HOME: "/u" });
  const settings = currentSettings(installed);
  assertEquals(settings, { FM_HOME: "/h", FM_POLL: "30" });
  const later = recordedEnvironment(
    environmentOf({ FM_HOME: "/x", FM_GUARD_GRACE: "1", HOME: "/v" }),
    settings,
  );
  assertEquals(
    ["FM_HOME", "FM_POLL", "FM_GUARD_GRACE", "HOME"].map((name) => later.get(name)),
    ["/h", "30", undefined, "/v"],
  );
});

Deno.test("deadman notify: the program is found once, by PATH or as it was named", () => {
  withFolder((folder) => {
    Deno.writeTextFileSync(join(folder, "tell"), "", { mode: 0o755 });
    Deno.writeTextFileSync(join(folder, "text"), "", { mode: 0o644 });
    Deno.mkdirSync(join(folder, "folder"));
    const find = (name: string, path?: string) =>
      resolveCommand([name, "a"], { path, workingDirectory: () => folder })?.[0];
    assertEquals(find("tell", `relative:/nowhere:${folder}`), join(folder, "tell"));
    assertEquals(find("./tell"), `${folder}/./tell`);
    assertEquals(find(join(folder, "tell")), join(folder, "tell"));
    for (const name of ["tell", "none", "/none", join(folder, "text"), join(folder, "folder")]) {
      assertEquals(find(name), undefined, name);
    }
    assert(
      resolveCommand(["tell", "a"], { path: folder, workingDirectory: () => "/" })?.[1] === "a",
    );
  });
});

Deno.test("deadman uptime: read from either system's text, and from nothing else", () => {
  assertEquals(parseProcUptime("18329.91 25036.91\n"), 18_329);
  assertEquals(parseProcUptime("7 1\n"), 7);
  assertEquals(["", "x", "-1 2", "1e9 1"].map(parseProcUptime), Array(4).fill(undefined));
  assertEquals(
    parseBootTime("{ sec = 1700000000, usec = 12 } Tue Nov 14 22:13:20 2023\n"),
    1_700_000_000,
  );
  assertEquals(["", "{ usec = 3 }"].map(parseBootTime), [undefined, undefined]);
});
