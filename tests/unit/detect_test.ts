/** The harness that wording and supervision model are chosen for. */

import { assertEquals } from "@std/assert";
import { type Ancestors, detectHarness } from "../../src/harness/detect.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { pidOf } from "../support/facts.ts";

/** Ancestors by name, nearest first, below pid 1; words after a blank are arguments. */
function ancestors(...lines: readonly string[]): Ancestors {
  const asked = new Map(lines.map((line, index) => [100 - index, line]));
  return {
    nearest: lines.length === 0 ? undefined : pidOf(100),
    info: (at) => {
      const line = asked.get(at);
      if (line === undefined) return Promise.resolve(undefined);
      const [command = "", ...args] = line.split(" ");
      const parent = asked.has(at - 1) ? pidOf(at - 1) : pidOf(1);
      const words = [command, ...args];
      return Promise.resolve({ pid: at, parent, command, args: words.join(" "), argv0: command });
    },
  };
}

async function detected(
  variables: Readonly<Record<string, string>>,
  ...lines: readonly string[]
): Promise<string> {
  return await detectHarness(environmentOf(variables), ancestors(...lines));
}

/** Variables, ancestors, and the harness that they make. */
const TABLE: readonly (readonly [Readonly<Record<string, string>>, readonly string[], string])[] = [
  [{ CURSOR_AGENT: "1", GEMINI_CLI: "1", CLAUDECODE: "1" }, ["claude"], "cursor"],
  [{ CURSOR_INVOKED_AS: "cursor-agent" }, [], "cursor"],
  [{ CURSOR_AGENT: "0" }, [], "unknown"],
  [{ GEMINI_CLI: "1", ROVODEV_CLI: "1" }, [], "gemini"],
  [{ ATLASSIAN_AGENT_TYPE: "rovo", CLAUDECODE: "1" }, [], "rovo"],
  [{ ROVODEV_CLI: "1" }, [], "rovo"],
  [{ FM_OMP_HARNESS: "omp", CLAUDECODE: "1" }, ["sh", "omp"], "omp"],
  [{ FM_OMP_HARNESS: "omp", CLAUDECODE: "1" }, ["sh", "claude"], "claude"],
  [{ FM_OMP_HARNESS: "omp" }, ["sh", "ompd"], "unknown"],
  [{ FM_OMP_HARNESS: "omp" }, [...Array.from({ length: 8 }, () => "sh"), "omp"], "unknown"],
  [{ CLAUDECODE: "1", PI_CODING_AGENT: "true" }, ["sh", "pi", "claude"], "pi"],
  [{ CLAUDECODE: "1", PI_CODING_AGENT: "true" }, ["sh", "claude", "pi"], "claude"],
  [{ CLAUDECODE: "1", PI_CODING_AGENT: "true" }, ["sh"], "claude"],
  [
    { CLAUDECODE: "1", PI_CODING_AGENT: "true", FM_PI_HARNESS: "pi-signed" },
    ["pi"],
    "pi-signed",
  ],
  [{ CLAUDECODE: "1", GROK_AGENT: "1" }, ["codex"], "claude"],
  [{ PI_CODING_AGENT: "true", GROK_AGENT: "1" }, [], "pi"],
  [{ PI_CODING_AGENT: "true", FM_PI_HARNESS: "pi-signed" }, [], "pi-signed"],
  [{ GROK_AGENT: "1" }, ["codex"], "grok"],
  [{}, [], "unknown"],
  [{}, ["sh", "claude"], "claude"],
  [{}, ["sh", "codex", "claude"], "codex"],
  [{}, ["sh", "opencode"], "opencode"],
  [{}, ["cursor-agent"], "cursor"],
  [{}, ["kimi"], "kimi"],
  [{}, ["rovo"], "rovo"],
  [{}, ["muse"], "muse"],
  [{}, ["muse-bin-1.2"], "muse"],
  [{}, ["gemini"], "gemini"],
  [{}, ["omp"], "omp"],
  [{}, ["pi"], "pi"],
  // Reports its own name only through the variable.
  [{}, ["pi-signed"], "pi"],
  [{}, ["node /usr/lib/pi"], "pi"],
  [{}, ["node run pi now"], "pi"],
  [{}, ["node /usr/lib/pip"], "unknown"],
  [{}, ["node /usr/lib/codex/cli.js"], "codex"],
  [{}, ["turnguard stop --claude", "sh"], "unknown"],
  [{}, ["constructor", "toString"], "unknown"],
  [{}, [...Array.from({ length: 7 }, () => "sh"), "claude"], "claude"],
  [{}, [...Array.from({ length: 8 }, () => "sh"), "claude"], "unknown"],
];

Deno.test("detectHarness: markers first, then the nearest ancestor within eight", async () => {
  const rows = await Promise.all(
    TABLE.map(async ([variables, lines]) => await detected(variables, ...lines)),
  );
  assertEquals(rows, TABLE.map(([, , expected]) => expected));
});

Deno.test("detectHarness: pid 1 is not asked", async () => {
  const everywhere: Ancestors = {
    nearest: pidOf(1),
    info: (at) =>
      Promise.resolve({ pid: at, parent: undefined, command: "claude", args: "", argv0: "" }),
  };
  assertEquals(await detectHarness(environmentOf({}), everywhere), "unknown");
});
