/**
 * `lock acquire|release|status`: which session may supervise a home, with real sessions.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { type ClaudeSession, exists, openSession, textOf } from "../support/claude_session.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { deadPid, namedShell } from "../support/processes.ts";
import { type RunResult, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

const LOCK = "state/.lock";
const SIDECAR = "state/.lock-session";

type Variables = Readonly<Record<string, string>>;

async function lock(
  home: TestHome,
  session: ClaudeSession,
  words: readonly string[],
  env: Variables = {},
): Promise<RunResult> {
  const command = [TURNGUARD, "lock", ...words, ...home.args];
  return await (await session.start(command, { env })).ended();
}

/** The variables by which Claude names a conversation to its children. */
function conversation(session: ClaudeSession, id: string): Variables {
  return { CLAUDE_CODE_SESSION_ID: id, CLAUDE_PID: String(session.pid) };
}

function scenario(
  name: string,
  work: (home: TestHome, session: ClaudeSession) => Promise<void>,
): void {
  Deno.test(`lock: ${name}`, async () => {
    await using home = makeHome();
    await using session = await openSession(home);
    await work(home, session);
    const left = [...Deno.readDirSync(home.state)].map((entry) => entry.name)
      .filter((file) => /\.lock\.acquire|\.lock-write|\.lock-session\./.test(file));
    assertEquals(left, []);
  });
}

/** A living harness process outside of the session. */
function otherHarness(home: TestHome): number {
  return home.sleeper(namedShell(home.folder, "claude"), ["-c", "read -r line"]).pid;
}

scenario("a free lock is taken, and taking it again changes nothing", async (home, session) => {
  const taken = { status: 0, stdout: `lock acquired: harness pid ${session.pid}\n`, stderr: "" };
  assertEquals(await lock(home, session, ["acquire"]), taken);
  const first = Deno.statSync(home.path(LOCK)).mtime?.getTime();
  assertEquals(await lock(home, session, ["acquire"]), taken);
  assertEquals(textOf(home.path(LOCK)), `${session.pid}\n`);
  assertEquals(Deno.statSync(home.path(LOCK)).mtime?.getTime(), first);
  assertEquals(exists(home.path(SIDECAR)), false);
});

scenario(
  "a conversation that can be trusted is recorded, and follows its session",
  async (home, session) => {
    await lock(home, session, ["acquire"], conversation(session, "id-1"));
    assertEquals(textOf(home.path(SIDECAR)), "id-1\n");
    await lock(home, session, ["acquire"], conversation(session, "id-2"));
    assertEquals(textOf(home.path(SIDECAR)), "id-2\n");
    // A session that names no conversation must not keep the last one's.
    await lock(home, session, ["acquire"]);
    assertEquals(exists(home.path(SIDECAR)), false);
  },
);

scenario("an id that is not of this ancestry is not believed", async (home, session) => {
  const inherited = { ...conversation(session, "id-1"), CLAUDE_PID: String(otherHarness(home)) };
  await lock(home, session, ["acquire"], inherited);
  assertEquals([textOf(home.path(LOCK)), exists(home.path(SIDECAR))], [`${session.pid}\n`, false]);
});

Deno.test("lock: of nested Claude processes the outermost is recorded, or the one that is named", async () => {
  await using home = makeHome();
  await using session = await openSession(home, { outer: 2 });
  await lock(home, session, ["acquire"]);
  assertEquals(textOf(home.path(LOCK)), `${session.pids[0]}\n`);
  home.remove(LOCK);
  await lock(home, session, ["acquire"], conversation(session, "id"));
  assertEquals(textOf(home.path(LOCK)), `${session.pid}\n`);
});

Deno.test("lock: without a harness above it nobody could be named", async () => {
  await using home = makeHome();
  const run = await runTurnguard(["lock", "acquire", ...home.args]);
  const stderr = "error: cannot locate harness process in ancestry\n";
  assertEquals(run, { status: 1, stdout: "", stderr });
  assertEquals(exists(home.path(LOCK)), false);
});

scenario("a live session is never taken from, nor released for", async (home, session) => {
  const other = otherHarness(home);
  home.write(LOCK, `${other}\n`).write(SIDECAR, "theirs\n");
  const run = await lock(home, session, ["acquire"]);
  const words = "operate read-only until resolved";
  const stderr = `error: another live firstmate session holds the lock (pid ${other}, ` +
    `session theirs); ${words}\n`;
  assertEquals(run, { status: 1, stdout: "", stderr });
  const released = await lock(home, session, ["release"]);
  assertEquals([released.status, released.stdout], [1, ""]);
  assertEquals([textOf(home.path(LOCK)), textOf(home.path(SIDECAR))], [`${other}\n`, "theirs\n"]);
});

/** Locks that nobody holds any more, or never did. */
const FREE: Readonly<Record<string, (home: TestHome) => unknown>> = {
  "of a dead process": async (home) => home.write(LOCK, `${await deadPid()}\n`),
  "of a process that is no harness": (home) => home.write(LOCK, `${home.sleeper().pid}\n`),
  "that is empty": (home) => home.write(LOCK),
  "with words": (home) => home.write(LOCK, "nobody\n"),
  "with a second line": (home) => home.write(LOCK, "1\nharness=claude\n"),
  "with NULs": (home) => home.write(LOCK, new Uint8Array(8)),
  "of ten megabytes": (home) => home.write(LOCK, new Uint8Array(10 << 20).fill(49)),
};

for (const [name, prepare] of Object.entries(FREE)) {
  scenario(`a lock ${name} is taken`, async (home, session) => {
    await prepare(home);
    assertEquals((await lock(home, session, ["acquire"])).status, 0);
    assertEquals(textOf(home.path(LOCK)), `${session.pid}\n`);
  });
}

/** Things at the lock's path that are nobody's to replace. */
const UNUSABLE: Readonly<Record<string, (home: TestHome) => unknown>> = {
  directory: (home) => home.write(`${LOCK}/x`),
  link: (home) => Deno.symlinkSync(home.write("elsewhere").path("elsewhere"), home.path(LOCK)),
  loop: (home) => Deno.symlinkSync(".lock", home.path(LOCK)),
};

for (const [name, prepare] of Object.entries(UNUSABLE)) {
  scenario(`a ${name} in its place is left alone`, async (home, session) => {
    await prepare(home);
    const before = Deno.lstatSync(home.path(LOCK)).ino;
    const { status, stderr } = await lock(home, session, ["acquire"]);
    assertEquals(status, 1);
    assertMatch(stderr, /the session lock is not a plain file/);
    assertEquals(Deno.lstatSync(home.path(LOCK)).ino, before);
    if (name === "link") assertEquals(textOf(home.path("elsewhere")), "");
  });
}

scenario("release removes the lock and its conversation, and only once", async (home, session) => {
  const env = conversation(session, "id-1");
  await lock(home, session, ["acquire"], env);
  const released = { status: 0, stdout: "lock released\n", stderr: "" };
  assertEquals(await lock(home, session, ["release"], env), released);
  assertEquals([exists(home.path(LOCK)), exists(home.path(SIDECAR))], [false, false]);
  assertEquals((await lock(home, session, ["release"], env)).status, 1);
});

/** What status tells: the state of the lock, and the owner in its JSON. */
const STATES: readonly (readonly [
  owner: string,
  prepare: (home: TestHome, session: ClaudeSession) => unknown,
])[] = [
  ["free", () => {}],
  ["ours", (_, session) => session.hold()],
  ["foreign", (home) => home.write(LOCK, `${otherHarness(home)}\n`)],
  ["stale", async (home) => home.write(LOCK, `${await deadPid()}\n`)],
];

for (const [owner, prepare] of STATES) {
  scenario(`status tells a lock that is ${owner}, and changes nothing`, async (home, session) => {
    await prepare(home, session);
    const before = textOf(home.path(LOCK));
    const shown = await lock(home, session, ["status"]);
    assertEquals([shown.status, shown.stderr], [0, ""]);
    assertMatch(shown.stdout, /^lock: [^\n]{1,74}\n$/);
    const json = await lock(home, session, ["status", "--json"]);
    assertEquals(JSON.parse(json.stdout).owner, owner);
    assertEquals(textOf(home.path(LOCK)), before);
  });
}

scenario("what is not one of its words is refused with nothing done", async (home, session) => {
  for (const words of [[], ["steal"], ["acquire", "now"]]) {
    const { status, stdout } = await lock(home, session, words);
    assertEquals([status, stdout], [2, ""], words.join(" "));
  }
  assertEquals(exists(home.path(LOCK)), false);
});

Deno.test("lock: of many sessions at once exactly one takes it", async () => {
  await using home = makeHome();
  const sessions = await Promise.all(Array.from({ length: 12 }, () => openSession(home)));
  try {
    const runs = await Promise.all(sessions.map((session) => lock(home, session, ["acquire"])));
    const winners = sessions.filter((_, index) => runs[index]?.status === 0);
    assertEquals(winners.length, 1, JSON.stringify(runs));
    assertEquals(textOf(home.path(LOCK)), `${winners[0]?.pid}\n`);
  } finally {
    for (const session of sessions) await session[Symbol.asyncDispose]();
  }
});
