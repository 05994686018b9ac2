/**
 * The repair line over its whole matrix, and the block around it.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  instructionBlock,
  type InstructionSituation,
  repairInstruction,
} from "../../src/harness/instructions.ts";
import { FLEET_COMMANDS, ownCommands } from "../../src/harness/commands.ts";
import type { HarnessName } from "../../src/harness/names.ts";

/** Commands that would start a watcher. */
const ARMS = ["fm-watch-arm", "turnguard arm", "turnguard watch"];

/** What each harness's text must hold and must not hold. */
const TEXTS: ReadonlyArray<
  readonly [harness: HarnessName, holds: readonly string[], lacks: readonly string[]]
> = [
  ["claude", ["watcher supervision needs Stop-owned automatic recovery", "hook registration"], [
    "is broken",
    "FAILED",
    "manual background",
    ...ARMS,
  ]],
  ["codex", [
    "repair missing watcher supervision with a foreground checkpoint: " +
    "bin/fm-watch-checkpoint.sh --seconds 7",
  ], ARMS],
  ["pi", [
    "Pi tool fm_watch_arm_pi",
    "-e .pi/extensions/fm-primary-turnend-guard.ts -e .pi/extensions/fm-primary-pi-watch.ts",
  ], [" /"]],
  ["pi-signed", ["Pi tool fm_watch_arm_pi", "-e .pi/extensions/fm-primary-pi-watch.ts"], [" /"]],
  ["omp", ["omp tool fm_watch_arm_omp", ".omp/extensions/fm-primary-omp-watch.ts"], []],
  ["opencode", ["plugin", "idle", "bin/fm-watch-arm.sh", "manual recovery probe"], []],
  ["grok", ["bin/fm-watch-arm.sh", "Grok tracked background task", "never shell &"], [
    "foreground checkpoint",
  ]],
  ["cursor", ["stop-hook park", "registration"], ARMS],
  ["unknown", [
    "according to the session-start block for this harness",
    "do not use shell &",
  ], ARMS],
];

const SETTINGS = "/h/config/x-mode.env";

function situation(changes: Partial<InstructionSituation> = {}): InstructionSituation {
  return {
    harness: "claude",
    mode: "off",
    relaySettings: undefined,
    checkpointSeconds: 7,
    commands: FLEET_COMMANDS,
    readOnly: false,
    queuePending: false,
    ...changes,
  };
}

function* matrix(): Generator<InstructionSituation> {
  for (const readOnly of [true, false]) {
    for (const mode of ["off", "away", "quiet"] as const) {
      for (const queuePending of [true, false]) {
        for (const relaySettings of [undefined, SETTINGS]) {
          for (const [harness] of TEXTS) {
            yield situation({ readOnly, mode, queuePending, relaySettings, harness });
          }
        }
      }
    }
  }
}

Deno.test("repairInstruction: read-only before away before harness, over the whole matrix", () => {
  const all = [...matrix()];
  assertEquals(all.length, 216);
  const lines = (select: (one: InstructionSituation) => boolean) =>
    new Set(all.filter(select).map(repairInstruction));
  const readOnly = lines((one) => one.readOnly);
  const away = lines((one) => !one.readOnly && one.mode === "away");
  const quiet = lines((one) => !one.readOnly && one.mode === "quiet");
  const ordinary = lines((one) => !one.readOnly && one.mode === "off");
  assertEquals([readOnly.size, away.size, quiet.size], [1, 1, 1]);
  // Pi and pi-signed share their text.
  assertEquals(ordinary.size, 4 * (TEXTS.length - 1));
  assertStringIncludes([...readOnly].join(), "session holding the fleet lock");
  assert([...away].join().startsWith("Away mode owns watcher supervision; load /afk"));
  assert([...quiet].join().startsWith("Quiet mode owns watcher supervision; load /quiet"));
});

Deno.test("repairInstruction: queue before relay before the harness's own text", () => {
  for (const [harness] of TEXTS) {
    const plain = repairInstruction(situation({ harness }));
    const drain = "After draining queued wakes, ";
    const relay = `source '${SETTINGS}' first, then `;
    assertEquals(repairInstruction(situation({ harness, queuePending: true })), drain + plain);
    assertEquals(repairInstruction(situation({ harness, relaySettings: SETTINGS })), relay + plain);
    assertEquals(
      repairInstruction(situation({ harness, queuePending: true, relaySettings: SETTINGS })),
      drain + relay + plain,
    );
  }
});

Deno.test("repairInstruction: each harness is told its own way and no other", () => {
  for (const [harness, holds, lacks] of TEXTS) {
    const line = repairInstruction(situation({ harness }));
    assert(!line.includes("\n"), harness);
    for (const text of holds) assertStringIncludes(line, text);
    for (const text of lacks) assert(!line.includes(text), `${harness}: ${line}`);
  }
});

Deno.test("repairInstruction: a quote in the relay's path stays inside its word", () => {
  for (const harness of ["claude", "codex"] as const) {
    const line = repairInstruction(situation({ harness, relaySettings: "/it's/x-mode.env" }));
    assert(line.startsWith(`source '/it'\\''s/x-mode.env' first, then `), line);
  }
});

Deno.test("instructionBlock: the state, what a wake is followed by, and the repair", () => {
  const block = instructionBlock(situation({ harness: "pi-signed", relaySettings: SETTINGS }));
  assertEquals(block.slice(0, 7), [
    "=".repeat(80),
    "SUPERVISION OPERATING INSTRUCTIONS - primary harness: pi-signed",
    "=".repeat(80),
    "Current state:",
    "- Lock: held",
    "- Away/quiet mode: inactive.",
    `- X mode: active (${SETTINGS})`,
  ]);
  assert(block[7]?.startsWith("- Ordinary wake: "), block[7]);
  assertStringIncludes(block[8] ?? "", repairInstruction(situation({ harness: "pi-signed" })));
});

Deno.test("instructionBlock: modes are named, and a harness without words is unknown", () => {
  assertEquals(instructionBlock(situation({ mode: "away" }))[5], "- Away mode: active");
  assertEquals(instructionBlock(situation({ mode: "quiet" }))[5], "- Quiet mode: active");
  assertStringIncludes(instructionBlock(situation({ harness: "gemini" }))[1] ?? "", ": unknown");
});

Deno.test("instructionBlock: a read-only session is told what is not for it, and nothing else", () => {
  const block = instructionBlock(situation({ readOnly: true })).join("\n");
  assertStringIncludes(block, "- Lock: read-only");
  assertStringIncludes(block, "an idle turn is the right outcome");
  assert(!block.includes("Ordinary wake"), block);
  for (const arm of ARMS) assert(!block.includes(arm), block);
});

Deno.test("repairInstruction: a home of turnguard's own is told turnguard's commands", () => {
  const line = (changes: Partial<InstructionSituation>, root?: string) =>
    repairInstruction(situation({ ...changes, commands: ownCommands(root) }));
  assertStringIncludes(line({ harness: "codex" }), ": turnguard checkpoint --seconds 7 and ");
  assertStringIncludes(
    line({ harness: "codex" }, "/a home"),
    ": turnguard checkpoint --root '/a home' --seconds 7 and ",
  );
  assertStringIncludes(line({ harness: "grok" }), "run turnguard arm as its own Grok tracked ");
  assertStringIncludes(line({ harness: "opencode" }), "; turnguard arm is a manual recovery probe");
  assertStringIncludes(
    line({ mode: "away" }),
    "load /afk and make sure its daemon runs (turnguard afk on, ",
  );
  assertStringIncludes(line({ mode: "quiet" }, "/h"), "(turnguard afk on --root /h --quiet, ");
  for (const [harness] of TEXTS) assert(!line({ harness }).includes("bin/fm-"), harness);
});
