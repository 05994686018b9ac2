/**
 * `log`: the journal as lines, as entries, and while it grows.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { runTurnguard, startTurnguard } from "../support/turnguard.ts";

const JOURNAL = "state/.turnguard-journal.jsonl";

/** One line of a journal; the number tells the entries apart. */
function entry(number: number, changes: Readonly<Record<string, unknown>> = {}): string {
  const whole = {
    time: "2026-01-02T03:04:05.678Z",
    mode: "stop",
    harness: "codex",
    session: null,
    verdict: "block",
    code: "unsupervised",
    facts: { need: `${number} task(s) in flight`, watcher: `n${number}`, daemon: "off" },
    ms: number,
    ...changes,
  };
  return `${JSON.stringify(whole)}\n`;
}

function append(home: TestHome, text: string): void {
  Deno.writeTextFileSync(home.path(JOURNAL), text, { append: true });
}

Deno.test("log: newest last, twenty at most, the rotated half included", async () => {
  await using home = makeHome();
  home.write(`${JOURNAL}.1`, entry(1) + entry(2));
  home.write(JOURNAL, Array.from({ length: 19 }, (_, index) => entry(index + 3)).join(""));
  const { status, stdout } = await runTurnguard(["log", ...home.args], { env: { TZ: "UTC" } });
  const lines = stdout.trimEnd().split("\n");
  assertEquals([status, lines.length], [0, 20]);
  assertEquals(lines[0], "01-02 03:04:05 stop   codex    block unsupervised: n2");
  assertEquals(lines.at(-1), "01-02 03:04:05 stop   codex    block unsupervised: n21");
});

Deno.test("log: --lines chooses how many, and only a whole number will do", async () => {
  await using home = makeHome();
  append(home, entry(1) + entry(2) + entry(3));
  const shown = async (lines: string): Promise<number> =>
    (await runTurnguard(["log", "--lines", lines, ...home.args])).stdout.split("\n").length - 1;
  assertEquals([await shown("2"), await shown("0"), await shown("99")], [2, 0, 3]);
  const { status, stdout, stderr } = await runTurnguard(["log", "--lines", "x", ...home.args]);
  assertEquals([status, stdout], [2, ""]);
  assertStringIncludes(stderr, "--lines");
});

Deno.test("log: lines fit 80 columns and cannot steer the terminal", async () => {
  await using home = makeHome();
  append(home, entry(1, { facts: { watcher: `\u001b[31m${"long ".repeat(60)}` } }));
  append(home, entry(2, { harness: "x\u0007".repeat(80), time: "no time\u001b" }));
  const { stdout } = await runTurnguard(["log", ...home.args]);
  for (const line of stdout.trimEnd().split("\n")) {
    assert(Array.from(line).length <= 80, line);
    // deno-lint-ignore no-control-regex -- control characters are what must not be there
    assert(!/[\u0000-\u001f\u007f]/.test(line), JSON.stringify(line));
  }
});

Deno.test("log --json: the entries as they are, whatever else they hold", async () => {
  await using home = makeHome();
  append(home, `${entry(1, { added: [1] })}torn {\n${entry(2)}`);
  const { stdout } = await runTurnguard(["log", "--json", ...home.args]);
  assertEquals(stdout, entry(1, { added: [1] }) + entry(2));
});

Deno.test("log: no journal is no entries, no state directory is an error", async () => {
  await using home = makeHome();
  assertEquals(await runTurnguard(["log", ...home.args]), { status: 0, stdout: "", stderr: "" });
  home.remove("state");
  const { status, stdout, stderr } = await runTurnguard(["log", ...home.args]);
  assertEquals([status, stdout], [1, ""]);
  assertMatch(stderr, /^turnguard log: there is no state directory at .*\n$/);
});

/** Milliseconds after which a follower that shows nothing has failed. */
const SILENT_MS = 20_000;

/** A running `log --follow --json`, read line by line. */
class Follower implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #limit: number;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";

  constructor(home: TestHome) {
    this.#child = startTurnguard(["log", "--follow", "--json", ...home.args], { stdout: "piped" });
    // Its end ends the reading, too.
    this.#limit = setTimeout(() => this.#child.kill("SIGKILL"), SILENT_MS);
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The number of the next entry. */
  async next(): Promise<unknown> {
    while (!this.#text.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) return "ended";
      this.#text += value;
    }
    const end = this.#text.indexOf("\n") + 1;
    const line: Readonly<Record<string, unknown>> = JSON.parse(this.#text.slice(0, end));
    this.#text = this.#text.slice(end);
    return line["ms"];
  }

  async stop(signal: Deno.Signal): Promise<number> {
    this.#child.kill(signal);
    return (await this.#child.status).code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#limit);
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await this.#child.status;
    await this.#reader.cancel();
  }
}

Deno.test("log --follow: shows what is there, what comes, and goes on after a rotation", async () => {
  await using home = makeHome();
  home.write(`${JOURNAL}.1`, entry(1));
  append(home, entry(2));
  await using follower = new Follower(home);
  assertEquals([await follower.next(), await follower.next()], [1, 2]);
  append(home, entry(3));
  assertEquals(await follower.next(), 3);
  append(home, entry(4));
  Deno.renameSync(home.path(JOURNAL), home.path(`${JOURNAL}.1`));
  append(home, entry(5) + entry(6));
  assertEquals([await follower.next(), await follower.next(), await follower.next()], [4, 5, 6]);
  assertEquals(await follower.stop("SIGTERM"), 0);
});

Deno.test("log --follow: what stood before a rotation is told once, while nothing new is there", async () => {
  await using home = makeHome();
  append(home, entry(1));
  await using follower = new Follower(home);
  assertEquals(await follower.next(), 1);
  append(home, entry(2));
  Deno.renameSync(home.path(JOURNAL), home.path(`${JOURNAL}.1`));
  assertEquals(await follower.next(), 2);
  append(home, entry(3));
  assertEquals(await follower.next(), 3);
});

Deno.test("log --follow: a line counts once it is complete", async () => {
  await using home = makeHome();
  append(home, entry(1));
  await using follower = new Follower(home);
  assertEquals(await follower.next(), 1);
  const line = entry(2);
  append(home, line.slice(0, 20));
  append(home, line.slice(20) + entry(3));
  assertEquals([await follower.next(), await follower.next()], [2, 3]);
  assertEquals(await follower.stop("SIGINT"), 0);
});

Deno.test("log --follow: a new journal under the old one's number is a new one", async () => {
  await using home = makeHome();
  append(home, entry(1));
  await using follower = new Follower(home);
  assertEquals(await follower.next(), 1);
  // Written over in place, which is what a reused number looks like.
  home.write(JOURNAL, entry(2) + entry(3));
  assertEquals([await follower.next(), await follower.next()], [2, 3]);
});

Deno.test("log --follow: waits for a state directory, and survives that it is replaced", async () => {
  await using home = makeHome();
  home.remove("state");
  await using follower = new Follower(home);
  home.write(JOURNAL, entry(1));
  assertEquals(await follower.next(), 1);
  home.remove("state");
  home.write(JOURNAL, entry(2) + entry(3));
  assertEquals([await follower.next(), await follower.next()], [2, 3]);
});
