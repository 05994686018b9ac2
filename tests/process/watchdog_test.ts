/**
 * Watchdogs over real processes: what they end, what they leave, and what they say.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { isRunning } from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { until } from "../support/processes.ts";
import { type RunResult, tabulate } from "../support/turnguard.ts";
import { endOf, summaryOf, WatchdogHome } from "../support/watchdog_home.ts";

function home(): WatchdogHome {
  return new WatchdogHome();
}

const PRE = (id: string, tool = "Agent"): string =>
  `event '"hook_event_name":"PreToolUse","tool_name":"${tool}","tool_use_id":"${id}"'`;
const POST = (id: string, tool = "Agent"): string =>
  `event '"hook_event_name":"PostToolUse","tool_name":"${tool}","tool_use_id":"${id}",` +
  `"tool_response":{"status":"completed"}'`;
const IDS = ["a", "b", "c", "d"];

Deno.test("watchdog: four subagents hold it, and it ends the session after the last one", async () => {
  await using it = home();
  const script = it.script(
    ...IDS.map((id) => PRE(id)),
    "sleep 3",
    ...IDS.map((id) => POST(id)),
    "date +%s.%N >$F/done",
    "sleep 600",
  );
  const result = await it.runner(["--progress", "activity"], script).ended();
  const summary = summaryOf(result);
  assertEquals(endOf(result), "idle 123");
  assertEquals([summary["tool_calls"], summary["subagents"]], ["4", "0"]);
  assert(exists(it.path("done")), "it was ended while its subagents were in flight");
  assert(Number(summary["wall_s"]) >= 4, result.stderr);
});

Deno.test("watchdog: TERM, then KILL for what ignores it, with the reason on disk before (65)", async () => {
  await using it = home();
  const marker = it.path("marker");
  const script = it.script(
    `trap 'cp ${marker} $F/seen; echo got >$F/trapped' TERM`,
    "echo $$ >$F/pid",
    "while :; do sleep 0.1; done",
  );
  const started = it.runner(
    ["--grace", "0.5", "--marker", marker, "--kill-marker", it.path("killed")],
    script,
  );
  const pid = await it.pid("pid");
  const result = await started.ended();
  assertEquals(endOf(result), "idle 123");
  assertEquals(summaryOf(result)["signals"], "TERM,KILL");
  assertMatch(textOf(it.path("seen")), /"reason":"idle","phase":"decided"/);
  assertMatch(textOf(marker), /"phase":"done".*"killed":true,"exit_code":123}/);
  assertEquals([textOf(it.path("killed")), isRunning(pid)], ["idle\n", false]);
});

Deno.test("watchdog: the command's own end passes through (66)", async () => {
  const rows: readonly (readonly [name: string, expected: string, command: readonly string[]])[] = [
    ["0", "exited 0", ["/bin/sh", "-c", "exit 0"]],
    ["7", "exited 7", ["/bin/sh", "-c", "exit 7"]],
    ["124", "exited 124", ["/bin/sh", "-c", "exit 124"]],
    ["a fault", "exited 139", ["/bin/sh", "-c", "kill -SEGV $$"]],
    ["nothing of that name", "undefined 127", ["no-such-program"]],
    ["no program", "undefined 126", ["/etc/passwd"]],
  ];
  const ends = await tabulate(rows, ([name]) => name, async ([, , command]) => {
    await using it = home();
    return endOf(await it.runner([], command).ended());
  });
  assertEquals(ends, Object.fromEntries(rows.map(([name, expected]) => [name, expected])));
});

Deno.test("watchdog: a signal is handed on, and the command's answer is its own (67)", async () => {
  await using it = home();
  const polite = it.runner(
    ["--idle-timeout", "60"],
    it.script(
      "trap 'echo bye >$F/bye; exit 9' TERM",
      "echo $$ >$F/pid",
      "while :; do sleep 0.1; done",
    ),
  );
  await it.pid("pid");
  polite.signal("SIGTERM");
  const answered = await polite.ended();
  assertEquals([endOf(answered), textOf(it.path("bye"))], ["signal 9", "bye\n"]);
  Deno.removeSync(it.path("pid"));
  const plain = it.runner(["--idle-timeout", "60"], it.script("echo $$ >$F/pid", "sleep 600"));
  await it.pid("pid");
  plain.signal("SIGTERM");
  assertEquals(endOf(await plain.ended()), "signal 143");
  Deno.removeSync(it.path("pid"));
  const log = it.path("log");
  const deaf = it.runner(
    ["--idle-timeout", "60", "--grace", "60", "--log", log],
    it.script("trap '' TERM", "echo $$ >$F/pid", "while :; do sleep 0.1; done"),
  );
  await it.pid("pid");
  deaf.signal("SIGTERM");
  await until(() => textOf(log).includes("handed on"), 20_000);
  deaf.signal("SIGTERM");
  assertEquals(endOf(await deaf.ended()), "signal 137");
});

for (const [sweep, survives] of [["tree", false], ["group", true]] as const) {
  Deno.test(`watchdog: a grandchild in a session of its own and --sweep ${sweep} (68)`, async () => {
    await using it = home();
    const script = it.script(
      "setsid /bin/sh -c 'echo $$ >$F/grandchild; sleep 600' &",
      "sleep 600",
    );
    const started = it.runner(["--sweep", sweep], script);
    const grandchild = await it.pid("grandchild");
    const result = await started.ended();
    assertEquals([endOf(result), isRunning(grandchild)], ["idle 123", survives]);
  });
}

for (const [sweep, survives] of [["tree", true], ["marked", false]] as const) {
  Deno.test(`watchdog: a daemon that left the tree and --sweep ${sweep} (69)`, async () => {
    await using it = home();
    const script = it.script(
      "(setsid /bin/sh -c 'echo $$ >$F/daemon; sleep 600' &)",
      "while [ ! -s $F/daemon ]; do sleep 0.05; done",
      "sleep 600",
    );
    const started = it.runner(["--sweep", sweep], script);
    const daemon = await it.pid("daemon");
    const result = await started.ended();
    assertEquals([endOf(result), isRunning(daemon)], ["idle 123", survives]);
    if (survives) assert(Number(summaryOf(result)["left_running"]) >= 1, result.stderr);
  });
}

Deno.test("watchdog: the wall clock ends what works, and tells what was in flight (63)", async () => {
  await using it = home();
  const marker = it.path("marker");
  const script = it.script(
    ...IDS.slice(0, 3).map((id) => PRE(id)),
    "echo x >$F/ready",
    "sleep 600",
  );
  const started = it.runner(["--wall-timeout", "3", "--marker", marker], script);
  const result = await started.ended();
  assertEquals(endOf(result), "wall 124");
  assertEquals(summaryOf(result)["subagents"], "3");
  assertMatch(textOf(marker), /"subagents_in_flight":3/);
});

Deno.test("watchdog: a sidecar ends a running session and outlives it, also from inside its group (70)", async () => {
  await using it = home();
  const target = it.start([
    "watchdog",
    "--idle-timeout",
    "0",
    "--quiet",
    "--",
    ...it.script(
      '"$TURNGUARD" watchdog --pid $$ --force --idle-timeout 1.5 --startup-grace 0 --no-signal kill ' +
        "2>$F/said; echo $? >$F/status &",
      "echo $$ >$F/pid",
      // The shell waits by itself, so that nothing of it is left when it is ended.
      "while :; do sleep 0.1; done",
    ),
  ]);
  await target.ended();
  // The shell that noted the status was in the same group, and only the session was ended.
  await until(
    () => exists(it.path("said")) && textOf(it.path("said")).includes("reason=idle"),
    20_000,
  );
});

Deno.test("watchdog: a sidecar's session that ends by itself is left alone (71)", async () => {
  await using it = home();
  const target = it.start([
    "watchdog",
    "--quiet",
    "--",
    ...it.script("echo $$ >$F/pid", "sleep 2"),
  ]);
  const pid = await it.pid("pid");
  const sidecar = it.start([
    "watchdog",
    "--pid",
    String(pid),
    "--idle-timeout",
    "60",
    "--poll",
    "1",
  ]);
  await target.ended();
  assertEquals(endOf(await sidecar.ended()), "exited 0");
});

Deno.test("watchdog: nobody else's process is watched (72)", async () => {
  await using it = home();
  const dead = new Deno.Command("/bin/true").spawn();
  await dead.status;
  for (const pid of ["1", "0", "-1", "x", String(dead.pid)]) {
    const result = await it.start(["watchdog", `--pid=${pid}`]).ended();
    assertEquals([result.status, result.stdout], [125, ""], pid);
    assertMatch(result.stderr, /nothing was started or ended/);
  }
  for (
    const args of [[], ["--pid", "5", "--", "true"], ["--pid", "5", "--pgid", "5"], ["--bogus"]]
  ) {
    assertEquals((await it.start(["watchdog", ...args]).ended()).status, 125);
  }
});

Deno.test("watchdog: of two sidecars the second is refused, unless it is forced (73)", async () => {
  await using it = home();
  const target = it.start([
    "watchdog",
    "--quiet",
    "--",
    ...it.script("echo $$ >$F/pid", "sleep 600"),
  ]);
  const pid = await it.pid("pid");
  const long = ["watchdog", "--pid", String(pid), "--idle-timeout", "60"];
  const first = it.start(long);
  await until(() => beats(it).length > 0, 20_000);
  const second = await it.start(long).ended();
  assertEquals(second.status, 125);
  assertMatch(second.stderr, new RegExp(`pid ${first.pid} watches it already`));
  const forced = it.start([
    ...long.slice(0, 3),
    "--idle-timeout",
    "1",
    "--startup-grace",
    "0",
    "--grace",
    "0.5",
    "--no-signal",
    "kill",
    "--force",
  ]);
  assertEquals(endOf(await forced.ended()), "idle 123");
  assertEquals(endOf(await first.ended()), "exited 0");
  await target.ended();
});

function beats(it: WatchdogHome): readonly string[] {
  return it.activity.files().filter((path) => path.endsWith(".watchdog.json")).filter((path) =>
    textOf(`${it.activity.home}/${path}`).includes('"mode":"sidecar"')
  );
}

Deno.test("watchdog: a sidecar that is stopped ends the watching, not the session", async () => {
  await using it = home();
  it.start(["watchdog", "--quiet", "--", ...it.script("echo $$ >$F/pid", "sleep 600")]);
  const pid = await it.pid("pid");
  const sidecar = it.start(["watchdog", "--pid", String(pid), "--idle-timeout", "60"]);
  await until(() => beats(it).length > 0, 20_000);
  sidecar.signal("SIGTERM");
  assertEquals(endOf(await sidecar.ended()), "signal 143");
  assert(isRunning(pid));
});

Deno.test("watchdog: a runner that is killed leaves its command, and the list says so (74)", async () => {
  await using it = home();
  const runner = it.runner(
    ["--idle-timeout", "60"],
    it.script(PRE("a"), "echo $$ >$F/pid", "sleep 600"),
  );
  const pid = await it.pid("pid");
  await until(() => it.activity.files().some((path) => path.endsWith(".watchdog.json")), 20_000);
  runner.signal("SIGKILL");
  await runner.ended();
  assert(isRunning(pid));
  const { stdout } = await it.start(["watchdog", "list"]).ended();
  assertMatch(stdout, / unsuperv /);
});

Deno.test("watchdog: leaked variables of a run do not file foreign events in it (75)", async () => {
  await using it = home();
  const script = it.script(
    PRE("own"),
    "env >$F/leaked",
    "echo $$ >$F/pid",
    "sleep 600",
  );
  const runner = it.runner(["--idle-timeout", "60"], script);
  await it.pid("pid");
  const leaked = Object.fromEntries(
    textOf(it.path("leaked")).split("\n").filter((line) => line.startsWith("TURNGUARD_"))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  await it.activity.send({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: "x" }, {
    env: leaked,
  });
  assertEquals((await it.activity.stored())?.tool_call_count, 1);
  const run = textOf(leaked["TURNGUARD_ACTIVITY_FILE"] ?? "");
  assertMatch(run, /"tool_call_count":1,/);
  runner.signal("SIGTERM");
  await runner.ended();
});

Deno.test("watchdog: a harness that a tool call starts is nested, and its end is not the run's (76)", async () => {
  await using it = home();
  const nested = it.path("nested");
  Deno.writeTextFileSync(
    nested,
    'printf \'{"session_id":"N",%s}\' \'"hook_event_name":"PreToolUse","tool_name":"Bash",' +
      '"tool_use_id":"n"\' | "$TURNGUARD" activity --host claude\n' +
      'printf \'{"session_id":"N",%s}\' \'"hook_event_name":"SessionEnd","reason":"other"\' | ' +
      '"$TURNGUARD" activity --host claude\n',
  );
  // Harnesses are processes that are no shells by name.
  for (const name of ["harness", "inner"]) Deno.symlinkSync("/bin/bash", it.path(name));
  const [, script = ""] = it.script(
    PRE("own", "Bash"),
    `$F/inner ${nested}`,
    'cat "$TURNGUARD_ACTIVITY_FILE" >$F/run',
    "echo $$ >$F/pid",
    "sleep 600",
  );
  const runner = it.runner(["--idle-timeout", "60"], [it.path("harness"), script]);
  await it.pid("pid");
  const run: {
    readonly tool_call_count: number;
    readonly ended_at: number | null;
    readonly nested: Readonly<Record<string, unknown>>;
  } = JSON.parse(textOf(it.path("run")));
  assertEquals([run.tool_call_count, run.ended_at, Object.keys(run.nested).length], [1, null, 1]);
  assertEquals((await it.activity.stored("N"))?.tool_call_count, 1);
  runner.signal("SIGTERM");
  await runner.ended();
});

Deno.test("watchdog: nothing is ended because of a file that cannot be trusted", async () => {
  await using it = home();
  const file = it.path("a.json");
  const script = it.script("echo $$ >$F/pid", "sleep 600");
  Deno.symlinkSync("/etc/hostname", file);
  const runner = it.runner(["--activity", file, "--wall-timeout", "4"], script);
  const result = await runner.ended();
  assertEquals(endOf(result), "wall 124");
  assertMatch(result.stderr, /is not believed \(it is a link\)/);
});

Deno.test("watchdog: a dry run decides and ends nothing", async () => {
  await using it = home();
  const runner = it.runner(["--dry-run"], it.script("echo $$ >$F/pid", "sleep 600"));
  const pid = await it.pid("pid");
  const result = await runner.ended();
  assertMatch(result.stderr, /would end it now: idle/);
  assert(isRunning(pid));
});

Deno.test("watchdog: output passes through byte for byte, and counts as progress", async () => {
  await using it = home();
  const script = it.script(
    "for n in 1 2 3 4 5 6; do printf 'out%s\\0' $n; printf err >&2; sleep 0.5; done",
    "exit 5",
  );
  const runner = it.runner(["--progress", "output", "--quiet"], script);
  const result = await runner.ended();
  assertEquals(result.status, 5);
  assertEquals(result.stdout, [1, 2, 3, 4, 5, 6].map((n) => `out${n}\0`).join(""));
  assertEquals(result.stderr, "err".repeat(6));
});

Deno.test("watchdog: summary and log are JSON, standard output is the command's alone", async () => {
  await using it = home();
  const [summary, log] = [it.path("summary"), it.path("log")];
  const script = it.script(PRE("a", "Bash"), POST("a", "Bash"), "echo mine", "sleep 600");
  const flags = ["--progress", "activity", "--summary-json", summary, "--log", log];
  const result = await it.runner(flags, script).ended();
  assertEquals([endOf(result), result.stdout], ["idle 123", "mine\n"]);
  const object: Readonly<Record<string, unknown>> = JSON.parse(textOf(summary));
  assertEquals(
    [object["schema"], object["reason"], object["phase"], object["tool_call_count"]],
    ["turnguard.marker/1", "idle", "done", 1],
  );
  const kinds = textOf(log).trimEnd().split("\n").map((line) => {
    const record: { readonly kind: string } = JSON.parse(line);
    return record.kind;
  });
  assertEquals([kinds[0], kinds[1], kinds.at(-1)], ["poll-shortened", "start", "done"]);
  assert(kinds.includes("decide") && kinds.includes("sent"), kinds.join(" "));
});

Deno.test("watchdog: an executable that is stopped does not end its command when it goes on (57)", async () => {
  await using it = home();
  const runner = it.runner(
    ["--idle-timeout", "40", "--poll", "1"],
    it.script(PRE("a", "Bash"), POST("a", "Bash"), "echo $$ >$F/pid", "sleep 600"),
  );
  const pid = await it.pid("pid");
  runner.signal("SIGSTOP");
  runner.signal("SIGCONT");
  assert(isRunning(pid));
  runner.signal("SIGTERM");
  assertEquals(endOf(await runner.ended()), "signal 143");
});

Deno.test("watchdog list: sessions in all their states, as text and as JSON (78)", async () => {
  await using it = home();
  const send = (session_id: string, ...events: readonly Readonly<Record<string, unknown>>[]) =>
    events.reduce<Promise<void>>(
      (before, event) => before.then(() => it.activity.send({ ...event, session_id })),
      Promise.resolve(),
    );
  await send("working", { hook_event_name: "UserPromptSubmit" });
  await send(
    "agents",
    ...IDS.map((id) => ({
      hook_event_name: "PreToolUse",
      tool_name: "Agent",
      tool_use_id: id,
    })),
  );
  await send("human", { hook_event_name: "PermissionRequest" });
  await send("ended", { hook_event_name: "SessionEnd", reason: "other" });
  await send("dead", { hook_event_name: "PreToolUse", tool_name: "Agent", tool_use_id: "x" });
  const dead = await it.activity.file("dead");
  Deno.writeTextFileSync(
    dead,
    textOf(dead).replace(/"pid_identity":"[^"]*"/, '"pid_identity":"1@1"')
      .replace(/"pid_identity":"1@1","hostname":"([^"]*)"/, '"pid_identity":"1@1","hostname":"$1"'),
  );
  await send("broken", { hook_event_name: "UserPromptSubmit" });
  Deno.writeTextFileSync(await it.activity.file("broken"), "{");
  const listed = await it.start(["watchdog", "list", "--json"]).ended();
  assertEquals([listed.status, listed.stderr], [0, ""]);
  const rows: readonly {
    readonly file: string;
    readonly session_id?: string;
    readonly state: string;
  }[] = JSON.parse(listed.stdout);
  // The list also shows what stands in the folder of last resort, which all users of this machine share.
  const own = rows.filter(({ file }) => file.startsWith(it.folder));
  const states = Object.fromEntries(own.map((row) => [row.session_id ?? "broken", row.state]));
  assertEquals(states, {
    working: "working",
    agents: "waiting:agents(4)",
    human: "waiting:human",
    ended: "ended",
    dead: "dead",
    broken: "unreadable",
  });
  const { stdout } = await it.start(["watchdog", "list"]).ended();
  for (const line of stdout.split("\n")) assert(line.length <= 80, line);
  assertEquals((await status(it, "working")).status, 0);
  assertEquals((await status(it, "ended")).status, 2);
  assertEquals((await status(it, "nobody")).status, 3);
});

async function status(it: WatchdogHome, session: string): Promise<RunResult> {
  return await it.start(["watchdog", "status", "--check", "--session", session]).ended();
}

Deno.test("watchdog list --prune: only what is long over goes (79)", async () => {
  await using it = home();
  const old = Date.now() / 1000 - 2 * 24 * 3_600;
  const end = { hook_event_name: "SessionEnd", reason: "other" };
  for (const session_id of ["old-ended", "new-ended", "live", "old-dead"]) {
    await it.activity.send({ hook_event_name: "UserPromptSubmit", session_id });
  }
  for (const session_id of ["old-ended", "new-ended"]) {
    await it.activity.send({ ...end, session_id });
  }
  const change = async (session: string, from: RegExp, to: string): Promise<void> => {
    const file = await it.activity.file(session);
    Deno.writeTextFileSync(file, textOf(file).replace(from, to));
  };
  await change("old-ended", /"ended_at":[0-9.]+/, `"ended_at":${old}`);
  await change("old-dead", /"updated_at":[0-9.]+/, `"updated_at":${old}`);
  await change("old-dead", /"pid_identity":"[^"]*"/, '"pid_identity":"1@1"');
  const foreign = `${it.activity.state}/somebody-else.json`;
  Deno.writeTextFileSync(foreign, "{}");
  // A session that starts takes away a few of those whose files are old.
  const gone = await it.activity.file("old-dead");
  Deno.utimeSync(gone, old, old);
  await it.activity.send({ hook_event_name: "SessionStart", session_id: "live" });
  assertEquals(exists(gone), false);
  const { stdout } = await it.start(["watchdog", "list", "--prune"]).ended();
  assertEquals(stdout, "1 session(s) removed\n");
  const there = await Promise.all(
    ["old-ended", "new-ended", "live", "old-dead"].map(async (session) =>
      exists(await it.activity.file(session))
    ),
  );
  assertEquals([...there, exists(foreign)], [false, true, true, false, true]);
});
