/**
 * Other processes of this machine: pids, liveness and identity.
 *
 * @module
 */

import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { environmentOf } from "../../src/platform/environment.ts";
import { liveness } from "../../src/platform/liveness.ts";
import { isPid, parsePid } from "../../src/platform/pid.ts";
import { procIdentity, psIdentity } from "../../src/platform/process_identity.ts";
import { parseProcFiles } from "../../src/platform/proc_stat.ts";
import { systemProcesses } from "../../src/platform/processes.ts";
import { makeHome } from "../support/home.ts";
import { deadPid, identityOf, ON_LINUX, startSleeper, startZombie } from "../support/processes.ts";
import { pidOf } from "../support/facts.ts";

const PIDS: ReadonlyArray<readonly [text: string, pid: number | undefined]> = [
  ["1", 1],
  ["48211", 48_211],
  ["007", 7],
  ["2147483647", 2_147_483_647],
  ["2147483648", undefined],
  ["4294967297", undefined],
  ["9".repeat(20), undefined],
  ["0", undefined],
  ["00", undefined],
  ["", undefined],
  ["-1", undefined],
  ["+1", undefined],
  ["1.5", undefined],
  ["1e3", undefined],
  ["0x1", undefined],
  [" 1", undefined],
  ["1 ", undefined],
  ["1\n", undefined],
  ["1\n2", undefined],
  ["NaN", undefined],
  ["\u0661", undefined],
];

Deno.test("parsePid: digits that can name one process, and nothing else", () => {
  for (const [text, pid] of PIDS) {
    assertEquals<number | undefined>(parsePid(text), pid, JSON.stringify(text));
  }
});

Deno.test("parsePid: whatever the text, the result is a pid or nothing", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const parsed = parsePid(text);
    if (parsed !== undefined) assertEquals(isPid(parsed), true);
  }));
});

Deno.test("liveness: tells the living from the dead", async () => {
  await using sleeper = startSleeper();
  assertEquals(liveness(pidOf(sleeper.pid)), "alive");
  assertEquals(liveness(pidOf(await deadPid())), "dead");
  assertEquals(liveness(pidOf(2_147_483_647)), "dead");
});

Deno.test("procIdentity: the golden identity", ON_LINUX, () => {
  const stat =
    "4242 (watcher ) with spaces) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21 22\n";
  const commandLine = "bash\0/path with spaces/fm-watch.sh\0--flag\0";
  const encoder = new TextEncoder();
  const record = parseProcFiles(encoder.encode(stat), encoder.encode(commandLine));
  assertEquals<string>(
    procIdentity(record?.startTicks ?? "", record?.commandLine ?? new Uint8Array()),
    "linux-starttime=987654 cmdline-hex=62617368002f706174682077697468207370616365732f666d2d" +
      "77617463682e7368002d2d666c616700",
  );
});

Deno.test("procIdentity: every byte of the command line counts", () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 });
  fc.assert(fc.property(bytes, bytes, (a, b) => {
    const same = a.length === b.length && a.every((byte, index) => byte === b[index]);
    assertEquals(procIdentity("1", a) === procIdentity("1", b), same);
    assertNotEquals(procIdentity("1", a), procIdentity("2", a));
  }));
});

const PS_IDENTITIES: ReadonlyArray<readonly [output: string, identity: string | undefined]> = [
  ["Mon Nov 30 21:18:54 2026 sleep 61\n", "Mon Nov 30 21:18:54 2026 sleep 61"],
  ["  Mon Nov 30 21:18:54 2026 sleep 61\n\n", "Mon Nov 30 21:18:54 2026 sleep 61"],
  ["Mon Nov 30 21:18:54 2026     sleep 61\n", "Mon Nov 30 21:18:54 2026     sleep 61"],
  ["Mon Nov 30 21:18:54 2026 sh -c a \n  b\n", "Mon Nov 30 21:18:54 2026 sh -c a \nb"],
  ["", undefined],
  ["\n", undefined],
  ["  \n", undefined],
];

Deno.test("psIdentity: leading blanks and final newlines go, everything else stays", () => {
  for (const [output, identity] of PS_IDENTITIES) {
    assertEquals<string | undefined>(psIdentity(output), identity, JSON.stringify(output));
  }
});

Deno.test("systemProcesses: computes the identity that a recorder would", async () => {
  await using sleeper = startSleeper();
  const recorded = await identityOf(sleeper.pid);
  const reading = await systemProcesses(environmentOf({})).identity(pidOf(sleeper.pid));
  assertEquals<unknown>(reading, { kind: "known", identity: recorded });
});

Deno.test(
  "systemProcesses: a zombie is told from the living, by /proc and by ps",
  ON_LINUX,
  async () => {
    await using zombie = await startZombie();
    await using sleeper = startSleeper();
    for (const environment of [{}, { FM_PROC_ROOT_OVERRIDE: "/nowhere" }]) {
      const processes = systemProcesses(environmentOf(environment));
      assertEquals(await processes.isZombie(pidOf(zombie.pid)), true);
      for (const pid of [sleeper.pid, await deadPid()]) {
        assertEquals(await processes.isZombie(pidOf(pid)), false);
      }
    }
  },
);

Deno.test("systemProcesses: a zombie has no identity", ON_LINUX, async () => {
  await using zombie = await startZombie();
  const reading = await systemProcesses(environmentOf({})).identity(pidOf(zombie.pid));
  assertEquals(reading.kind, "unknown");
});

Deno.test("systemProcesses: a dead process has neither identity nor description", async () => {
  const pid = pidOf(await deadPid());
  const processes = systemProcesses(environmentOf({}));
  assertEquals((await processes.identity(pid)).kind, "unknown");
  assertEquals(await processes.info(pid), undefined);
});

Deno.test(
  "systemProcesses: describes a process by name, arguments and parent",
  ON_LINUX,
  async () => {
    await using sleeper = startSleeper("/bin/sh", ["-c", "cat; true", "two words"]);
    // The command line is complete once an identity can be computed.
    await identityOf(sleeper.pid);
    const info = await systemProcesses(environmentOf({})).info(pidOf(sleeper.pid));
    assertEquals<unknown>(info, {
      pid: sleeper.pid,
      parent: Deno.pid,
      command: "sh",
      args: "/bin/sh -c cat; true two words",
      argv0: "/bin/sh",
    });
  },
);

Deno.test("systemProcesses: FM_PROC_ROOT_OVERRIDE is read instead of /proc", ON_LINUX, async () => {
  await using home = makeHome();
  await using sleeper = startSleeper();
  const numbers = Array.from({ length: 18 }, (_, index) => index + 1).join(" ");
  home.write(`proc/${sleeper.pid}/stat`, `${sleeper.pid} (x) S ${numbers} 777 0\n`)
    .write(`proc/${sleeper.pid}/cmdline`, "a\0");
  const processes = systemProcesses(environmentOf({ FM_PROC_ROOT_OVERRIDE: home.path("proc") }));
  assertEquals(processes.method, "proc-override");
  assertEquals<unknown>(
    await processes.identity(pidOf(sleeper.pid)),
    { kind: "known", identity: "linux-starttime=777 cmdline-hex=6100" },
  );
});

Deno.test("systemProcesses: without a readable /proc the identity comes from ps", async () => {
  await using sleeper = startSleeper();
  await identityOf(sleeper.pid);
  const processes = systemProcesses(environmentOf({ FM_PROC_ROOT_OVERRIDE: "/nowhere" }));
  const reading = await processes.identity(pidOf(sleeper.pid));
  assertMatch(reading.kind === "known" ? reading.identity : "", /^[A-Z][a-z]{2} .* \/bin\/cat$/);
});

Deno.test({
  name: "clocksWith: tells the machine's clocks, and the process as it is without them",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using sleeper = startSleeper("/bin/sh", ["-c", "read -r x; :", "a b\n7 (c"]);
    const pid = parsePid(String(sleeper.pid));
    if (pid === undefined) throw new Error("no pid");
    await identityOf(sleeper.pid);
    const together = systemProcesses(environmentOf({}));
    const clocks = await together.clocksWith(pid);
    assertEquals(clocks.kind, "since-boot");
    const apart = systemProcesses(environmentOf({}));
    assertEquals(await together.identity(pid), await apart.identity(pid));
    assertEquals(await together.info(pid), await apart.info(pid));
  },
});
