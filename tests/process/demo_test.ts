/**
 * `demo`: it shows what it says, reads well anywhere, and leaves nothing behind.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { runTurnguard, startTurnguard } from "../support/turnguard.ts";
import { until } from "../support/processes.ts";

/** A temporary folder for the demo alone, so that leftovers are seen. */
class DemoFolder implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "turnguard-test-" });

  leftovers(): readonly string[] {
    return [...Deno.readDirSync(this.path)].map((found) => found.name);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function watcherPidIn(text: string): number {
  return Number(/healthy: pid (\d+)/.exec(text)?.[1]);
}

Deno.test("demo: a stop is blocked, then allowed, and nothing is left", async () => {
  using folder = new DemoFolder();
  const { status, stdout, stderr } = await runTurnguard(["demo"], { env: { TMPDIR: folder.path } });
  assertEquals([status, stderr], [0, ""]);
  assertMatch(
    stdout,
    /TURN WOULD END BLIND[^]*exit 2: blocked[^]*healthy: pid \d+[^]*exit 0: allowed[^]*ALLOW \(exit 0\)/,
  );
  assertEquals(folder.leftovers(), []);
  assert(!isAlive(watcherPidIn(stdout)));
});

Deno.test("demo: fits 80 columns, without a control character in a pipe", async () => {
  using folder = new DemoFolder();
  const { stdout } = await runTurnguard(["demo"], { env: { TMPDIR: folder.path } });
  for (const line of stdout.replaceAll(folder.path, "/tmp").split("\n")) {
    assert(Array.from(line).length <= 80, line);
    // deno-lint-ignore no-control-regex -- control characters are what must not be there
    assertNotMatch(line, /[\u0000-\u001f\u007f]/);
  }
});

Deno.test("demo: NO_COLOR wins over FORCE_COLOR", async () => {
  using folder = new DemoFolder();
  const env = { TMPDIR: folder.path, FORCE_COLOR: "1" };
  const coloured = await runTurnguard(["demo"], { env });
  assertStringIncludes(coloured.stdout, "\u001b[31m");
  const plain = await runTurnguard(["demo"], { env: { ...env, NO_COLOR: "1" } });
  assertEquals(plain.stdout.includes("\u001b"), false);
});

Deno.test("demo: the caller's home and settings have no part in it", async () => {
  using folder = new DemoFolder();
  const env = {
    TMPDIR: folder.path,
    FM_HOME: "/nowhere",
    FM_ROOT_OVERRIDE: "/nowhere",
    FM_STATE_OVERRIDE: "/nowhere",
    FM_GUARD_GRACE: "0",
    FM_POLL: "abc",
  };
  const { status, stdout } = await runTurnguard(["demo"], { env });
  assertEquals(status, 0);
  assertNotMatch(stdout, /nowhere|FM_/);
});

Deno.test("demo: an interruption stops the watcher and removes the folder", async () => {
  for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    using folder = new DemoFolder();
    const child = startTurnguard(["demo"], { env: { TMPDIR: folder.path }, stdout: "piped" });
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const wasHealthy = watcherPidIn(text) > 0;
      text += chunk;
      if (!wasHealthy && watcherPidIn(text) > 0) child.kill(signal);
    }
    assertEquals((await child.status).code, status, text);
    assertEquals(folder.leftovers(), []);
    await until(() => !isAlive(watcherPidIn(text)));
  }
});

Deno.test("demo: without a temporary directory nothing is started", async () => {
  const { status, stdout, stderr } = await runTurnguard(["demo"], { env: { TMPDIR: "/nowhere" } });
  assertEquals([status, stdout], [1, ""]);
  assertMatch(stderr, /^turnguard demo: no folder can be made[^\n]*\n$/);
});
