/**
 * Draining and acknowledging the wake queue with the executable: what is shown, what is asked for, and
 * what is left.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { identityOf } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import { runProgram, type RunResult, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

const RECEIPT =
  /^WAKE_ACK_REQUIRED: after handling completes run (.+) --ack-through ([0-9]+) --recovery-generation ([A-Za-z0-9._-]+)$/;

/** Runs a mode in a home, as a session that stands in it does. */
function run(home: TestHome, args: readonly string[], env = {}): Promise<RunResult> {
  return runTurnguard(args, { cwd: home.root, env: { ...home.env, ...env } });
}

function row(sequence: number, kind: string, key: string, payload = `${kind}: ${key}`): string {
  return `1796073535\t${sequence}\t${kind}\t${key}\t${payload}\n`;
}

function queue(home: TestHome, ...rows: readonly string[]): TestHome {
  return home.write("state/.wake-queue", rows.join(""));
}

function queued(home: TestHome): string {
  return Deno.readTextFileSync(home.path("state/.wake-queue"));
}

/** The marker's line; `new` for a generation other than `g`. */
function marker(home: TestHome): string {
  const text = Deno.readTextFileSync(home.path("state/.watcher-down"));
  return text.replace(/:(?!g\n)[^:\n]+\n$/, ":new\n").trimEnd();
}

interface Receipt {
  readonly command: string;
  readonly through: string;
  readonly generation: string;
}

/** The receipt that a drain asks for, as its last line. */
function receiptOf({ stderr }: RunResult): Receipt {
  const line = stderr.trimEnd().split("\n").at(-1) ?? "";
  assertMatch(line, RECEIPT);
  const [, command = "", through = "", generation = ""] = RECEIPT.exec(line) ?? [];
  return { command, through, generation };
}

function acknowledge(home: TestHome, through: string, generation: string): Promise<RunResult> {
  const flags = ["--ack-through", through, "--recovery-generation", generation];
  return run(home, ["wake", "ack", ...flags]);
}

const SILENT: RunResult = { status: 0, stdout: "", stderr: "" };

Deno.test("wake drain: shows the rows, keeps them, and names what ends them", async () => {
  await using home = queue(makeHome(), row(3, "signal", "a"), row(7, "check", "b"));
  home.write("state/.watcher-down", "pending:downtime:g\n");
  const first = await run(home, ["wake", "drain"]);
  assertEquals([first.status, first.stdout], [0, row(3, "signal", "a") + row(7, "check", "b")]);
  assertEquals(receiptOf(first), { command: "turnguard wake ack", through: "7", generation: "g" });
  assertEquals(first.stderr.split("\n").length, 2, "nothing else is said");
  assertEquals(marker(home), "pending:handling:g");
  assertEquals(await run(home, ["wake", "drain"]), first);
  assertEquals(await run(home, ["drain"]), first);
  assertEquals(queued(home), row(3, "signal", "a") + row(7, "check", "b"));
});

Deno.test("wake drain: what each marker becomes, with rows and without", async () => {
  const table: readonly (readonly [found: string | undefined, rows: string, none: string])[] = [
    [undefined, "pending:handling:new", "absent"],
    ["pending:downtime:g", "pending:handling:g", "pending:handling:g"],
    ["pending:handling:g", "pending:handling:g", "pending:handling:g"],
    ["announced:downtime:g", "announced:handling:g", "announced:handling:g"],
    ["announced:handling:g", "announced:handling:g", "announced:handling:g"],
    ["acked:downtime:g", "pending:handling:new", "acked:downtime:g"],
    ["acked:handling:g", "pending:handling:new", "acked:handling:g"],
  ];
  for (const [found, withRows, without] of table) {
    for (const rows of [[row(4, "signal", "a")], []]) {
      await using home = queue(makeHome(), ...rows);
      if (found !== undefined) home.write("state/.watcher-down", `${found}\n`);
      const result = await run(home, ["wake", "drain"]);
      const expected = rows.length > 0 ? withRows : without;
      assertEquals(result.status, 0, found);
      if (expected === "absent") assertEquals(result, SILENT);
      else assertEquals(marker(home), expected, found);
      const asked = expected.includes(":handling:") && !expected.startsWith("acked");
      if (asked) assertEquals(receiptOf(result).through, rows.length > 0 ? "4" : "0", found);
      else assertEquals(result, SILENT, found);
    }
  }
});

Deno.test("wake drain: rows with an invalid marker are not shown, and nothing changes", async () => {
  for (const make of ["text", "directory"]) {
    await using home = queue(makeHome(), row(4, "signal", "a"));
    if (make === "text") home.write("state/.watcher-down", "nonsense\n");
    else Deno.mkdirSync(home.path("state/.watcher-down"));
    const before = snapshot(home.state);
    const result = await run(home, ["wake", "drain"]);
    assertEquals(result, {
      status: 1,
      stdout: "",
      stderr: "wake drain: durable wakes have invalid recovery state\n",
    });
    assertEquals(snapshot(home.state), before, make);
  }
});

Deno.test("wake drain: rows about the same thing show once, all heartbeats as one", async () => {
  await using home = queue(
    makeHome(),
    row(1, "signal", "t.status", "first"),
    row(2, "heartbeat", "x"),
    row(3, "heartbeat", "y"),
    row(4, "signal", "t.status", "last"),
  );
  const result = await run(home, ["wake", "drain"]);
  assertEquals(result.stdout, row(4, "signal", "t.status", "last") + row(3, "heartbeat", "y"));
  assertEquals(receiptOf(result).through, "4");
});

Deno.test("wake drain: what is no row is removed and shown, twenty lines of it at most", async () => {
  const broken = Array.from({ length: 25 }, (_, at) => `broken ${at}\tof two\n`);
  await using home = queue(makeHome(), row(1, "signal", "a"), ...broken, row(2, "signal", "b"));
  const result = await run(home, ["wake", "drain"]);
  assertEquals([result.status, result.stdout], [0, row(1, "signal", "a") + row(2, "signal", "b")]);
  const [said, ...lines] = result.stderr.trimEnd().split("\n");
  assertEquals(said, "wake drain: removed 25 structurally unusable rows from the queue:");
  assertEquals(lines.slice(0, -1), broken.slice(0, 20).map((line) => line.trimEnd()));
  assertEquals(queued(home), row(1, "signal", "a") + row(2, "signal", "b"));
});

Deno.test("wake drain: nothing in a row or a broken line can steer a terminal", async () => {
  await using home = queue(
    makeHome(),
    row(1, "signal", "a\u001b[2J", "\u009b31m\u202e"),
    "\u001b]0;broken\u0007\n",
  );
  const { stdout, stderr } = await run(home, ["wake", "drain"]);
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;
  assertEquals([stdout.match(steering), stderr.match(steering)], [null, null]);
  assert(stdout.includes("a\\x1b[2J"), stdout);
});

Deno.test("wake drain: rows that a live branch has taken on are left to it", async () => {
  await using home = queue(makeHome(), row(4, "signal", "a"), row(5, "signal", "b"));
  const branch = home.sleeper();
  const owner = (pid: number, identity: string): string =>
    `fm-branch-eligible-owner-v1\n${pid}\n${identity}\ng-1\n`;
  const identity = await identityOf(branch.pid);
  home.write("state/.branch-eligible-rows", "4\n").write(
    "state/.branch-eligible-owner",
    owner(branch.pid, identity),
  );
  const reserved = await run(home, ["wake", "drain"]);
  assertEquals([reserved.stdout, receiptOf(reserved).through], [row(5, "signal", "b"), "5"]);
  assertEquals((await run(home, ["wake", "drain", "--queued"])).stdout, row(5, "signal", "b"));
  for (
    const [rows, text] of [
      ["4\n", owner(branch.pid, `${identity}00`)],
      ["4\n", owner(1, identity)],
      ["4\n4\n", owner(branch.pid, identity)],
      ["4\nx\n", owner(branch.pid, identity)],
      ["", owner(branch.pid, identity)],
      ["4\n", `${owner(branch.pid, identity)}more\n`],
    ] as const
  ) {
    home.write("state/.branch-eligible-rows", rows).write("state/.branch-eligible-owner", text);
    const all = await run(home, ["wake", "drain"]);
    assertEquals(all.stdout, row(4, "signal", "a") + row(5, "signal", "b"), rows + text);
  }
});

Deno.test("wake drain: a live holder of the queue's lock is named, and nothing changes", async () => {
  await using home = queue(makeHome(), row(1, "signal", "a"));
  const holder = home.sleeper();
  home.write("state/.wake-queue.lock/pid", `${holder.pid}\n`);
  const before = snapshot(home.state);
  const [drained, acked] = await Promise.all([
    run(home, ["wake", "drain"]),
    acknowledge(home, "1", "g"),
  ]);
  assertEquals([drained.status, drained.stdout], [0, ""]);
  assertMatch(drained.stderr, new RegExp(`^wake drain: .*pid ${holder.pid}.*\n$`));
  assertEquals([acked.status, acked.stdout], [1, ""]);
  assertMatch(acked.stderr, new RegExp(`^wake drain: .*pid ${holder.pid}.*\n$`));
  assertEquals(snapshot(home.state), before);
});

Deno.test("wake drain: rows that their reader did not take are not asked to be acknowledged", async () => {
  await using home = queue(makeHome(), row(1, "signal", "a"));
  const script = '"$@" >/dev/full; echo "status $?"';
  const command = ["/bin/sh", "-c", script, "-", TURNGUARD, "wake", "drain", ...home.args];
  const { stdout, stderr } = await runProgram(command);
  assertEquals(stdout, "status 1\n");
  assert(!stderr.includes("WAKE_ACK_REQUIRED"), stderr);
  assertEquals(queued(home), row(1, "signal", "a"));
});

Deno.test("wake drain: a home with the fleet's script names that, a named home is named again", async () => {
  await using home = queue(makeHome({ name: "two words" }), row(1, "signal", "a"));
  const named = await runTurnguard(["wake", "drain", ...home.args]);
  assertEquals(receiptOf(named).command, `turnguard wake ack --root '${home.root}'`);
  home.write("bin/fm-wake-drain.sh", "#!/bin/sh\n");
  assertEquals(receiptOf(await run(home, ["wake", "drain"])).command, "bin/fm-wake-drain.sh");
});

Deno.test("wake drain: the environment names another queue and another lock", async () => {
  await using home = queue(makeHome(), row(1, "signal", "not this one"));
  const other = { FM_WAKE_QUEUE: home.path("q"), FM_WAKE_QUEUE_LOCK: home.path("l") };
  home.write("q", row(9, "signal", "this one"));
  home.write("state/.wake-queue.lock/pid", `${home.sleeper().pid}\n`);
  const drained = await run(home, ["wake", "drain"], other);
  assertEquals([drained.status, drained.stdout], [0, row(9, "signal", "this one")]);
});

Deno.test("wake drain --queued: the rows in the order of their arrival, without any trace", async () => {
  const rows = [row(1, "signal", "a", "1"), row(2, "heartbeat", "x"), row(3, "signal", "a", "3")];
  await using home = queue(makeHome(), ...rows);
  home.write("state/.wake-queue.lock/pid", `${home.sleeper().pid}\n`);
  const before = snapshot(home.state);
  const result = await run(home, ["wake", "drain", "--queued"]);
  assertEquals(result, { status: 0, stdout: rows.join(""), stderr: "" });
  assertEquals(snapshot(home.state), before);
  home.remove("state/.wake-queue");
  assertEquals(await run(home, ["wake", "drain", "--queued"]), SILENT);
});

Deno.test("wake drain --queued: a queue with a line that is no row is a failure", async () => {
  await using home = queue(makeHome(), row(1, "signal", "a"), "broken\n");
  const { status, stdout } = await run(home, ["wake", "drain", "--queued"]);
  assertEquals([status, stdout], [1, ""]);
});

Deno.test("wake ack: consumes what was handled and retires the episode, again and again", async () => {
  await using home = queue(makeHome(), row(3, "signal", "a"), row(7, "signal", "b"));
  home.write("state/.watcher-down", "announced:downtime:g\n");
  await run(home, ["wake", "drain"]);
  for (let time = 0; time < 2; time++) {
    assertEquals(await acknowledge(home, "7", "g"), SILENT);
    assertEquals([queued(home), marker(home)], ["", "acked:handling:g"]);
  }
  assertEquals(await run(home, ["wake", "drain"]), SILENT);
});

Deno.test("wake drain: acknowledges with the flags of its own receipt", async () => {
  await using home = queue(makeHome(), row(3, "signal", "a"));
  const { through, generation } = receiptOf(await run(home, ["drain"]));
  const flags = [`--ack-through=${through}`, `--recovery-generation=${generation}`];
  assertEquals(await run(home, ["drain", ...flags]), SILENT);
  assertEquals([queued(home), marker(home)], ["", "acked:handling:new"]);
});

Deno.test("wake ack: rows that came later stay, and so does the episode", async () => {
  await using home = queue(makeHome(), row(7, "signal", "a"));
  home.write("state/.watcher-down", "pending:handling:g\n");
  queue(home, row(7, "signal", "a"), row(8, "signal", "b"), row(9, "signal", "c"));
  assertEquals(await acknowledge(home, "7", "g"), SILENT);
  assertEquals(queued(home), row(8, "signal", "b") + row(9, "signal", "c"));
  assertEquals(marker(home), "pending:handling:g");
});

Deno.test("wake ack: a receipt of an episode that is over leaves the newer one alone", async () => {
  await using home = queue(makeHome(), row(8, "signal", "b"));
  home.write("state/.watcher-down", "pending:downtime:g\n");
  const kept = await acknowledge(home, "7", "older");
  assertEquals([kept.status, queued(home)], [0, row(8, "signal", "b")]);
  assertMatch(kept.stderr, /newer.*re-run turnguard wake drain.*WAKE_ACK_REQUIRED/);
  const consumed = await acknowledge(home, "8", "older");
  assertEquals([consumed.status, queued(home), marker(home)], [0, "", "pending:downtime:g"]);
  assertMatch(consumed.stderr, /re-run turnguard wake drain.*WAKE_ACK_REQUIRED/);
});

Deno.test("wake ack: lines that are no rows cannot be acknowledged away", async () => {
  await using home = queue(makeHome(), row(1, "signal", "a"), "broken\n");
  home.write("state/.watcher-down", "pending:handling:g\n");
  assertEquals(await acknowledge(home, "9".repeat(400), "g"), SILENT);
  assertEquals([queued(home), marker(home)], ["broken\n", "pending:handling:g"]);
});

Deno.test("wake ack: an episode that cannot be retired leaves the queue untouched", async () => {
  await using home = queue(makeHome(), row(1, "signal", "a"));
  home.write("state/.watcher-down", "pending:handling:g\n");
  home.write("state/.watcher-down.lock/pid", `${home.sleeper().pid}\n`);
  const before = snapshot(home.state);
  assertEquals(await acknowledge(home, "1", "g"), {
    status: 1,
    stdout: "",
    stderr:
      "wake drain: recovery episode could not be retired safely; re-run turnguard wake drain " +
      "and use the new WAKE_ACK_REQUIRED command\n",
  });
  assertEquals(snapshot(home.state), before);
});

Deno.test("wake: a command line that says too little or too much does nothing", async () => {
  await using home = queue(makeHome(), row(1, "signal", "a"));
  home.write("state/.watcher-down", "pending:downtime:g\n");
  const before = snapshot(home.state);
  const calls = [
    ["wake"],
    ["wake", "drian"],
    ["wake", "drain", "list"],
    ["wake", "ack"],
    ["wake", "ack", "--ack-through", "1"],
    ["wake", "ack", "--recovery-generation", "g"],
    ["drain", "--ack-through", "1"],
    ["drain", "--ack-through", "x", "--recovery-generation", "g"],
    ["drain", "--ack-through=-1", "--recovery-generation", "g"],
    ["drain", "--ack-through", "1", "--recovery-generation", "a b"],
    ["drain", "--ack-through", "1", "--recovery-generation", "g", "--queued"],
    ["wake", "list", "--queued"],
    ["wake", "list", "--ack-through", "1", "--recovery-generation", "g"],
    ["wake", "drain", "--json"],
    ["wake", "drain", "--nonsense"],
  ];
  for (const args of calls) {
    const { status, stdout, stderr } = await run(home, args);
    assertEquals([status, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
    assertMatch(stderr, /^turnguard (wake|drain): .*nothing was done.*\n$/);
  }
  assertEquals(snapshot(home.state), before);
});

Deno.test("wake: without a state directory it says so and makes none", async () => {
  await using home = makeHome();
  home.remove("state");
  for (const args of [["wake", "list"], ["wake", "drain"], ["wake", "drain", "--queued"]]) {
    const { status, stdout, stderr } = await run(home, args);
    assertEquals([status, stdout], [1, ""]);
    assertMatch(stderr, /no state directory/);
  }
  assertEquals([...Deno.readDirSync(home.root)].some((entry) => entry.name === "state"), false);
});

Deno.test("wake list: shows what a drain would show, and changes nothing", async () => {
  await using home = queue(
    makeHome(),
    row(1, "signal", "a", "1"),
    "broken\n",
    row(2, "signal", "a"),
  );
  home.write("state/.watcher-down", "pending:downtime:g\n");
  home.write("state/.wake-queue.lock/pid", `${home.sleeper().pid}\n`);
  const before = snapshot(home.state);
  const json = await run(home, ["wake", "list", "--json"]);
  assertEquals([json.status, json.stderr], [0, ""]);
  assertEquals(JSON.parse(json.stdout), {
    queue: home.path("state/.wake-queue"),
    rows: [{
      sequence: 2,
      queuedAt: 1_796_073_535,
      kind: "signal",
      key: "a",
      payload: "signal: a",
      reserved: false,
    }],
    unusable: 1,
    recovery: { status: "pending", kind: "downtime", generation: "g" },
  });
  const text = await run(home, ["wake", "list"]);
  assertEquals(text.status, 0);
  assertMatch(
    text.stdout,
    /^1 wake queued in .*\n +2 .* signal a\n +signal: a\n1 line .*\nrecovery: /,
  );
  assertEquals(snapshot(home.state), before);
});
