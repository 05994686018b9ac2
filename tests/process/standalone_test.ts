/**
 * A home with nothing but the executable, from its making to the wake, and homes that share their
 * watch lock with shell scripts.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { exists, textOf } from "../support/files.ts";
import { handleWakes } from "../support/handle_wakes.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import {
  environmentOf,
  runProgram,
  runTurnguard,
  TURNGUARD,
  verdictOf,
} from "../support/turnguard.ts";
import { startWatch } from "../support/watching.ts";

const FIRST_STOP = '{"stop_hook_active":false}';

/** A folder that only `init` has made anything in. */
async function made(): Promise<TestHome> {
  const home = makeHome({ git: "none" });
  Deno.removeSync(home.root, { recursive: true });
  Deno.mkdirSync(home.root);
  const run = await runTurnguard(["init", home.root], { cwd: home.root });
  assertEquals(run.status, 0, run.stderr);
  return home;
}

Deno.test("standalone: init, task, arm; a report wakes, is drained once, and arming again is quiet", async () => {
  await using home = await made();
  const added = await runTurnguard(["task", "add", "t1", ...home.args]);
  assertEquals(added.status, 0, added.stderr);
  const stop = (): ReturnType<typeof runTurnguard> =>
    runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP });
  assertEquals(verdictOf(await stop()), "block");

  const arm = (): Deno.ChildProcess =>
    new Deno.Command(TURNGUARD, {
      args: ["arm", ...home.args],
      clearEnv: true,
      env: environmentOf({ FM_SIGNAL_GRACE: "0", FM_POLL: "1" }),
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
  const first = arm();
  await until(() => textOf(home.path("state/.watch.lock/pid-identity")) !== "");
  await until(() => exists(home.path("state/.last-watcher-beat")));
  assertEquals(verdictOf(await stop()), "allow");
  home.write("state/t1.status", "done: it works\n");
  const { code, stdout } = await first.output();
  const told = new TextDecoder().decode(stdout);
  assertEquals(code, 0, told);
  assertMatch(
    told,
    /^watcher: started pid=[0-9]+ \(beacon fresh\)\nsignal: [^\n]*\/state\/t1\.status\n$/,
  );
  assertEquals(textOf(home.path("state/.watch.lock/pid")), "");
  assertEquals(verdictOf(await stop()), "block");

  assertMatch(await handleWakes(home), /^[0-9]+\t1\tsignal\tt1\.status\tsignal: [^\n]*\n$/);
  const second = arm();
  await until(() => textOf(home.path("state/.watch.lock/pid")) === `${second.pid}\n`);
  second.kill("SIGTERM");
  const again = await second.output();
  const words = new TextDecoder().decode(again.stdout);
  assertEquals([again.code, words.includes("signal:")], [143, false], words);
});

/** Takes the watch lock as a shell script does, and stays. */
const SHELL_WATCHER = `
state=$1 home=$2 path=$3
owner=$(mktemp -d "$state/.watch.lock.owner.XXXXXX")
printf '%s\\n' "$$" >"$owner/pid"
ln -s "$owner" "$state/.watch.lock"
printf '%s\\n' "$home" >"$owner/fm-home"
printf '%s\\n' "$path" >"$owner/watcher-path"
stat=$(cat "/proc/$$/stat"); set -- \${stat##*) }; shift 19
hex=$(od -An -v -tx1 "/proc/$$/cmdline" | tr -d ' \\n')
printf 'linux-starttime=%s cmdline-hex=%s\\n' "$1" "$hex" >"$owner/pid-identity"
touch "$state/.last-watcher-beat"
read -r _
`;

/** Judges a watch lock as a shell script does; says the first thing that is wrong. */
const SHELL_READER = `
state=$1 home=$2 path=$3 lock=$state/.watch.lock
pid=$(cat "$lock/pid") || { echo 'no pid'; exit; }
kill -0 "$pid" 2>/dev/null || { echo 'not alive'; exit; }
[ "$(cat "$lock/fm-home")" = "$home" ] || { echo 'another home'; exit; }
[ "$(cat "$lock/watcher-path")" = "$path" ] || { echo 'another path'; exit; }
stat=$(cat "/proc/$pid/stat"); set -- \${stat##*) }; shift 19
hex=$(od -An -v -tx1 "/proc/$pid/cmdline" | tr -d ' \\n')
[ "$(cat "$lock/pid-identity")" = "linux-starttime=$1 cmdline-hex=$hex" ] || { echo 'reused'; exit; }
age=$(($(date +%s) - $(stat -c %Y "$state/.last-watcher-beat")))
[ "$age" -lt 300 ] || { echo stale; exit; }
[ -L "$lock" ] && [ -d "$(readlink "$lock")" ] || { echo 'no link to a directory'; exit; }
echo healthy
`;

function words(home: TestHome): readonly string[] {
  return [home.state, home.root, home.watcherPath];
}

Deno.test({
  name: "mixed homes: a lock that a shell script has written is judged healthy",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using home = makeHome().task();
    home.sleeper("/bin/bash", ["-c", SHELL_WATCHER, "watch", ...words(home)]);
    await until(() => exists(home.path("state/.last-watcher-beat")));
    const run = await runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP });
    assertEquals(verdictOf(run), "allow");
    const arming = await runTurnguard(["watch", ...home.args]);
    assertStringIncludes(arming.stdout, "watcher: already running pid ");
  },
});

Deno.test({
  name: "mixed homes: our lock is healthy by the rules of a shell script",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using home = makeHome().task();
    await using watcher = await startWatch(home);
    const judged = await runProgram(["/bin/bash", "-c", SHELL_READER, "judge", ...words(home)]);
    assertEquals(judged.stdout, "healthy\n", `pid ${watcher.pid}: ${judged.stderr}`);
  },
});
