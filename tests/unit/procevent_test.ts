/**
 * Process-event sources: the forms of their files, and how queued rows are surfaced.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { isPid } from "../../src/platform/pid.ts";
import { type Claim, formatClaim, parseClaim } from "../../src/state/procevent/claim.ts";
import {
  captureResult,
  inboxFolder,
  markHandled,
  resultWake,
  unhandledResults,
} from "../../src/state/procevent/inbox.ts";
import {
  formatSource,
  isAdapterName,
  parseSource,
  parseSourceId,
  type Source,
} from "../../src/state/procevent/source.ts";
import { tryLock } from "../../src/state/lock.ts";
import { surfacedReason, takeQueuedResults } from "../../src/watch/procevent/queued_results.ts";
import { confirmSeconds } from "../../src/watch/procevent/liveness_repair.ts";
import { environmentOf } from "../../src/platform/environment.ts";

/** A state directory for one test. */
class TempState implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  readonly paths = {
    state: this.path,
    queue: `${this.path}/.wake-queue`,
    lock: `${this.path}/.wake-queue.lock`,
  };

  queue(...keys: readonly string[]): void {
    const rows = keys.map((key, index) => `1\t${index + 1}\tcheck\t${key}\tp\n`);
    Deno.writeTextFileSync(this.paths.queue, rows.join(""));
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

Deno.test("parseSourceId: slugs of at most 64 characters", () => {
  assertEquals(parseSourceId("a.B-9_"), "a.B-9_");
  assertEquals(parseSourceId("x".repeat(64))?.length, 64);
  for (const text of ["", ".a", "a/b", "a b", "x".repeat(65)]) {
    assertEquals(parseSourceId(text), undefined, text);
  }
});

Deno.test("isAdapterName: short lower-case words", () => {
  for (const name of ["plain", "a-1", "x".repeat(32)]) assert(isAdapterName(name), name);
  for (const name of ["", "A", "a_b", "../a", "a b", "x".repeat(33)]) assert(!isAdapterName(name));
});

const SOURCE: Source = { adapter: "plain", argv: ["printf", "", "a b", "$x", "argv:"] };

Deno.test("parseSource: reads back what is written, empty arguments included", () => {
  assertEquals(parseSource(formatSource(SOURCE)), SOURCE);
  assertEquals(formatSource(SOURCE).split("\n").slice(0, 3), ["adapter=plain", "argc=5", "argv:"]);
});

Deno.test("parseSource: anything else is no registration", () => {
  const text = formatSource(SOURCE);
  for (
    const other of [
      "",
      text.slice(0, -1),
      `${text}more\n`,
      text.replace("argc=5", "argc=4"),
      text.replace("argc=5", "argc=x"),
      text.replace("adapter=plain", "adapter=../x"),
      text.replace("argv:", "args:"),
      "adapter=plain\nargc=0\nargv:\n",
      "adapter=plain\nargc=1\nargv:\n\n",
    ]
  ) assertEquals(parseSource(other), undefined, JSON.stringify(other));
});

function claim(): Claim {
  const runner = 4_711;
  assert(isPid(runner));
  return {
    home: "/h o/me",
    runner,
    token: "t0ken",
    runnerIdentity: "linux-starttime=1 cmdline-hex=00",
    folder: "/h o/me/state/procevent",
    registration: "1:2",
    phase: "terminal",
  };
}

Deno.test("parseClaim: seven lines, of which older builds wrote four", () => {
  const text = formatClaim(claim());
  assertEquals(text.split("\n").length, 8);
  assertEquals(parseClaim(text), claim());
  const old = text.split("\n").slice(0, 4).join("\n") + "\n";
  assertEquals(parseClaim(old), { ...claim(), folder: "", registration: "", phase: "active" });
});

Deno.test("parseClaim: a doubt makes the whole claim unreadable", () => {
  const text = formatClaim(claim());
  for (
    const other of [
      "",
      text.replace("4711", "0"),
      text.replace("4711", "x"),
      text.replace("t0ken", "../t"),
      text.replace("t0ken", ""),
      text.replace("terminal", "over"),
      text.replace("/h o/me/state", "state"),
      text.replace(/linux.*/, ""),
      `${text}more\n`,
    ]
  ) assertEquals(parseClaim(other), undefined, JSON.stringify(other));
});

Deno.test("captureResult: numbers rise from 1, and an acknowledged one is never used again", () => {
  using state = new TempState();
  const id = parseSourceId("src");
  assert(id !== undefined);
  const sequences = [];
  for (let round = 0; round < 3; round++) {
    const staging = `${state.path}/staging`;
    Deno.writeTextFileSync(staging, `out ${round}`);
    const result = captureResult(state.path, id, "plain", staging);
    sequences.push(result.sequence);
    if (round === 0) {
      assertEquals(markHandled(state.path, result), "handled");
      assertEquals(markHandled(state.path, result), "already-handled");
      Deno.removeSync(`${inboxFolder(state.path)}/src.1.result`);
    }
  }
  assertEquals(sequences, [1, 2, 3]);
  assertEquals(unhandledResults(state.path).map((result) => resultWake(result)), [
    { kind: "check", key: "procevent:src:2", payload: "check: procevent plain src 2" },
    { kind: "check", key: "procevent:src:3", payload: "check: procevent plain src 3" },
  ]);
});

Deno.test("surfacedReason: one line, by what the keys are about", () => {
  const failed = "procevent:c:launch-failed:1-2-Ab";
  const keys = ["procevent:a:1", "procevent:b:stranded:tok", failed, "procevent:a:2"];
  assertEquals(
    surfacedReason(keys),
    "check: process-event result captured: procevent:a:1 procevent:a:2; " +
      `process-event source stranded: procevent:b:stranded:tok; ` +
      `process-event source failed to start: ${failed}`,
  );
  assertEquals(surfacedReason([failed]), `check: process-event source failed to start: ${failed}`);
});

Deno.test("takeQueuedResults: a row is marked only when its line was written", async () => {
  using state = new TempState();
  state.queue("procevent:a:1", "other", "procevent:a:1", "procevent:b:2");
  const first = await takeQueuedResults(state.paths);
  assert(first.kind === "wake");
  assertEquals(
    first.reason,
    "check: process-event result captured: procevent:a:1 procevent:b:2",
  );
  first.settle("not written");
  const second = await takeQueuedResults(state.paths);
  assert(second.kind === "wake");
  second.settle("written");
  assertEquals(await takeQueuedResults(state.paths), { kind: "none" });
  const hex = new TextEncoder().encode("procevent:b:2").toHex();
  const marker = Deno.lstatSync(`${state.path}/.seen-procevent-${hex}`);
  assertEquals([marker.size, (marker.mode ?? 0) & 0o777], [0, 0o600]);
});

Deno.test("takeQueuedResults: the queue stays locked until the line is settled", async () => {
  using state = new TempState();
  state.queue("procevent:a:1");
  const taken = await takeQueuedResults(state.paths);
  assert(taken.kind === "wake");
  assertEquals(tryLock(state.paths.lock).kind, "refused");
  taken.settle("written");
  const after = tryLock(state.paths.lock);
  assertEquals(after.kind, "acquired");
  if (after.kind === "acquired") after.lock.release();
});

Deno.test("takeQueuedResults: without a queue, or with other rows, there is none", async () => {
  using state = new TempState();
  assertEquals(await takeQueuedResults(state.paths), { kind: "none" });
  state.queue("/state/a.check.sh", "unauthenticated-state-checks");
  assertEquals(await takeQueuedResults(state.paths), { kind: "none" });
});

Deno.test("confirmSeconds: whole seconds from 1 to 600, three unless set", () => {
  const seconds = (text: string): number | undefined =>
    confirmSeconds(environmentOf({ FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS: text }));
  assertEquals(["", "1", "600"].map(seconds), [3, 1, 600]);
  assertEquals(["0", "601", "1.5", "x", "-1"].map(seconds), Array(5).fill(undefined));
});
