/**
 * The hook that records what a session does, as a harness runs it: crowds, odd input, hostile files.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { dirname, join } from "@std/path";
import { ActivityHome } from "../support/activity_home.ts";
import {
  done,
  type Payload,
  post,
  pre,
  SESSION,
  start,
  stop,
  turnEnd,
} from "../support/activity_session.ts";
import { exists, textOf } from "../support/files.ts";
import { inBatches, runProgram, runTurnguard } from "../support/turnguard.ts";

const FULL = Deno.env.get("TURNGUARD_FULL") === "1";

/** Pairs of events at once. */
const PAIRS = FULL ? 200 : 25;

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

Deno.test("activity: parallel calls are counted exactly, and nothing waits in the spool (35)", async () => {
  await using home = ActivityHome.make();
  await home.crowd(
    numbers(PAIRS).map((index) => [
      pre(`t${index}`, "Bash"),
      post(`t${index}`, {}, "Bash"),
    ]),
  );
  const state = await home.stored();
  assertEquals([state?.tool_call_count, state?.tools], [PAIRS, {}]);
  assert((state?.generation ?? 0) >= 1);
  const name = (await home.file()).slice(home.home.length + 1);
  assertEquals(home.files(), [name]);
});

Deno.test("activity: parallel launches and then their ends are counted exactly (36)", async () => {
  await using home = ActivityHome.make();
  await home.crowd(numbers(PAIRS).map((index) => [pre(`t${index}`)]));
  assertEquals((await home.stored())?.subagents_in_flight, PAIRS);
  await home.crowd(numbers(PAIRS).map((index) => [post(`t${index}`, done())]));
  assertEquals((await home.stored())?.subagents_in_flight, 0);
});

Deno.test("activity: many processes with many events each lose none of them", async () => {
  await using home = ActivityHome.make();
  const [processes, events] = FULL ? [64, 100] : [8, 8];
  const file = await home.file();
  let torn = 0;
  let over = false;
  const reader = (async () => {
    while (!over) {
      if (exists(file)) {
        try {
          JSON.parse(textOf(file));
        } catch {
          torn += 1;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  await home.crowd(
    numbers(processes).map((process) =>
      numbers(events).map((event) => pre(`t${process}-${event}`, "Bash"))
    ),
  );
  over = true;
  await reader;
  const state = await home.stored();
  assertEquals([state?.tool_call_count, torn], [processes * events, 0]);
});

Deno.test("activity: while nobody gets the lock events wait, are read, and are taken in later (37)", async () => {
  await using home = ActivityHome.make();
  await home.send(pre("first", "Bash"));
  const file = await home.file();
  {
    const held = Deno.openSync(`${file}.lock`, { read: true });
    using _held = held;
    held.lockSync(true);
    const began = performance.now();
    await inBatches(numbers(12), (index) => home.send(pre(`t${index}`)), 2);
    // Whoever waited for the lock would still be there.
    assert(performance.now() - began < 12_000, "a hook has waited");
    assertEquals((await home.stored())?.tool_call_count, 1);
    assertEquals([...Deno.readDirSync(`${file}.spool`)].length, 12);
    const shown = await home.shown();
    assertEquals([shown.tool_call_count, shown.subagents_in_flight], [13, 12]);
  }
  await home.send(pre("last", "Bash"));
  assertEquals((await home.stored())?.tool_call_count, 14);
  assertEquals([...Deno.readDirSync(`${file}.spool`)], []);
});

Deno.test("activity: a file that is cut off is set aside, three of them at most (39)", async () => {
  await using home = ActivityHome.make();
  const file = await home.file();
  for (const round of numbers(5)) {
    await home.send(pre(`t${round}`, "Bash"));
    const text = textOf(file);
    Deno.writeTextFileSync(file, text.slice(0, text.length / 2));
    await home.send(pre("next", "Bash"));
    assertEquals((await home.stored())?.counters["recovered"], 1);
    assertEquals((await home.stored())?.tool_call_count, 1);
    Deno.removeSync(file);
  }
  const aside = home.files().filter((path) => path.includes(".corrupt-"));
  assert(aside.length >= 1 && aside.length <= 3, aside.join(" "));
});

Deno.test("activity: a full disk costs the event, not the hook, and the file's time tells (40)", async () => {
  await using home = ActivityHome.make();
  const folder = join(home.folder, "small");
  Deno.mkdirSync(folder);
  const mount = await runProgram(
    ["/bin/mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", folder],
    { stdin: null },
  );
  if (mount.status !== 0) {
    console.log(`full disk: skipped, a file system of its own cannot be mounted: ${mount.stderr}`);
    return;
  }
  try {
    const file = join(folder, "a.json");
    const args = ["--host", "claude", "--activity", file];
    await home.send(pre("t0", "Bash"), { args });
    const before = textOf(file);
    Deno.utimeSync(file, 1_000, 1_000);
    try {
      Deno.writeFileSync(join(folder, "filler"), new Uint8Array(64 * 1024));
    } catch {
      // Full is what it is meant to be.
    }
    await home.send(pre("t1", "Bash"), { args });
    assertEquals(textOf(file), before);
    assert((Deno.statSync(file).mtime?.getTime() ?? 0) > 1_000_000, "nothing tells of the event");
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
      !name.startsWith("a.json") && name !== "filler"
    );
    assertEquals(names, []);
  } finally {
    assertEquals((await runProgram(["/bin/umount", folder], { stdin: null })).status, 0);
  }
});

Deno.test("activity: places that cannot be used are left for the next one, or the event is (41)", async () => {
  await using home = ActivityHome.make();
  const other = join(home.folder, "other");
  const expectIn = async (path: string, env: Readonly<Record<string, string | undefined>>) => {
    await home.send(pre("t", "Bash"), { env });
    assert(exists(path), path);
  };
  const name = (await home.file()).split("/").at(-1) ?? "";
  await expectIn(join(other, name), { TURNGUARD_ACTIVITY_DIR: other });
  await expectIn(join(other, "x/turnguard/activity", name), { XDG_STATE_HOME: join(other, "x") });
  // Others may write there: it is not used.
  const open = join(home.folder, "open");
  Deno.mkdirSync(open);
  Deno.chmodSync(open, 0o777);
  await expectIn(await home.file(), { TURNGUARD_ACTIVITY_DIR: open });
  assertEquals([...Deno.readDirSync(open)], []);
  const temporary = `/tmp/turnguard-${Deno.uid() ?? 0}`;
  const had = exists(temporary);
  const session_id = crypto.randomUUID();
  await home.send({ ...pre("t", "Bash"), session_id }, { env: { HOME: undefined } });
  const path = join(temporary, "activity", (await home.file(session_id)).split("/").at(-1) ?? "");
  assert(exists(path), path);
  for (const suffix of ["", ".lock"]) Deno.removeSync(`${path}${suffix}`);
  if (!had) Deno.removeSync(temporary, { recursive: true });
});

Deno.test("activity: a directory that nobody may write in costs the event only (41)", async () => {
  await using home = ActivityHome.make();
  Deno.mkdirSync(join(home.home, ".local"), { recursive: true });
  Deno.chmodSync(home.folder, 0o755);
  Deno.chmodSync(home.home, 0o555);
  Deno.chmodSync(join(home.home, ".local"), 0o555);
  // Root may write everywhere, so somebody else has to try.
  const nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  if (Deno.uid() !== 0 || !exists("/usr/bin/setpriv")) {
    console.log("read-only directory: skipped, this needs root and setpriv");
    return;
  }
  const executable = join(home.folder, "turnguard");
  Deno.copyFileSync((await import("../support/turnguard.ts")).TURNGUARD, executable);
  Deno.chmodSync(executable, 0o755);
  const session_id = crypto.randomUUID();
  const result = await runProgram([...nobody, executable, "activity", "--host", "claude"], {
    stdin: JSON.stringify({ ...pre("t", "Bash"), session_id }),
    env: { HOME: home.home },
  });
  assertEquals(result, { status: 0, stdout: "", stderr: "" });
  assertEquals([...Deno.readDirSync(join(home.home, ".local"))], []);
  const temporary = "/tmp/turnguard-65534";
  assert(exists(temporary), "the next place was not tried");
  Deno.removeSync(temporary, { recursive: true });
});

Deno.test("activity: what was planted in a file's place is neither followed nor opened (42)", async () => {
  const plants: Readonly<Record<string, (path: string, victim: string) => void>> = {
    "link": (path, victim) => Deno.symlinkSync(victim, path),
    "second name": (path, victim) => Deno.linkSync(victim, path),
    "folder": (path) => Deno.mkdirSync(path),
    "pipe": (path) => {
      const { success } = new Deno.Command("/usr/bin/mkfifo", { args: [path] }).outputSync();
      assert(success);
    },
    "foreign": (path) => {
      Deno.writeTextFileSync(path, "{}");
      Deno.chownSync(path, 65534, 65534);
    },
  };
  const suffixes = ["", ".lock", ".spool"];
  const rows = Object.entries(plants).flatMap(([name, plant]) =>
    suffixes.map((suffix) => ({ name, plant, suffix }))
  );
  const outcomes = await inBatches(rows, async ({ name, plant, suffix }) => {
    await using home = ActivityHome.make();
    const victim = join(home.folder, "victim");
    Deno.writeTextFileSync(victim, '{"mine":true}');
    const file = join(home.folder, "a.json");
    if (name === "foreign" && Deno.uid() !== 0) return "";
    plant(`${file}${suffix}`, victim);
    const before = Deno.lstatSync(`${file}${suffix}`);
    const held = suffix === ".spool" ? holdLock(file) : undefined;
    await home.send(pre("t", "Bash"), { args: ["--host", "claude", "--activity", file] });
    held?.close();
    const after = Deno.lstatSync(`${file}${suffix}`);
    const isSame = before.ino === after.ino && before.mtime?.getTime() === after.mtime?.getTime();
    // An empty folder of our own is a spool like any other.
    const isOurs = name === "folder" && suffix === ".spool";
    const text = textOf(victim);
    if (!isOurs && !isSame) return `${name}${suffix}: changed`;
    return text === '{"mine":true}' ? "" : `${name}${suffix}: the victim is ${text}`;
  });
  assertEquals(outcomes.filter((outcome) => outcome !== ""), []);
});

function holdLock(file: string): Deno.FsFile {
  const held = Deno.openSync(`${file}.lock`, {
    write: true,
    read: true,
    create: true,
    mode: 0o600,
  });
  held.lockSync(true);
  return held;
}

Deno.test("activity: a folder that was exchanged for a link is not used (42)", async () => {
  await using home = ActivityHome.make();
  const elsewhere = join(home.folder, "elsewhere");
  Deno.mkdirSync(elsewhere);
  Deno.mkdirSync(dirname(home.state), { recursive: true });
  Deno.symlinkSync(elsewhere, home.state);
  const session_id = crypto.randomUUID();
  await home.send({ ...pre("t", "Bash"), session_id });
  assertEquals([...Deno.readDirSync(elsewhere)], []);
  const name = (await home.file(session_id)).split("/").at(-1) ?? "";
  for (const suffix of ["", ".lock"]) {
    Deno.removeSync(`/tmp/turnguard-${Deno.uid() ?? 0}/activity/${name}${suffix}`);
  }
});

const ODD: Readonly<Record<string, string | Uint8Array | null>> = {
  "nothing": "",
  "no input at all": null,
  "an array": "[]",
  "null": "null",
  "half an object": "{",
  "text": "hello",
  "invalid UTF-8": new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
  "no session": '{"hook_event_name":"Stop"}',
  "an empty session": '{"session_id":"","hook_event_name":"Stop"}',
  "40 MiB": new Uint8Array(40 * 1024 * 1024).fill(0x20),
};

Deno.test("activity: odd input is dropped in silence (43)", async () => {
  await using home = ActivityHome.make();
  for (const [name, input] of Object.entries(ODD)) {
    assertEquals(await home.run(input), { status: 0, stdout: "", stderr: "" }, name);
  }
  assertEquals(home.files(), []);
});

Deno.test("activity: values of the wrong type and thousands of keys are no trouble (43)", async () => {
  await using home = ActivityHome.make();
  const names = [
    "tool_name",
    "tool_use_id",
    "agent_id",
    "tool_input",
    "tool_response",
    "background_tasks",
    "session_crons",
    "cwd",
    "transcript_path",
    "source",
  ];
  const values = [null, 7, true, [], {}, [null, { id: 7 }], "\u0000\u001b[31m"];
  await inBatches(values, async (value) => {
    const fields = Object.fromEntries(names.map((name) => [name, value]));
    for (const hook_event_name of ["PreToolUse", "PostToolUse", "Stop"]) {
      await home.send({ hook_event_name, ...fields });
    }
  });
  const many = Object.fromEntries(numbers(10_000).map((index) => [`k${index}`, index]));
  await home.send({ ...many, ...pre("t", "Bash") });
  const state = await home.stored();
  assertEquals(state?.counters["events"], 3 * values.length + 1);
  assert(!textOf(await home.file()).includes("\u001b"));
});

Deno.test("activity: unknown events are no progress, known ones may carry more (44)", async () => {
  await using home = ActivityHome.make();
  await home.send({ hook_event_name: "FileChanged", file: "x" });
  assertEquals((await home.stored())?.progress_seq, 0);
  await home.send({ ...pre("t", "Bash"), novelty: { deep: true } });
  assertEquals((await home.stored())?.progress_seq, 1);
});

Deno.test("activity: input that never ends is taken once it is complete (45)", async () => {
  await using home = ActivityHome.make();
  const payload = JSON.stringify({ session_id: SESSION, ...pre("t", "Bash") });
  await home.send({ open: payload }, { limitMs: 10_000 });
  assertEquals((await home.stored())?.tool_call_count, 1);
  await home.send({ open: '{"session_id":' }, { limitMs: 10_000 });
});

Deno.test("activity: a wrong command line is silent too (46)", async () => {
  await using home = ActivityHome.make();
  for (
    const args of [["--bogus"], ["--host"], ["--host", "nobody"], ["a", "b", "c"], ["--json=1"]]
  ) {
    await home.send(pre("t", "Bash"), { args });
  }
});

Deno.test("activity: whose payload it is decides, and foreign ones are left to their own hook (47)", async () => {
  await using home = ActivityHome.make();
  const event = pre("t", "Bash");
  const { session_id: _none, ...grok } = { session_id: "", sessionId: SESSION, ...event };
  const foreign: readonly (Payload | string)[] = [
    { ...event, cursor_version: "1" },
    JSON.stringify(grok),
    { ...event, transcript_path: "/home/x/.pi/sessions/1.jsonl" },
    { ...event, hookEventName: "pre_tool_use" },
    { ...event, turnguard_host: "opencode" },
  ];
  for (const payload of foreign) await home.send(payload);
  assertEquals(home.files(), []);
  await home.send(event, { args: ["--host", "kimi"] });
  assertEquals((await home.stored())?.tool_call_count, 1);
});

Deno.test("activity: a later build's file is left as it is, but for its time (48)", async () => {
  await using home = ActivityHome.make();
  const file = join(home.folder, "a.json");
  const text = '{"schema":"turnguard.activity/2","new":1}\n';
  Deno.writeTextFileSync(file, text, { mode: 0o600 });
  Deno.utimeSync(file, 1_000, 1_000);
  await home.send(pre("t", "Bash"), { args: ["--host", "claude", "--activity", file] });
  assertEquals(textOf(file), text);
  assert((Deno.statSync(file).mtime?.getTime() ?? 0) > 1_000_000);
});

Deno.test("activity: hostile session ids stay inside of their folder", async () => {
  await using home = ActivityHome.make();
  const ids = ["../../../etc/passwd", "a/b", "x".repeat(5_000), "$(id)", "\n", "é\u0000"];
  for (const session_id of ids) await home.send({ ...pre("t", "Bash"), session_id });
  const names = home.files().map((path) => path.split("/").at(-1) ?? "");
  assertEquals(names.length, ids.length);
  for (const name of names) assertMatch(name, /^turnguard-session-[0-9a-f]{16}-activity\.json$/);
});

Deno.test("activity: Grok's children are filed with their parent (30)", async () => {
  await using home = ActivityHome.make();
  const args = ["--host", "grok"];
  const grok = (fields: Payload): string => JSON.stringify({ sessionId: "parent", ...fields });
  await home.send(
    grok({ hookEventName: "subagent_start", subagentId: "child", subagentType: "explore" }),
    { args },
  );
  assertEquals((await home.stored("parent"))?.subagents_in_flight, 1);
  const child = { sessionId: "child", subagentType: "explore" };
  await home.send(grok({ ...child, hookEventName: "pre_tool_use", toolName: "shell" }), { args });
  assertEquals((await home.stored("parent"))?.tool_call_count, 1);
  assertEquals(await home.stored("child"), undefined);
  await home.send(grok({ ...child, hookEventName: "session_end" }), { args });
  const parent = await home.stored("parent");
  assertEquals([parent?.subagents_in_flight, parent?.ended_at], [0, null]);
});

Deno.test("activity: a plain counter file is taken over (3.5)", async () => {
  await using home = ActivityHome.make();
  const file = join(home.folder, "bob-activity.json");
  const text = '{"last_tool_call_at":"2026-05-01T12:00:00Z","tool_call_count":7,' +
    '"subagents_in_flight":2}';
  Deno.writeTextFileSync(file, text, { mode: 0o600 });
  const args = ["--host", "claude", "--activity", join(home.folder, "bob-activity.json")];
  await home.send(pre("t", "Bash"), { args });
  const state: { readonly tool_call_count: number; readonly subagents_in_flight: number } = JSON
    .parse(textOf(file));
  assertEquals([state.tool_call_count, state.subagents_in_flight], [8, 2]);
  assert(textOf(file).startsWith('{"last_tool_call_at":'));
});

Deno.test("activity: touch proves life, show tells it, and both say what is wrong (4.8)", async () => {
  await using home = ActivityHome.make();
  const person = (...args: readonly string[]) =>
    runTurnguard(["activity", ...args], { env: { HOME: home.home }, stdin: null });
  assertEquals((await person("touch", "--session", SESSION)).status, 0);
  assertEquals((await home.stored())?.last_event?.name, "Touch");
  const shown = await person("show", "--session", SESSION);
  assertEquals(shown.status, 0);
  assertMatch(shown.stdout, /^progress .*\(Touch\)$/m);
  for (const words of [["touch"], ["show"], ["show", "--session", "nobody"]]) {
    const { status, stdout, stderr } = await person(...words);
    assertEquals([status, stdout], [1, ""]);
    assertMatch(stderr, /; nothing was changed\n$/);
  }
  assertEquals((await person("show", "--bogus")).status, 1);
});

Deno.test("activity: real sessions of Claude Code 2.1.197 leave nothing in flight", async () => {
  const folder = new URL("../fixtures/captured/claude-code-2.1.197/", import.meta.url);
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  for (const story of ["parallel-agents", "background-agent"]) {
    await using home = ActivityHome.make();
    let most = 0;
    let session = "";
    for (const name of names.filter((file) => file.startsWith(story)).toSorted()) {
      const text = Deno.readTextFileSync(new URL(name, folder));
      const payload: { readonly session_id: string } = JSON.parse(text);
      session = payload.session_id;
      await home.send(text);
      most = Math.max(most, (await home.stored(session))?.subagents_in_flight ?? 0);
    }
    const state = await home.stored(session);
    assertEquals([state?.subagents_in_flight, state?.ended_at === null], [0, false], story);
    assert(most >= 1, story);
  }
});

Deno.test("activity: the turn-end guard's home is neither read nor written (I3)", async () => {
  await using home = ActivityHome.make();
  const root = join(home.folder, "crew");
  assertEquals((await runTurnguard(["init", root], { stdin: null })).status, 0);
  const before = [...Deno.readDirSync(join(root, "state"))].map(({ name }) => name).toSorted();
  const env = { FM_HOME: root, CLAUDE_PROJECT_DIR: root };
  for (const event of [pre("t"), start("A"), stop("A"), turnEnd()]) {
    await home.send({ ...event, cwd: root }, { env });
  }
  const after = [...Deno.readDirSync(join(root, "state"))].map(({ name }) => name).toSorted();
  assertEquals(after, before);
});
