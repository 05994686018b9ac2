/**
 * Wake queues that a crash, a full disk or a stranger left: no command hangs on one, ends without a
 * word, or makes it worse.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { inBatches, runTurnguard } from "../support/turnguard.ts";

const ROW = "1796073535\t5\tsignal\tk\tsignal: k\n";

/** How a queue came to be, and the rows that a drain shows of it; `refused` when it is no queue. */
const QUEUES: Readonly<Record<string, readonly [make: (path: string) => void, shown: string]>> = {
  "absent": [() => {}, ""],
  "empty": [(path) => Deno.writeTextFileSync(path, ""), ""],
  "one newline": [(path) => Deno.writeTextFileSync(path, "\n"), ""],
  "torn in its last row": [(path) => Deno.writeTextFileSync(path, `${ROW}17960735`), ROW],
  "torn after its last field": [(path) => Deno.writeTextFileSync(path, ROW.trimEnd()), ROW],
  "zeros after its rows": [(path) => Deno.writeTextFileSync(path, ROW + "\0".repeat(4096)), ROW],
  "zeros before its rows": [
    (path) => Deno.writeTextFileSync(path, `${"\0".repeat(64)}\n${ROW}`),
    ROW,
  ],
  "bytes that are no text": [
    (path) =>
      Deno.writeFileSync(
        path,
        new Uint8Array([0xff, 0xfe, 0x0a, ...new TextEncoder().encode(ROW), 0xc3]),
      ),
    ROW,
  ],
  "ten megabytes in one line": [
    (path) => Deno.writeTextFileSync(path, `${"x".repeat(10 * 1024 * 1024)}\n${ROW}`),
    ROW,
  ],
  "ten megabytes of newlines": [
    (path) => Deno.writeTextFileSync(path, "\n".repeat(10 * 1024 * 1024) + ROW),
    ROW,
  ],
  "a link to a queue": [
    (path) => {
      Deno.writeTextFileSync(`${path}-elsewhere`, ROW);
      Deno.symlinkSync(`${path}-elsewhere`, path);
    },
    ROW,
  ],
  "a dangling link": [(path) => Deno.symlinkSync("nowhere", path), ""],
  "a link to itself": [(path) => Deno.symlinkSync(path, path), "refused"],
  "a directory": [(path) => Deno.mkdirSync(path), "refused"],
  "a FIFO": [
    (path) => {
      assert(new Deno.Command("/usr/bin/mkfifo", { args: [path] }).outputSync().success);
    },
    "refused",
  ],
  "a device without an end": [(path) => Deno.symlinkSync("/dev/zero", path), "refused"],
};

function made(name: string): TestHome {
  const home = makeHome();
  const entry = QUEUES[name];
  if (entry === undefined) throw new Error(`no queue ${name}`);
  entry[0](home.path("state/.wake-queue"));
  return home;
}

Deno.test("wake drain: every queue is shown as far as it goes, or refused", async () => {
  await inBatches(Object.entries(QUEUES), async ([name, [, shown]]) => {
    await using home = made(name);
    const { status, stdout, stderr } = await runTurnguard(["wake", "drain", ...home.args]);
    assertEquals(stdout, shown === "refused" ? "" : shown, name);
    assertEquals(status, shown === "refused" ? 1 : 0, `${name}: ${stderr}`);
    assertEquals(stderr.includes("--ack-through 5 "), shown === ROW, name);
    assert(!/^ +at |Error:/m.test(stderr), `${name}: ${stderr}`);
    assert(stderr.length < 60_000, `${name}: ${stderr.length} characters on standard error`);
    if (shown === "refused") assert(stderr.includes("cannot be used"), stderr);
  }, 2);
});

Deno.test("wake list, drain --queued and ack: no queue makes one hang or fall over", async () => {
  const calls: readonly (readonly string[])[] = [
    ["wake", "list"],
    ["wake", "list", "--json"],
    ["drain", "--queued"],
    ["wake", "ack", "--ack-through", "5", "--recovery-generation", "g"],
  ];
  await inBatches(Object.entries(QUEUES), async ([name, [, shown]]) => {
    await using home = made(name);
    for (const args of calls) {
      const { status, stderr } = await runTurnguard([...args, ...home.args]);
      const where = `${args.join(" ")}, ${name}: ${stderr.slice(0, 300)}`;
      assert(status === 0 || status === 1, where);
      if (shown === "refused") assertEquals(status, 1, where);
      assert(!/^ +at |Error:/m.test(stderr), where);
    }
  }, 2);
});
