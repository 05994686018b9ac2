/**
 * Every recorded or written payload, fed unchanged to `stop` and `stop --cursor`.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import { makeHome, type TestHome } from "../support/home.ts";
import { snapshot } from "../support/snapshot.ts";
import { runTurnguard, tabulate, verdictOf } from "../support/turnguard.ts";

const FIXTURES = join(dirname(dirname(fromFileUrl(import.meta.url))), "fixtures");

/** A payload and its exit status in default mode and, where one is defined, with `--cursor`. */
type Row = readonly [file: string, stop: 0 | 2, cursor?: 0 | 2];

const CLAUDE: readonly Row[] = [
  ["claude-stop-ordinary", 2, 2],
  ["claude-stop-continuation", 0, 0],
  ["claude-stop-background-work", 2, 2],
  ["claude-stop-minimal", 2, 2],
  ["claude-stop-empty-object", 2, 2],
  ["claude-stop-no-session-id", 2, 2],
  ["claude-stop-malformed-type", 0, 0],
  ["claude-stop-null-active", 0, 0],
  ["claude-stop-truncated", 0, 0],
  ["claude-stop-top-level-array", 0, 0],
  ["claude-stop-two-documents", 0, 0],
  ["claude-stop-cursor-host", 0, 2],
  ["claude-stop-cursor-version-number", 2, 2],
  ["claude-stop-pi-code", 2, 2],
  ["claude-stop-pi-code-relative", 2, 2],
  ["claude-stopfailure-ordinary", 2, 2],
  // Other events: no mode looks at an event's name, only registration keeps them away.
  ["claude-pretooluse-agent", 2, 2],
  ["claude-pretooluse-task-legacy", 2, 2],
  ["claude-subagentstart-ordinary", 2, 2],
  ["claude-subagentstop-ordinary", 2, 2],
  ["claude-subagentstop-continuation", 0, 0],
  ["claude-subagentstop-no-agent-id", 2, 2],
  ["claude-posttooluse-agent-completed", 2, 2],
  ["claude-posttooluse-agent-async", 2, 2],
  ["claude-posttoolusefailure-agent", 2, 2],
  ["claude-posttoolusefailure-interrupt", 2, 2],
  ["claude-pretooluse-bash", 2, 2],
  ["claude-posttooluse-bash", 2, 2],
  ["claude-pretooluse-inside-subagent", 2, 2],
  ["claude-pretooluse-missing-tool", 2, 2],
  ["claude-pretooluse-numeric-tool", 2, 2],
  ["claude-userpromptsubmit-ordinary", 2, 2],
  ["claude-sessionstart-startup", 2, 2],
  ["claude-sessionstart-compact", 2, 2],
  ["claude-sessionend-ordinary", 2, 2],
  ["claude-notification-idle", 2, 2],
];

const CODEX: readonly Row[] = [
  ["codex-stop-ordinary", 2, 2],
  ["codex-stop-continuation", 0, 0],
  ["codex-stop-nullable-fields", 2, 2],
  ["codex-stop-minimal", 2, 2],
  ["codex-stop-malformed-type", 0, 0],
  ["codex-stop-foreign-host", 0, 2],
  ["codex-sessionstart-startup", 2, 2],
  ["codex-pretooluse-bash", 2, 2],
  ["codex-subagentstop-ordinary", 2, 2],
];

const CURSOR: readonly Row[] = [
  ["cursor-stop-ordinary", 0, 2],
  ["cursor-stop-continuation", 0, 2],
  ["cursor-stop-aborted", 0, 2],
  ["cursor-stop-fractional-loop-count", 0, 2],
  ["cursor-stop-minimal", 0, 2],
  ["cursor-stop-documented-fields-only", 0, 2],
  ["cursor-stop-unsafe-session-id", 0, 2],
  ["cursor-stop-at-ceiling", 0, 2],
  ["cursor-stop-past-ceiling", 0, 2],
  ["cursor-stop-malformed-loop-count", 0, 2],
  ["cursor-stop-null-loop-count", 0, 2],
  ["cursor-stop-negative-loop-count", 0, 2],
  ["cursor-stop-top-level-string", 0, 0],
  ["cursor-sessionstart-ordinary", 0, 2],
  ["cursor-pretooluse-shell", 0, 2],
  ["cursor-subagentstop-ordinary", 0, 2],
];

const GROK: readonly Row[] = [
  ["grok-stop-native-initial", 2],
  ["grok-stop-native-continuation", 0],
  ["grok-stop-snake-initial", 2],
  ["grok-stop-snake-continuation", 0],
  ["grok-stop-camel-true-over-snake-false", 0],
  ["grok-stop-camel-false-over-snake-true", 2],
  ["grok-stop-camel-boolean-snake-number", 2],
  ["grok-stop-camel-string", 0],
  ["grok-stop-camel-null-snake-false", 0],
  ["grok-stop-snake-number", 0],
  ["grok-stop-duplicate-camel", 2],
  ["grok-stop-duplicate-session", 2],
  ["grok-stop-object-session", 2],
  ["grok-stop-two-documents", 0],
  ["grok-stop-blank", 0],
  ["grok-stop-truncated", 0],
  ["grok-stop-legacy-absent", 2],
  ["grok-stop-legacy-minimal", 2],
  ["grok-stop-legacy-no-session", 2],
  ["grok-stop-legacy-empty-session", 2],
  ["grok-stop-legacy-numeric-session", 2],
  ["grok-stop-session-end", 2],
  ["grok-subagentstop-ordinary", 2],
  ["grok-pretooluse-shell", 2],
];

const ADAPTERS: readonly Row[] = [
  ["opencode-guard-stdin", 2],
  ["pi-guard-stdin", 2],
  ["omp-guard-stdin-initial", 2],
  ["omp-guard-stdin-continuation", 0],
];

const CAPTURED: readonly Row[] = [
  ["claude-code-2.1.197/background-agent-10-Stop", 2, 2],
  ["claude-code-2.1.197/parallel-agents-10-Stop", 2, 2],
  ["codex-0.171.0/03-Stop", 2, 2],
];

const GROUPS: ReadonlyArray<
  readonly [harness: string, folder: string, rows: readonly Row[]]
> = [
  ["Claude Code", "payloads", CLAUDE],
  ["Codex", "payloads", CODEX],
  ["Cursor", "payloads", CURSOR],
  ["Grok in default mode", "payloads", GROK],
  ["OpenCode, Pi and omp adapters", "payloads", ADAPTERS],
  ["real harness runs", "captured", CAPTURED],
];

/** Payloads that never reach `stop`: events of in-process adapters, and those of the Kimi hook. */
const ELSEWHERE = /^(opencode[12]-|omp-session_stop-|pi-(?!guard-stdin)|kimi-)/;

for (const [harness, folder, rows] of GROUPS) {
  Deno.test(`stop: payloads of ${harness} get the verdict of their table`, async () => {
    await using home = makeHome().task();
    const all = cases(rows);
    assertEquals(await verdicts(home, folder, all), words(all, ({ status }) => status));
  });

  Deno.test(`stop: in a home without need no payload of ${harness} blocks`, async () => {
    await using home = makeHome();
    const blocking = cases(rows).filter(({ status }) => status === 2);
    assertEquals(await verdicts(home, folder, blocking), words(blocking, () => 0));
  });

  Deno.test(`stop: below a healthy watcher no payload of ${harness} blocks`, async () => {
    await using home = makeHome().task();
    await home.watcher(5);
    const blocking = cases(rows).filter(({ status }) => status === 2);
    assertEquals(await verdicts(home, folder, blocking), words(blocking, () => 0));
  });
}

Deno.test("stop: every payload that can reach it has a row", () => {
  const named = GROUPS.filter(([, folder]) => folder === "payloads")
    .flatMap(([, , rows]) => rows.map(([file]) => `${file}.json`));
  const present = [...Deno.readDirSync(join(FIXTURES, "payloads"))]
    .map(({ name }) => name).filter((name) => !ELSEWHERE.test(name));
  assertEquals(present.sort(), named.sort());
});

/** One payload in one mode. */
interface Case {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly status: 0 | 2;
}

function cases(rows: readonly Row[]): readonly Case[] {
  return rows.flatMap(([file, stop, cursor]): Case[] => [
    { name: file, file, args: ["stop"], status: stop },
    ...(cursor === undefined
      ? []
      : [{ name: `${file} --cursor`, file, args: ["stop", "--cursor"], status: cursor }]),
  ]);
}

async function verdicts(
  home: TestHome,
  folder: string,
  rows: readonly Case[],
): Promise<Readonly<Record<string, string>>> {
  const before = snapshot(home.state);
  const outcome = await tabulate(rows, ({ name }) => name, async ({ file, args }) => {
    const stdin = Deno.readFileSync(join(FIXTURES, folder, `${file}.json`));
    return verdictOf(await runTurnguard([...args, ...home.args], { stdin, env: home.env }));
  });
  assertEquals(snapshot(home.state), before);
  return outcome;
}

function words(
  rows: readonly Case[],
  statusOf: (row: Case) => 0 | 2,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    rows.map((row) => [row.name, statusOf(row) === 2 ? "block" : "allow"]),
  );
}
