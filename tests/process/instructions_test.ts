/**
 * `instructions` on the built executable: its flags, what it looks up by itself, and its exit status.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { below, namedShell } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  inBatches,
  runProgram,
  type RunResult,
  runTurnguard,
  TURNGUARD,
} from "../support/turnguard.ts";

/** Harness names, each with a fragment of its own. */
const HARNESSES: ReadonlyArray<readonly [name: string, fragment: string]> = [
  ["claude", "Stop-owned automatic recovery"],
  ["codex", "foreground checkpoint: bin/fm-watch-checkpoint.sh --seconds 180"],
  ["pi", "Pi tool fm_watch_arm_pi"],
  ["pi-signed", "Pi tool fm_watch_arm_pi"],
  ["omp", "omp tool fm_watch_arm_omp"],
  ["opencode", "manual recovery probe"],
  ["grok", "Grok tracked background task"],
  ["cursor", "stop-hook park"],
  ["gemini", "according to the session-start block for this harness"],
];

async function instructions(
  home: TestHome,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  return await runTurnguard(["instructions", ...home.args, ...args], {
    env: { ...home.env, ...env },
  });
}

/** The repair line; fails when the answer is not exactly one line. */
async function repairLine(
  home: TestHome,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, stdout, stderr } = await instructions(home, ["--repair-line", ...args], env);
  assertEquals([status, stderr], [0, ""]);
  assertEquals(stdout.split("\n").length, 2, stdout);
  return stdout.trimEnd();
}

/** One call of the matrix. */
interface Call {
  readonly args: readonly string[];
  readonly expected: (line: string, home: TestHome) => boolean;
}

function* matrix(): Generator<Call> {
  for (const [harness, fragment] of HARNESSES) {
    for (const queue of ["0", "1"]) {
      for (const relay of ["0", "1"]) {
        const args = ["--harness", harness, "--queue-pending", queue, "--x-mode", relay];
        yield {
          args: [...args, "--read-only", "1", "--afk", "1"],
          expected: (line) => line.startsWith("watcher repair belongs to the session holding"),
        };
        yield {
          args: [...args, "--read-only", "0", "--afk", "1", "--afk-mode", "quiet"],
          expected: (line) => line.startsWith("Quiet mode owns watcher supervision; load /quiet"),
        };
        yield {
          args: [...args, "--read-only", "0", "--afk", "0", "--afk-mode", "quiet"],
          expected: (line, home) => {
            const settings = home.path("config/x-mode.env");
            const prefix = (queue === "1" ? "After draining queued wakes, " : "") +
              (relay === "1" ? `source '${settings}' first, then ` : "");
            const rest = line.slice(prefix.length);
            return line.startsWith(prefix) && rest.includes(fragment) &&
              !rest.includes("source '") &&
              !rest.includes("After draining");
          },
        };
      }
    }
  }
}

Deno.test("instructions: the repair line by its flags, over the whole matrix", async () => {
  await using home = makeHome();
  const calls = [...matrix()];
  assertEquals(calls.length, 108);
  const lines = await inBatches(calls, ({ args }) => repairLine(home, args));
  for (const [index, { args, expected }] of calls.entries()) {
    const line = lines[index] ?? "";
    assert(expected(line, home), `${args.join(" ")}: ${line}`);
  }
});

Deno.test("instructions: only the words for yes are yes, and an unknown mode is away", async () => {
  await using home = makeHome();
  for (
    const [afk, mode, start] of [
      ["1", "away", "Away mode"],
      ["true", "bogus", "Away mode"],
      ["TRUE", "", "Away mode"],
      ["yes", "quiet", "Quiet mode"],
      ["YES", "Quiet", "Away mode"],
      ["on", "quiet", "watcher supervision"],
      ["True", "quiet", "watcher supervision"],
      ["", "quiet", "watcher supervision"],
    ] as const
  ) {
    const line = await repairLine(home, ["--harness=claude", "--afk", afk, "--afk-mode", mode]);
    assert(line.startsWith(start), `${afk} ${mode}: ${line}`);
  }
});

Deno.test("instructions: the relay's settings count as soon as their file is there", async () => {
  await using home = makeHome();
  home.write("config/x-mode.env");
  const line = await repairLine(home, ["--harness", "claude", "--x-mode", "0"]);
  assert(line.startsWith(`source '${home.path("config/x-mode.env")}' first, then `), line);
});

Deno.test("instructions: what no flag says is looked up", async () => {
  await using home = makeHome();
  const claude = { CLAUDECODE: "1" };
  assertStringIncludes(await repairLine(home, [], claude), "Stop-owned automatic recovery");
  home.write("state/.wake-queue", "no row\n");
  assert((await repairLine(home, [], claude)).startsWith("After draining queued wakes, "));
  home.away("quiet\n");
  assert((await repairLine(home, [], claude)).startsWith("Quiet mode owns"));
  const readOnly = await repairLine(home, [], { ...claude, FM_GUARD_READ_ONLY: "yes" });
  assertStringIncludes(readOnly, "session holding the fleet lock");
});

Deno.test("instructions: the harness around the call is found by its processes", async () => {
  await using home = makeHome();
  const call = [TURNGUARD, "instructions", "--repair-line", ...home.args];
  const { stdout } = await runProgram(below([namedShell(home.folder, "codex")], call), {
    env: { ...home.env, FM_CODEX_WATCH_CHECKPOINT: "7" },
  });
  assertStringIncludes(stdout, "--seconds 7");
});

Deno.test("instructions: a command line that is not understood ends with 2 and prints nothing", async () => {
  await using home = makeHome();
  for (const args of [["--harness"], ["--afk"], ["--bogus"], ["word"]]) {
    const { status, stdout, stderr } = await instructions(home, args);
    assertEquals([status, stdout], [2, ""], args.join(" "));
    assertEquals(stderr.split("\n").length, 2, stderr);
  }
});

Deno.test("instructions: the block of a session that may act, and of one that may not", async () => {
  await using home = makeHome();
  const { status, stdout, stderr } = await instructions(home, ["--harness", "grok", "--afk", "0"]);
  assertEquals([status, stderr], [0, ""]);
  assertEquals(stdout.split("\n").slice(0, 7), [
    "=".repeat(80),
    "SUPERVISION OPERATING INSTRUCTIONS - primary harness: grok",
    "=".repeat(80),
    "Current state:",
    "- Lock: held",
    "- Away/quiet mode: inactive.",
    "- X mode: inactive",
  ]);
  assertStringIncludes(stdout, "- Ordinary wake: ");
  const readOnly = await instructions(home, ["--harness", "grok", "--read-only", "1"]);
  assertStringIncludes(readOnly.stdout, "- Lock: read-only");
  assert(!readOnly.stdout.includes("Ordinary wake"), readOnly.stdout);
});

Deno.test("instructions: nothing in the home is changed, or has to be there", async () => {
  await using home = makeHome();
  const before = snapshot(home.folder);
  await repairLine(home, ["--harness", "pi"]);
  assertEquals(snapshot(home.folder), before);
  home.remove("state");
  await repairLine(home, ["--harness", "pi"]);
});

Deno.test("instructions: a path cannot break the one line or steer a terminal", async () => {
  await using home = makeHome({ name: "it's \u001b[2J\na home" });
  home.write("config/x-mode.env");
  for (const harness of ["claude", "codex"]) {
    const line = await repairLine(home, ["--harness", harness]);
    assert(!line.includes("\u001b"), line);
    assertStringIncludes(line, "it'\\''s ");
  }
});

Deno.test("instructions: a home made by init is told turnguard's commands, and scripts it has", async () => {
  await using home = makeHome();
  home.write("state/.turnguard-home");
  const codex = () => repairLine(home, ["--harness", "codex", "--queue-pending", "0"]);
  const checkpoint = "foreground checkpoint: turnguard checkpoint --root";
  assertStringIncludes(await codex(), `${checkpoint} ${home.root} --seconds 180 and `);
  const { stdout } = await runTurnguard(
    ["instructions", "--repair-line", "--harness", "grok", "--queue-pending", "0"],
    { cwd: home.path("state") },
  );
  assertStringIncludes(stdout, "run turnguard arm as its own Grok tracked background task");
  home.write("bin/fm-watch-checkpoint.sh");
  assertStringIncludes(await codex(), "checkpoint: bin/fm-watch-checkpoint.sh --seconds 180 and ");
});
