/**
 * Process groups: deadlines, what is left behind, and what cannot be told apart from it.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { isPid, type Pid } from "../../src/platform/pid.ts";
import {
  endGroup,
  type GroupLimits,
  isGroupGone,
  runGroup,
} from "../../src/platform/process_group.ts";
import { until } from "../support/processes.ts";

function limits(changes: Partial<GroupLimits> = {}): GroupLimits {
  return {
    deadlineMs: 60_000,
    outputLimitBytes: 1_000,
    tick: () => {},
    stop: new Promise(() => {}),
    ...changes,
  };
}

function shell(script: string): { readonly path: string; readonly args: readonly string[] } {
  return { path: "/bin/sh", args: ["-c", script] };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Whether any process of the group, ended or not, is listed. */
function isLed(leader: Pid): boolean {
  try {
    Deno.kill(-leader, 0);
    return true;
  } catch {
    return false;
  }
}

/** The group that a shell reported by its pid in the first line of its output. */
function groupIn(output: Uint8Array): Pid {
  const pid = Number(textOf(output).split("\n")[0]);
  assert(isPid(pid));
  return pid;
}

Deno.test("runGroup: a program that cannot be started says so", async () => {
  const end = await runGroup({ path: "/nowhere/at/all", args: [] }, limits());
  assertEquals(end.kind, "not-started");
});

Deno.test("runGroup: output of a program that ends is complete", async () => {
  const end = await runGroup(shell("echo a; echo b"), limits());
  assert(end.kind === "ended");
  assertEquals([textOf(end.output), end.group], ["a\nb\n", "gone"]);
});

Deno.test("runGroup: a program gets its input and its end, in the folder that was named", async () => {
  const command = { ...shell("pwd; cat"), input: "é\n", workingDirectory: "/" };
  const end = await runGroup(command, limits());
  assert(end.kind === "ended");
  assertEquals(textOf(end.output), "/\né\n");
});

Deno.test("runGroup: a program that reads no input ends all the same", async () => {
  const end = await runGroup({ ...shell("exec <&-; exit 3"), input: "x" }, limits());
  assert(end.kind === "ended");
  assertEquals([end.status, end.group], [3, "gone"]);
});

Deno.test("runGroup: output beyond the limit is dropped without holding the program up", async () => {
  const end = await runGroup(shell("head -c 3000000 /dev/zero"), limits());
  assert(end.kind === "ended");
  assertEquals(end.output.length, 1_000);
});

Deno.test("runGroup: at the deadline everything goes, also what ignores TERM", async () => {
  const script = "echo $$; trap '' TERM; sleep 600 & sleep 600";
  const end = await runGroup(shell(script), limits({ deadlineMs: 300 }));
  assert(end.kind === "timed-out");
  assertEquals([end.group, await isGroupGone(groupIn(end.output))], ["gone", true]);
});

Deno.test("runGroup: what a program leaves behind goes with it", async () => {
  const end = await runGroup(shell("echo $$; sleep 600 & exit 0"), limits());
  assert(end.kind === "ended");
  assertEquals([end.group, await isGroupGone(groupIn(end.output))], ["gone", true]);
});

Deno.test("runGroup: a stop ends the program", async () => {
  const end = await runGroup(shell("echo $$; sleep 600"), limits({ stop: Promise.resolve() }));
  assertEquals(end.kind === "stopped" && end.group, "gone");
});

Deno.test("runGroup: ticks while the program runs", async () => {
  let ticks = 0;
  const tick = (): void => void ticks++;
  const end = await runGroup(
    shell("trap '' TERM; sleep 600"),
    limits({ deadlineMs: 1_200, tick }),
  );
  assert(end.kind === "timed-out");
  assert(ticks >= 2, `${ticks} ticks`);
});

Deno.test("runGroup: when a tick fails, the program does not stay behind", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  try {
    const tick = (): void => {
      throw new Error("no beacon");
    };
    const script = `echo $$ > '${folder}/pid'; sleep 600`;
    await assertRejects(() => runGroup(shell(script), limits({ tick })), Error, "no beacon");
    const leader = groupIn(Deno.readFileSync(`${folder}/pid`));
    assertEquals(await isGroupGone(leader), true);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test({
  name: "endGroup: processes that nobody collects count as gone",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    // The shell becomes a program that never asks for the status of the group's leader.
    const parent = new Deno.Command("/bin/bash", {
      args: ["-c", "exec 3<&0; setsid /bin/cat <&3 & echo $!; exec /bin/cat > /dev/null"],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    try {
      const reader = parent.stdout.getReader();
      const leader = groupIn((await reader.read()).value ?? new Uint8Array());
      await reader.cancel();
      await until(() => Deno.readTextFileSync(`/proc/${parent.pid}/cmdline`) === "/bin/cat\0");
      await until(() => isLed(leader));
      assertEquals(await endGroup(leader, { termMs: 200, killMs: 200 }), "gone");
      assertEquals(isLed(leader), true);
    } finally {
      parent.kill("SIGKILL");
      await parent.status;
      await parent.stdin.abort().catch(() => {});
    }
  },
});
