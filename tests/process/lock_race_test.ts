/**
 * `lock acquire` by many at once, and by acquirers that are killed in the middle of it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type ClaudeSession, openSession } from "../support/claude_session.ts";
import { textOf } from "../support/files.ts";
import { deadPid } from "../support/processes.ts";
import { LOCK, type LockHome, makeLockHome, SIDECAR } from "../support/session_lock.ts";
import { TURNGUARD } from "../support/turnguard.ts";

/** Every session acquires at once, each with a conversation of its own; what each was told. */
async function race(
  home: LockHome,
  sessions: readonly ClaudeSession[],
): Promise<readonly string[]> {
  return await Promise.all(sessions.map(async (session, index) => {
    const call = [TURNGUARD, "lock", "acquire", ...home.home.args];
    const hook = await session.start(call, home.claude(`c${index}`, session.pid));
    return home.inWords(await hook.ended());
  }));
}

/** Sessions that come at once, and the lock that they find. */
const CROWDS = [
  { count: 64, found: "free", holder: () => undefined },
  { count: 16, found: "dead holder's", holder: deadPid },
] as const;

for (const { count, found, holder } of CROWDS) {
  Deno.test(`lock acquire: one of ${count} sessions gets a ${found} lock`, async () => {
    await using home = await makeLockHome();
    const pid = await holder();
    if (pid !== undefined) home.holds(pid).conversation("old");
    const crowd = new AsyncDisposableStack();
    await using _crowd = crowd;
    const sessions: ClaudeSession[] = [];
    for (let number = 0; number < count; number++) {
      const session = crowd.use(await openSession(home.home));
      home.name(session.pid, `session${number}`);
      sessions.push(session);
    }
    const told = await race(home, sessions);
    const winner = told.findIndex((words) => words.startsWith("acquired"));
    assertEquals(home.left(), `"session${winner}\\n" "c${winner}\\n"`);
    const expected = sessions.map((_, number) =>
      number === winner
        ? `acquired for session${winner}`
        : `held by session${winner}, session c${winner}`
    );
    assertEquals(told, expected);
  });
}

Deno.test("lock acquire: a session's own calls do not refuse each other", async () => {
  await using home = await makeLockHome();
  const hooks = await Promise.all(Array.from({ length: 16 }, () => home.start("acquire")));
  const told = await Promise.all(hooks.map(async (hook) => home.inWords(await hook.ended())));
  assertEquals(new Set(told), new Set(["acquired for ours"]));
  assertEquals(home.left(), '"ours\\n" -');
});

/** Acquirers that are killed, spread over the whole length of one. */
const KILLS = 24;

Deno.test("lock acquire: one that is killed at any moment keeps nobody out", async () => {
  await using home = await makeLockHome();
  const conversation = home.claude("c1");
  const startMs = performance.now();
  await home.run("acquire", conversation);
  const lengthMs = performance.now() - startMs;
  for (let kill = 0; kill < KILLS; kill++) {
    home.home.write(LOCK, `${await deadPid()}\n`);
    const hook = await home.start("acquire", conversation);
    await new Promise((resolve) => setTimeout(resolve, lengthMs * kill / KILLS));
    try {
      hook.signal("SIGKILL");
    } catch {
      // It was faster.
    }
    await hook.ended();
    const moment = `after ${kill}/${KILLS} of ${lengthMs} ms`;
    assertEquals(await home.told("acquire", conversation), "acquired for ours", moment);
    assertEquals(textOf(home.path(LOCK)), `${home.session.pid}\n`, moment);
    assertEquals(textOf(home.path(SIDECAR)), "c1\n", moment);
  }
});
