/**
 * A watchdog over a program in a terminal: it gets the keys, and the terminal back when it is ended.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { exists, textOf } from "../support/files.ts";
import { until } from "../support/processes.ts";
import { environmentOf } from "../support/turnguard.ts";
import { WatchdogHome } from "../support/watchdog_home.ts";

const SCRIPT = "/usr/bin/script";

/** Runs shell lines in a terminal of their own; what is written to it are keys. */
function terminal(it: WatchdogHome, lines: string): {
  readonly keys: (text: string) => Promise<void>;
  readonly ended: () => Promise<number>;
} {
  const child = new Deno.Command(SCRIPT, {
    args: ["-qec", lines, "/dev/null"],
    clearEnv: true,
    env: environmentOf({ ...it.env, TERM: "xterm", SHELL: "/bin/sh" }),
    cwd: "/",
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  return {
    keys: (text) => writer.write(new TextEncoder().encode(text)),
    ended: async () => {
      const { code } = await child.status;
      await writer.close().catch(() => {});
      return code;
    },
  };
}

const ignore = !exists(SCRIPT);
if (ignore) console.log(`watchdog in a terminal: skipped, there is no ${SCRIPT}`);

Deno.test({
  name: "watchdog: Ctrl-C in a terminal reaches the command once, and the runner waits for it (77)",
  ignore,
  fn: async () => {
    await using it = new WatchdogHome();
    const [shell = "", path = ""] = it.script(
      "trap 'echo int >>$F/ints; sleep 1; exit 5' INT",
      "echo $$ >$F/pid",
      "while :; do sleep 0.1; done",
    );
    const session = terminal(
      it,
      `exec $TURNGUARD watchdog --idle-timeout 60 --marker $F/marker -- ${shell} ${path}`,
    );
    await it.pid("pid");
    await session.keys("\x03");
    assertEquals(await session.ended(), 5);
    assertEquals(textOf(it.path("ints")), "int\n");
    assertMatch(textOf(it.path("marker")), /"reason":"exited"/);
  },
});

Deno.test({
  name: "watchdog: a full-screen program that is ended leaves the terminal as it was",
  ignore,
  fn: async () => {
    await using it = new WatchdogHome();
    const [shell = "", path = ""] = it.script(
      "stty raw -echo",
      "printf '\\033[?1049h\\033[?25l'",
      "echo $$ >$F/pid",
      "sleep 600",
    );
    const flags = "--idle-timeout 1 --startup-grace 0 --grace 1 --no-signal kill";
    const session = terminal(
      it,
      `stty -g >$F/before; $TURNGUARD watchdog ${flags} -- ${shell} ${path}; ` +
        "echo $? >$F/status; stty -g >$F/after",
    );
    await until(() => exists(it.path("after")) && textOf(it.path("after")) !== "", 30_000);
    assertEquals(textOf(it.path("status")), "123\n");
    assertEquals(textOf(it.path("after")), textOf(it.path("before")));
    assert(textOf(it.path("before")).length > 10);
    await session.ended();
  },
});
