/**
 * `explain stop` tells the verdict that `stop` would give, rule by rule, and changes nothing.
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
import { makeHome, type TestHome } from "../support/home.ts";
import { FIRST_STOP, type RunOptions, type RunResult, runTurnguard } from "../support/turnguard.ts";

/** A home, how it is asked, and what must be found. */
interface Sample {
  readonly what: string;
  readonly arrange: (home: TestHome) => unknown;
  readonly stdin?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly verdict: "allow" | "block";
  readonly code: string;
}

const SAMPLES: readonly Sample[] = [
  { what: "no need", arrange: () => {}, verdict: "allow", code: "no-need" },
  {
    what: "a task without a watcher",
    arrange: (home) => home.task(),
    verdict: "block",
    code: "unsupervised",
  },
  {
    what: "a healthy watcher",
    arrange: (home) => home.task().watcher(5),
    verdict: "allow",
    code: "watcher-healthy",
  },
  {
    what: "a stale watcher",
    arrange: (home) => home.task().watcher(900),
    verdict: "block",
    code: "unsupervised",
  },
  {
    what: "a continuation",
    arrange: (home) => home.task(),
    stdin: '{"stop_hook_active":true}',
    verdict: "allow",
    code: "already-continued",
  },
  {
    what: "an unreadable payload",
    arrange: (home) => home.task(),
    stdin: "{",
    verdict: "allow",
    code: "payload-unreadable",
  },
  {
    what: "Cursor's payload",
    arrange: (home) => home.task(),
    stdin: '{"cursor_version":"x"}',
    verdict: "allow",
    code: "foreign-host",
  },
  {
    what: "Cursor's payload with --cursor",
    arrange: (home) => home.task(),
    stdin: '{"cursor_version":"x"}',
    args: ["--cursor"],
    verdict: "block",
    code: "unsupervised",
  },
  {
    what: "a root without AGENTS.md",
    arrange: (home) => home.task().remove("AGENTS.md"),
    verdict: "allow",
    code: "out-of-scope",
  },
  {
    what: "an owning daemon",
    arrange: async (home) => {
      await home.task().away().beat(5).daemon();
    },
    verdict: "allow",
    code: "daemon-owns",
  },
];

function ask(
  home: TestHome,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return runTurnguard([...args, ...home.args], {
    stdin: FIRST_STOP,
    ...options,
    env: { ...home.env, CLAUDECODE: "1", ...options.env },
  });
}

/** A text without its ages: a second may begin between two runs. */
function ageless(text: string): string {
  return text.replaceAll(/[0-9]+s ago/g, "some time ago");
}

for (const sample of SAMPLES) {
  Deno.test(`explain stop: ${sample.what} is explained as it is judged`, async () => {
    await using home = makeHome();
    await sample.arrange(home);
    const args = sample.args ?? [];
    const stdin = sample.stdin ?? FIRST_STOP;
    const before = listing(home);
    const [text, json] = await Promise.all([
      ask(home, ["explain", "stop", ...args], { stdin }),
      ask(home, ["explain", "stop", "--json", ...args], { stdin }),
    ]);
    assertEquals(listing(home), before);
    const stopped = await ask(home, ["stop", ...args], { stdin });

    assertEquals([text.status, text.stderr, json.status, json.stderr], [0, "", 0, ""]);
    const document = parse(json.stdout);
    assertEquals([document["verdict"], document["code"]], [sample.verdict, sample.code]);
    assertEquals(stopped.status, sample.verdict === "block" ? 2 : 0);
    assertEquals(document["exit"], stopped.status);
    const told = sample.verdict === "block" ? ageless(stopped.stderr) : null;
    assertEquals(document["told"] === null ? null : ageless(String(document["told"])), told);

    assertMatch(text.stdout, sample.verdict === "block" ? /^BLOCK / : /^ALLOW /);
    assertStringIncludes(text.stdout, sample.code);
    const steps = document["steps"];
    assert(Array.isArray(steps) && steps.length > 0);
    for (const step of steps.map(record)) {
      assert(text.stdout.includes(String(step["rule"])), String(step["rule"]));
      assert(String(step["because"]).length > 0 && String(step["saw"]).length > 0);
    }
    const conclusions = steps.map((step) => record(step)["conclusion"]);
    assertEquals(conclusions.at(-1), sample.verdict);
    assertEquals(new Set(conclusions.slice(0, -1)), new Set(steps.length > 1 ? ["ask-on"] : []));
  });
}

Deno.test("explain stop: without a payload an ordinary first stop is assumed, and said so", async () => {
  await using home = makeHome().task();
  for (const stdin of ["", null]) {
    const json = parse((await ask(home, ["explain", "stop", "--json"], { stdin })).stdout);
    assertEquals([json["verdict"], json["payload"]], ["block", "assumed"]);
    const text = await ask(home, ["explain", "stop"], { stdin });
    assertMatch(text.stdout, /none given: an ordinary first stop/);
  }
});

Deno.test("explain stop: a malformed number is told", async () => {
  await using home = makeHome().task();
  await home.watcher(5);
  const env = { FM_GUARD_GRACE: "abc" };
  const text = await ask(home, ["explain", "stop"], { env });
  assertMatch(text.stdout, /^ALLOW /);
  assertMatch(text.stdout, /FM_GUARD_GRACE="abc"/);
  const json = parse((await ask(home, ["explain", "stop", "--json"], { env })).stdout);
  assert(Array.isArray(json["notices"]) && json["notices"].length === 1);
});

Deno.test("explain stop: text fits a terminal and steers none", async () => {
  await using home = makeHome({ name: "\u001b[31m\u202ehome" }).task();
  await home.watcher(5, { home: "/other\u001b]0;x\u0007\nline" });
  const { stdout } = await ask(home, ["explain", "stop"]);
  assertNotMatch(stdout.replaceAll("\n", ""), /[\p{Cc}\u202a-\u202e]/u);
  const wide = stdout.split("\n").filter((line) =>
    line.length > 80 && /\s\S+\s/.test(line.trim()) && !line.startsWith("●")
  );
  assertEquals(wide, []);
});

Deno.test("explain stop: JSON steers no terminal either", async () => {
  await using home = makeHome({ name: "\u001b[31mhome" }).task();
  const { stdout } = await ask(home, ["explain", "stop", "--json"]);
  assertEquals(record(parse(stdout)["home"])["root"], home.root);
  assert([...stdout].every((letter) => letter === "\n" || letter >= " "));
});

Deno.test("explain: another word than a mode is a usage error on standard error", async () => {
  await using home = makeHome();
  for (const words of [["explain"], ["explain", "nonsense"], ["explain", "stop", "--nonsense"]]) {
    const result = await ask(home, words);
    assertEquals([result.status, result.stdout], [2, ""], words.join(" "));
    assertMatch(result.stderr, /^[^\n]+\n$/);
  }
});

function listing(home: TestHome): readonly string[] {
  const walk = (folder: string): readonly string[] =>
    [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      const { mtime, size } = Deno.lstatSync(path);
      return [`${path} ${mtime?.getTime()} ${size}`, ...(isDirectory ? walk(path) : [])];
    });
  return [...walk(home.root)].sort();
}

function parse(text: string): Readonly<Record<string, unknown>> {
  return record(JSON.parse(text));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  assert(typeof value === "object" && value !== null && !Array.isArray(value));
  return Object.fromEntries(Object.entries(value));
}
