/**
 * Standard input in every state that a host can leave it in. The home always has a task and no
 * watcher, so a payload that can be read blocks and everything else allows in silence.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { isFile } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import {
  FIRST_STOP,
  type RunOptions,
  runProgram,
  runTurnguard,
  startTurnguard,
  tabulate,
  TURNGUARD,
  verdictOf,
} from "../support/turnguard.ts";

type Input = NonNullable<RunOptions["stdin"]>;

function stop(home: TestHome, stdin: RunOptions["stdin"]): Promise<string> {
  return runTurnguard(["stop", ...home.args], {
    stdin: stdin ?? null,
    env: { CLAUDECODE: "1", ...home.env },
  })
    .then(verdictOf);
}

const INPUTS: ReadonlyArray<readonly [what: string, input: Input, verdict: "allow" | "block"]> = [
  ["nothing", "", "allow"],
  ["a newline", "\n", "allow"],
  ["no JSON", "stop", "allow"],
  ["a shell command", "$(touch /tmp/x)", "allow"],
  ["an array", "[1]", "allow"],
  ["a number", "-0", "allow"],
  ["a wrong type", '{"stop_hook_active":"no"}', "allow"],
  ["a repeated key, last one wrong", '{"stop_hook_active":false,"stop_hook_active":0}', "allow"],
  ["a repeated key, last one right", '{"stop_hook_active":0,"stop_hook_active":false}', "block"],
  ["a byte-order mark", `\ufeff${FIRST_STOP}`, "block"],
  ["two byte-order marks", `\ufeff\ufeff${FIRST_STOP}`, "allow"],
  ["CRLF line ends", `{\r\n  "stop_hook_active": false\r\n}\r\n`, "block"],
  ["UTF-16", utf16(FIRST_STOP), "allow"],
  ["invalid UTF-8 in a text", bytes('{"a":"', [0xc0, 0xff], '"}'), "block"],
  ["invalid UTF-8 between values", bytes('{"a":', [0xfe], "1}"), "allow"],
  ["an escaped lone surrogate", '{"a":"\\ud800","b":"\\udfff"}', "block"],
  ["a raw lone surrogate", bytes('{"a":"', [0xed, 0xa0, 0x80], '"}'), "block"],
  ["a NUL after the object", `${FIRST_STOP}\0`, "allow"],
  ["NULs only", "\0\0\0", "allow"],
  ["control characters in a text", '{"a":"\u0001"}', "allow"],
  ["a field named like the prototype", '{"__proto__":{"stop_hook_active":true}}', "block"],
  ["a number beyond any", '{"a":1e999,"b":-1e999}', "block"],
  ["thousands of fields", `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`)}}`, "block"],
];

Deno.test("stop: every kind of input gets its verdict and nothing else", async () => {
  await using home = makeHome().task();
  const expected = Object.fromEntries(INPUTS.map(([what, , verdict]) => [what, verdict]));
  const actual = await tabulate(INPUTS, ([what]) => what, ([, input]) => stop(home, input));
  assertEquals(actual, expected);
});

Deno.test("stop: nesting of any depth is judged or allowed, and never a crash", async () => {
  await using home = makeHome().task();
  for (const depth of [1_000, 10_000, 200_000]) {
    const verdict = await stop(home, `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`);
    assert(["allow", "block"].includes(verdict), `${depth}: ${verdict}`);
  }
});

Deno.test("stop: a payload of 50 MB is read whole", async () => {
  await using home = makeHome().task();
  const text = `{"last_assistant_message":"${"x".repeat(50_000_000)}","stop_hook_active":`;
  assertEquals(await stop(home, `${text}false}`), "block");
  assertEquals(await stop(home, `${text}true}`), "allow");
});

Deno.test("stop: a payload above the limit is allowed, and its writer never meets a broken pipe", async () => {
  await using home = makeHome().task();
  const child = startTurnguard(["stop", ...home.args], { env: home.env, stdin: "piped" });
  const writer = child.stdin.getWriter();
  const part = new Uint8Array(1 << 20).fill(0x20);
  for (let count = 0; count < 70; count++) await writer.write(part);
  await writer.close();
  assertEquals((await child.status).code, 0);
});

Deno.test("stop: a complete payload is judged though its pipe is never closed", async () => {
  await using home = makeHome().task();
  for (const open of [FIRST_STOP, `${FIRST_STOP}\n`, `\ufeff${FIRST_STOP} \r\n`]) {
    assertEquals(await stop(home, { open }), "block", JSON.stringify(open));
  }
  assertEquals(await stop(home, { open: '{"stop_hook_active":true}' }), "allow");
});

Deno.test("stop: an unfinished payload of a silent host is allowed after a short wait", async () => {
  await using home = makeHome().task();
  const inputs = ["", "\n", FIRST_STOP.slice(0, -1), "[", `${FIRST_STOP} {`];
  const verdicts = await tabulate(
    inputs,
    (open) => JSON.stringify(open),
    (open) => stop(home, { open }),
  );
  assertEquals([...new Set(Object.values(verdicts))], ["allow"], JSON.stringify(verdicts));
});

Deno.test("stop: a payload that arrives byte by byte is judged as a whole", async () => {
  await using home = makeHome().task();
  const child = startTurnguard(["stop", ...home.args], {
    env: home.env,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const output = child.output();
  const writer = child.stdin.getWriter();
  for (const byte of new TextEncoder().encode(FIRST_STOP)) {
    await writer.write(Uint8Array.of(byte));
  }
  await writer.close();
  assertEquals((await output).code, 2);
});

/** Redirections of a shell, and the verdict behind each. */
const REDIRECTIONS: ReadonlyArray<readonly [redirection: string, verdict: "allow" | "block"]> = [
  ["<&-", "allow"],
  ["</dev/null", "allow"],
  ["</", "allow"],
  ['<"$3"', "block"],
  ['<>"$3"', "block"],
];

Deno.test("stop: closed, empty, foreign and ordinary files as input get their verdict", async () => {
  await using home = makeHome().task().write("payload.json", FIRST_STOP);
  for (const [redirection, verdict] of REDIRECTIONS) {
    const script = `exec "$1" stop --root "$2" ${redirection}`;
    const result = await runProgram(
      ["/bin/sh", "-c", script, "-", TURNGUARD, home.root, home.path("payload.json")],
      { stdin: null, env: home.env },
    );
    assertEquals(verdictOf(result), verdict, redirection);
  }
});

const SCRIPT = "/usr/bin/script";

Deno.test(
  "stop: a terminal as input is never waited for",
  { ignore: !isFile(SCRIPT) },
  async () => {
    await using home = makeHome().task();
    const command = `'${TURNGUARD}' stop --root '${home.root}'`;
    const result = await runProgram(
      [SCRIPT, "--quiet", "--return", "--command", command, "/dev/null"],
      // The terminal stays open as long as this pipe does, so only a mode that asks it would wait.
      {
        stdin: { open: "" },
        env: { ...home.env, SHELL: "/bin/sh", TERM: "dumb" },
        limitMs: 20_000,
      },
    );
    assertEquals(result.status, 0, result.stdout);
  },
);

function bytes(before: string, middle: readonly number[], after: string): Uint8Array {
  const encoder = new TextEncoder();
  return Uint8Array.from([...encoder.encode(before), ...middle, ...encoder.encode(after)]);
}

function utf16(text: string): Uint8Array {
  return Uint8Array.from([...text].flatMap((letter) => [letter.charCodeAt(0), 0]));
}
