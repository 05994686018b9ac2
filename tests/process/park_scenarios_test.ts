/**
 * The park's states one after the other, over arms of the home's own that do what a test says.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import {
  armRuns,
  type Hook,
  isRunning,
  openSession,
  says,
  writeArm,
} from "../support/claude_session.ts";
import {
  BATON,
  BATON_LOCK,
  type CursorHome,
  makeCursorHome,
  messageOf,
  payload,
  REPAIRS,
  saidBy,
  type Scenario,
  scenarios,
} from "../support/cursor_home.ts";
import { exists, textOf } from "../support/files.ts";
import { makeHome } from "../support/home.ts";
import { deadPid, until } from "../support/processes.ts";
import { environmentOf, runProgram, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

const FAILS = [says("watcher: FAILED - nothing"), "exit 1"];
const WAKES = [says("signal: /x/y.status")];
const WAKE = "watcher: firstmate watcher wake - one supervision event needs a handling turn now.";
const HANGS = ["echo $$ >arm.pid", "exec sleep 600"];

/** What a run came to: what it said, how often the arm ran, and the last word of the journal. */
async function outcome(
  home: CursorHome,
  options: Parameters<CursorHome["run"]>[0] = {},
): Promise<string> {
  const said = saidBy(await home.run(options));
  return `${said} | ${armRuns(home.home)} | ${home.journal().at(-1)}`;
}

function repairWith(n: number, attempts = "2 arm attempts", budget = 3): string {
  return `turn-end-guard: TURN WOULD END BLIND - after ${attempts} no live watcher with a fresh ` +
    `beacon was verified (nag ${n} of ${budget}).`;
}

/** Starts a park whose arm hangs, and waits until it runs. */
async function hanging(home: CursorHome): Promise<{ readonly hook: Hook; readonly arm: number }> {
  writeArm(home.home, ...HANGS);
  const hook = await home.start();
  await until(() => textOf(home.path("arm.pid")).endsWith("\n"));
  return { hook, arm: Number(textOf(home.path("arm.pid"))) };
}

/** A scenario whose arm brings a wake, but where something else comes first. */
function silenced(
  name: string,
  code: string,
  arrange: (home: CursorHome) => unknown,
  options: Parameters<CursorHome["run"]>[0] = {},
): Scenario {
  return [name, async (home) => {
    writeArm(home.home, ...WAKES);
    await arrange(home);
    assertEquals(await outcome(home, options), `silent | 0 | ${code}`);
    assertEquals(home.litter(), []);
  }];
}

scenarios("park: P0 to P3, what is asked before the baton is taken", [
  ...["", " \n", "{", "[]", '"x"', "{}{}", '{"loop_count":true}', '{"loop_count":1e400}'].map(
    (stdin): Scenario => [`payload ${JSON.stringify(stdin)}`, async (home) => {
      writeArm(home.home, ...WAKES);
      assertEquals(saidBy(await home.run({ stdin })), "silent");
      assertEquals([armRuns(home.home), home.sequence()], [0, 0]);
    }],
  ),
  silenced("a task worktree is not touched", "undefined", (home) => {
    home.home.remove(".git").write(".git", "gitdir: /nowhere/worktrees/x\n");
  }),
  silenced("no AGENTS.md", "undefined", (home) => home.home.remove("AGENTS.md")),
  silenced("run by Pi", "stand-down pi-host", () => {}, { env: { PI_CODING_AGENT: "true" } }),
  ["run by Cursor below Pi", async (home) => {
    writeArm(home.home, ...WAKES);
    for (const name of ["CURSOR_AGENT", "CURSOR_INVOKED_AS"]) {
      assertEquals(saidBy(await home.run({ env: { PI_CODING_AGENT: "true", [name]: "x" } })), WAKE);
    }
    assertEquals(saidBy(await home.run({ env: { PI_CODING_AGENT: "1" } })), WAKE);
  }],
  ["another live session", async (home) => {
    writeArm(home.home, ...WAKES);
    const other = await openSession(home.home, { name: "claude" });
    await using _other = other;
    other.hold();
    assertEquals(await outcome(home), "silent | 0 | stand-down not-our-session");
    assertEquals([home.sequence(), textOf(home.path("state/.lock"))], [0, `${other.pid}\n`]);
  }],
  silenced("no session lock", "stand-down not-our-session", (home) => {
    home.home.remove("state/.lock");
  }),
  silenced("a malformed session lock", "stand-down not-our-session", (home) => {
    home.home.write("state/.lock", "nobody\n");
  }),
  ["a holder that is gone is replaced", async (home) => {
    writeArm(home.home, ...WAKES);
    home.home.write("state/.lock", `${await deadPid()}\n`);
    assertEquals(await outcome(home), `${WAKE} | 1 | followup wake`);
    assertEquals(textOf(home.path("state/.lock")), `${home.session.pid}\n`);
  }],
]);

scenarios("park: P4, the baton", [
  ["a claim counts on, in the line that everybody reads", async (home) => {
    writeArm(home.home, ...WAKES);
    home.home.write(BATON, "seq=12 pid=60211 updated_at=1790000000\n");
    const hook = await home.start();
    assertEquals(saidBy(await hook.ended()), WAKE);
    const [, updated] = new RegExp(`^seq=13 pid=${hook.pid} updated_at=([0-9]+)\n$`)
      .exec(textOf(home.path(BATON))) ?? [];
    assert(Math.abs(Number(updated) - Date.now() / 1000) < 3600, textOf(home.path(BATON)));
  }],
  ["what is no baton counts as none", async (home) => {
    writeArm(home.home, ...WAKES);
    for (const text of ["", "seq=x pid=1\n", "seq=7", " seq=7 pid=1\n", "\nseq=7 pid=1\n"]) {
      home.home.write(BATON, text);
      assertEquals(saidBy(await home.run()), WAKE, text);
      assertEquals(home.sequence(), 1, text);
    }
  }],
  ["a lock that is held is not waited for without end", async (home) => {
    writeArm(home.home, ...WAKES);
    home.home.write(`${BATON_LOCK}/pid`, `${home.home.sleeper().pid}\n`);
    assertEquals(
      await outcome(home, { env: { FM_CURSOR_LOCK_ATTEMPTS: "2" } }),
      "silent | 0 | silent lock-busy",
    );
    assertEquals(home.sequence(), 0);
  }],
  ["a lock of a process that is gone is taken", async (home) => {
    writeArm(home.home, ...WAKES);
    home.home.write(`${BATON_LOCK}/pid`, `${await deadPid()}\n`);
    assertEquals(await outcome(home), `${WAKE} | 1 | followup wake`);
  }],
  ["a baton that cannot be written", async (home) => {
    writeArm(home.home, ...WAKES);
    home.home.write(`${BATON}/x`);
    assertEquals(await outcome(home), "silent | 0 | silent state-unwritable");
    assertEquals(home.litter(), []);
  }],
]);

const CEILING = { FM_CURSOR_TURNEND_LOOP_CEILING: "5" };
const AT = payload({ loop_count: 5 });

scenarios("park: P5 to P8, what is asked before an arm starts", [
  ["the ceiling is told once, and loudly", async (home) => {
    writeArm(home.home, ...WAKES);
    const message = messageOf(await home.run({ env: CEILING, stdin: AT }));
    for (
      const text of ["CEILING REACHED", "5 follow-ups", "bin/fm-wake-drain.sh", "WAKE_ACK_REQUIRED"]
    ) assertStringIncludes(message, text);
    for (const loop_count of [6, 7, 200]) {
      assertEquals(
        await outcome(home, { env: CEILING, stdin: payload({ loop_count }) }),
        "silent | 0 | silent past-ceiling",
      );
    }
    assertEquals(
      await outcome(home, { env: CEILING, stdin: payload({ loop_count: 0 }) }),
      `${WAKE} | 1 | followup wake`,
    );
  }],
  ["a ceiling that is no number is 180", async (home) => {
    writeArm(home.home, ...WAKES);
    for (const text of ["0", "x", "-5"]) {
      const env = { FM_CURSOR_TURNEND_LOOP_CEILING: text };
      assertEquals(saidBy(await home.run({ env, stdin: payload({ loop_count: 179 }) })), WAKE);
    }
  }],
  silenced("the ceiling with nothing in flight", "silent at-ceiling-idle", (home) => {
    home.home.remove("state/task1.meta");
  }, { env: CEILING, stdin: AT }),
  silenced("the ceiling in away mode", "silent away", (home) => home.home.away(), {
    env: CEILING,
    stdin: AT,
  }),
  ["away mode keeps the budget", async (home) => {
    writeArm(home.home, ...WAKES);
    home.home.away().write(REPAIRS, "session=conv-1\ncount=2\n");
    assertEquals(await outcome(home), "silent | 0 | silent away");
    assertEquals([home.sequence(), exists(home.path(REPAIRS))], [1, true]);
  }],
  ["nothing in flight forgets the budget", async (home) => {
    writeArm(home.home, ...WAKES);
    home.home.remove("state/task1.meta").write(REPAIRS, "session=conv-1\ncount=2\n");
    assertEquals(await outcome(home), "silent | 0 | silent no-need");
    assertFalse(exists(home.path(REPAIRS)));
  }],
  ["relay settings reach the arm", async (home) => {
    writeArm(home.home, `printf 'signal: %s\\n' "$FM_POLL:$FM_CHECK_INTERVAL"`);
    home.home.write("config/x-mode.env", "export FM_CHECK_INTERVAL='30'\nFM_POLL=7\n");
    assertStringIncludes(messageOf(await home.run()), "\nsignal: 7:30\n");
  }],
]);

scenarios("park: P9, what an arm comes to", [
  ["the first arm fails, the second brings a wake", async (home) => {
    writeArm(home.home, '[ "$(wc -l <arm.log)" -gt 1 ] || exit 1', ...WAKES);
    assertEquals(await outcome(home), `${WAKE} | 2 | followup wake`);
  }],
  ["up to eight lines of a wake are told in their order, and nothing else", async (home) => {
    const lines = Array.from({ length: 10 }, (_, index) => `signal: /x/${index}.status`);
    writeArm(home.home, says("watcher: started", "noise", ...lines, "heartbeat"));
    const message = messageOf(await home.run());
    const [first, ...rest] = message.split("\n");
    assertEquals(`watcher: ${first?.replace(/^.*? watcher: /, "")}`, WAKE);
    assertEquals(rest.slice(0, 9), [...lines.slice(0, 8), ""]);
    const instruction = rest[9] ?? "";
    const places = [
      "bin/fm-wake-drain.sh",
      "WAKE_ACK_REQUIRED",
      "--ack-through",
      "do NOT run bin/fm-watch-arm.sh",
    ]
      .map((text) => instruction.indexOf(text));
    assertEquals(places, places.toSorted((a, b) => a - b));
    assert(places.every((place) => place >= 0), instruction);
  }],
  ...["heartbeat", "heartbeat: x", "stale: t", "check: c"].map((line): Scenario => [
    `a wake of the kind ${line}`,
    async (home) => {
      writeArm(home.home, says(line));
      assertEquals(await outcome(home), `${WAKE} | 1 | followup wake`);
    },
  ]),
  ["what only looks like a wake is none", async (home) => {
    writeArm(home.home, says("heartbeats", " signal: x", "check"));
    assertEquals(await outcome(home), `${repairWith(1)} | 2 | followup repair`);
  }],
  ["a line of standard error is a wake as well", async (home) => {
    writeArm(home.home, "echo 'signal: x' >&2");
    assertEquals(await outcome(home), `${WAKE} | 1 | followup wake`);
  }],
  ["a healthy watcher ends the park in silence and forgets the budget", async (home) => {
    await home.home.watcher(0);
    home.home.write(REPAIRS, "session=conv-1\ncount=2\n");
    writeArm(home.home, ...FAILS);
    assertEquals(await outcome(home), "silent | 1 | silent healthy");
    assertFalse(exists(home.path(REPAIRS)));
  }],
  ["an arm that cannot be started counts as one that failed", async (home) => {
    home.home.write("bin/fm-watch-arm.sh", "#!/nowhere/interpreter\n");
    Deno.chmodSync(home.path("bin/fm-watch-arm.sh"), 0o755);
    assertEquals(await outcome(home), `${repairWith(1)} | 0 | followup repair`);
  }],
  ...([["1", 1], ["3", 3], ["4", 2], ["x", 2]] as const).map(([text, runs]): Scenario => [
    `${text} attempts`,
    async (home) => {
      writeArm(home.home, ...FAILS);
      const attempts = runs === 1 ? "1 arm attempt" : `${runs} arm attempts`;
      assertEquals(
        await outcome(home, { env: { FM_CURSOR_PARK_ATTEMPTS: text } }),
        `${repairWith(1, attempts)} | ${runs} | followup repair`,
      );
    },
  ]),
]);

/** What happens while the arm of a park hangs, and the word in the journal. */
const LEAVES: readonly (readonly [string, string, (home: CursorHome) => unknown])[] = [
  ["a newer claim", "superseded", (home) => home.home.write(BATON, "seq=99 pid=1 updated_at=1\n")],
  ["a baton that was removed", "superseded", (home) => home.home.remove(BATON)],
  ["another session's lock", "session-lost", (home) => {
    home.home.write("state/.lock", `${home.home.sleeper().pid}\n`);
  }],
  ["a session lock that was released", "session-lost", (home) => home.home.remove("state/.lock")],
  ["away mode", "away", (home) => home.home.away()],
  ["quiet mode", "away", (home) => home.home.away("quiet\n")],
];

scenarios("park: P9, a park that has to leave ends its arm and says nothing", [
  ...LEAVES.map(([name, code, arrange]): Scenario => [name, async (home) => {
    home.home.write(REPAIRS, "session=conv-1\ncount=2\n");
    const { hook, arm } = await hanging(home);
    arrange(home);
    assertEquals(saidBy(await hook.ended()), "silent");
    assertEquals([isRunning(arm), home.journal().at(-1)], [false, `silent ${code}`]);
    assertEquals(textOf(home.path(REPAIRS)), "session=conv-1\ncount=2\n");
    assertEquals(home.litter(), []);
  }]),
  ...(["SIGTERM", "SIGINT", "SIGHUP"] as const).map((signal): Scenario => [signal, async (home) => {
    const { hook, arm } = await hanging(home);
    hook.signal(signal);
    assertEquals(saidBy(await hook.ended()), "silent");
    assertEquals([isRunning(arm), home.journal().at(-1)], [false, "silent signalled"]);
    assertEquals(home.litter(), []);
  }]),
  ["an arm that does not listen", async (home) => {
    writeArm(home.home, "trap '' TERM", "echo $$ >arm.pid", "while :; do sleep 0.1; done");
    const hook = await home.start();
    await until(() => textOf(home.path("arm.pid")).endsWith("\n"));
    hook.signal("SIGTERM");
    assertEquals(saidBy(await hook.ended()), "silent");
    assertFalse(isRunning(Number(textOf(home.path("arm.pid")))));
  }],
  ["the end of its session", async (home) => {
    const { hook, arm } = await hanging(home);
    await home.session.crash();
    await until(() => !isRunning(hook.pid) && !isRunning(arm));
    assertEquals(home.journal().at(-1)?.split(" ")[0], "silent");
  }],
]);

/** What an arm does right before it brings its wake, and the word in the journal. */
const LATE: readonly (readonly [string, string, string])[] = [
  ["a newer claim", "superseded", `echo 'seq=99 pid=1 updated_at=1' >${BATON}`],
  ["another session's lock", "session-lost", "echo 1 >state/.lock"],
  ["away mode", "away", "echo away >state/.afk"],
  ["the end of the need", "no-need", "rm state/task1.meta"],
  [
    "a lock that somebody holds",
    "lock-busy",
    `mkdir ${BATON_LOCK}; echo $OTHER >${BATON_LOCK}/pid`,
  ],
  ["a budget that cannot be removed", "state-unwritable", `mkdir ${REPAIRS}`],
];

scenarios("park: P10 and P11, the last look before a wake is told", [
  ...LATE.map(([name, code, command]): Scenario => [name, async (home) => {
    const other = home.home.sleeper();
    // The poll must not come first.
    const env = {
      FM_CURSOR_PARK_POLL: "600",
      FM_CURSOR_LOCK_ATTEMPTS: "2",
      OTHER: String(other.pid),
    };
    writeArm(home.home, command, ...WAKES);
    assertEquals(await outcome(home, { env }), `silent | 1 | silent ${code}`);
  }]),
  ["a wake forgets the budget", async (home) => {
    home.home.write(REPAIRS, "session=conv-1\ncount=3\n");
    writeArm(home.home, ...WAKES);
    assertEquals(await outcome(home), `${WAKE} | 1 | followup wake`);
    assertFalse(exists(home.path(REPAIRS)));
  }],
]);

scenarios("park: P13, repair follow-ups and their budget", [
  ["are given up to the budget, then silence, and to every session its own", async (home) => {
    writeArm(home.home, ...FAILS);
    for (const nag of [1, 2, 3]) {
      assertEquals(saidBy(await home.run()), repairWith(nag));
      assertEquals(textOf(home.path(REPAIRS)), `session=conv-1\ncount=${nag}\n`);
    }
    assertEquals(await outcome(home), "silent | 8 | silent budget-spent");
    assertEquals(saidBy(await home.run({ stdin: payload({}, "conv-2") })), repairWith(1));
    assertEquals(textOf(home.path(REPAIRS)), "session=conv-2\ncount=1\n");
    assertEquals(home.litter(), []);
  }],
  ["carry the guard's banner and the arm's own words", async (home) => {
    writeArm(home.home, says("noise", ...[1, 2, 3, 4, 5].map((n) => `watcher: FAILED ${n}`)));
    const lines = messageOf(await home.run()).split("\n");
    assertEquals(lines.slice(1, 6), [1, 2, 3, 4].map((n) => `watcher: FAILED ${n}`).concat(""));
    const banner = lines.slice(6).join("\n");
    assertStringIncludes(banner, "SUPERVISION IS OFF");
    assertStringIncludes(banner, "1 task(s) in flight");
    assertStringIncludes(banner, "stop-hook park");
    const guard = await runTurnguard(["stop", "--cursor", ...home.home.args], {
      env: home.home.env,
      stdin: payload(),
    });
    assertEquals(`${banner}\n`, guard.stderr);
  }],
  ["another budget", async (home) => {
    writeArm(home.home, ...FAILS);
    const env = { FM_CURSOR_TURNEND_BLOCK_BUDGET: "1" };
    assertEquals(saidBy(await home.run({ env })), repairWith(1, "2 arm attempts", 1));
    assertEquals(saidBy(await home.run({ env })), "silent");
  }],
  ["a payload that is a continuation already", async (home) => {
    writeArm(home.home, ...FAILS);
    const stdin = payload({ stop_hook_active: true });
    assertEquals(await outcome(home, { stdin }), "silent | 2 | silent guard-allows");
    assertFalse(exists(home.path(REPAIRS)));
  }],
  ["a budget that cannot be written", async (home) => {
    writeArm(home.home, ...FAILS);
    home.home.write(`${REPAIRS}/x`);
    assertEquals(await outcome(home), "silent | 2 | silent state-unwritable");
  }],
  ["a need that ends in the last arm forgets the budget", async (home) => {
    writeArm(home.home, "rm -f state/task1.meta", ...FAILS);
    home.home.write(REPAIRS, "session=conv-1\ncount=2\n");
    assertEquals(await outcome(home), "silent | 2 | silent no-need");
    assertFalse(exists(home.path(REPAIRS)));
  }],
  ["a superseded park spends nothing", async (home) => {
    writeArm(home.home, `echo 'seq=99 pid=1 updated_at=1' >${BATON}`, ...FAILS);
    const env = { FM_CURSOR_PARK_POLL: "600" };
    assertEquals(await outcome(home, { env }), "silent | 2 | silent superseded");
    assertFalse(exists(home.path(REPAIRS)));
  }],
  ["stay below 8000 characters, whatever an arm prints", async (home) => {
    const long = `watcher: ${"x".repeat(5_000)}`;
    writeArm(home.home, says(long, long, long, long));
    assert((await home.run()).stdout.length < 8_000);
    writeArm(home.home, says(...Array.from({ length: 8 }, () => `signal: ${"y".repeat(5_000)}`)));
    assert((await home.run()).stdout.length < 8_000);
  }],
]);

scenarios("park: whatever is around it", [
  ["variables of another home are dropped, for the arm as well", async (home) => {
    const other = makeHome();
    await using _other = other;
    writeArm(home.home, `printf 'signal: %s\\n' "[$FM_ROOT_OVERRIDE$FM_STATE_OVERRIDE] $FM_HOME"`);
    const env = {
      FM_ROOT_OVERRIDE: other.root,
      FM_HOME: other.root,
      FM_STATE_OVERRIDE: other.state,
      FM_CONFIG_OVERRIDE: `${other.root}/config`,
    };
    assertStringIncludes(messageOf(await home.run({ env })), `\nsignal: [] ${home.home.root}\n`);
    assertEquals(home.sequence(), 1);
    assertEquals([...Deno.readDirSync(other.state)], []);
  }],
  ["its own override stays, and so does one that leads nowhere", async (home) => {
    writeArm(home.home, ...WAKES);
    const link = `${home.home.folder}/link`;
    Deno.symlinkSync(home.home.root, link);
    assertEquals(saidBy(await home.run({ env: { FM_ROOT_OVERRIDE: link } })), WAKE);
    const env = { FM_ROOT_OVERRIDE: "/nowhere/at/all" };
    assertEquals(saidBy(await home.run({ env })), "silent");
    assertEquals(home.sequence(), 1);
  }],
  ["nobody reads its answer", async (home) => {
    writeArm(home.home, ...WAKES);
    const shell = '"$@" >&-; echo $? >"$STATUS"';
    const hook = await home.start({
      command: ["/bin/sh", "-c", shell, "-", TURNGUARD, "park", ...home.home.args],
      env: { STATUS: home.path("status") },
    });
    await hook.ended();
    assertEquals(textOf(home.path("status")), "0\n");
  }],
  ["the registered command, from a folder that is gone", async (home) => {
    writeArm(home.home, ...WAKES);
    const text = Deno.readTextFileSync(new URL("../../hooks/cursor/hooks.json", import.meta.url));
    const command: string = JSON.parse(text).hooks.stop[0].command.replace(
      "{TG}",
      `'${TURNGUARD}'`,
    );
    const gone = `${home.home.folder}/gone`;
    const words = [
      "/bin/sh",
      "-c",
      'mkdir "$1"; cd "$1"; rmdir "$1"; eval "$2"',
      "-",
      gone,
      command,
    ];
    const env = { CURSOR_PROJECT_DIR: home.home.root };
    assertEquals(saidBy(await home.run({ command: words, env })), WAKE);
    for (const name of ["GROK_AGENT", "GROK_HOOK_EVENT"]) {
      assertEquals(
        saidBy(await home.run({ command: words, env: { ...env, [name]: "1" } })),
        "silent",
      );
    }
    assertEquals(armRuns(home.home), 1);
  }],
  ["a wrong flag is no verdict", async (home) => {
    const run = await runProgram([TURNGUARD, "park", "--wrong"], { env: environmentOf({}) });
    assertEquals([run.status, run.stdout], [1, ""]);
    assertEquals(home.sequence(), 0);
  }],
]);

Deno.test("park: an event that is delivered twice at once has one claim and one answer", async () => {
  const home = await makeCursorHome();
  await using _home = home;
  writeArm(home.home, ...FAILS);
  const stdin = payload();
  home.home.write("in", stdin);
  const three = 'for n in 1 2 3; do "$@" <in >"out.$n" 2>&1 & done; wait';
  const park = [TURNGUARD, "park", ...home.home.args];
  const hook = await home.start({
    command: ["/bin/sh", "-c", `cd "$FM_HOME" && ${three}`, "-", ...park],
  });
  await hook.ended();
  const said = [1, 2, 3].map((n) =>
    saidBy({ status: 0, stdout: textOf(home.path(`out.${n}`)), stderr: "" })
  );
  assertEquals(said.toSorted(), ["silent", "silent", repairWith(1)], home.journal().join("; "));
  assertEquals(home.sequence(), 1);
  assertEquals(textOf(home.path(REPAIRS)), "session=conv-1\ncount=1\n");
  // The same bytes later are another event.
  assertEquals(saidBy(await home.run({ stdin })), repairWith(2));
});
