/**
 * The recovery marker: its transition table row by row, and each change as it lands on disk.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import {
  acknowledgeRecovery,
  armCheck,
  beginHandling,
  publishDowntime,
  publishDowntimeNow,
  reopenRecovery,
} from "../../src/act/recovery.ts";
import {
  type ArmAnswer,
  judgeArm,
  type MarkerEvent,
  nextMarker,
  type Transition,
} from "../../src/decide/recovery_marker.ts";
import { tryLock } from "../../src/state/lock.ts";
import {
  parseRecoveryMarker,
  readRecoveryMarker,
  recoveryLockPath,
  type RecoveryReading,
} from "../../src/state/recovery_marker.ts";

/** Rows of the published table: current marker, then close, append, begin, acknowledge, reopen. */
const TRANSITIONS = `
none                 | pending:downtime:new | pending:downtime:new | refused              | other-generation   | unchanged
invalid              | pending:downtime:new | pending:downtime:new | refused              | other-generation   | unchanged
directory            | refused              | refused              | refused              | other-generation   | unchanged
pending:downtime:g   | unchanged            | unchanged            | pending:handling:g   | acked:downtime:g   | unchanged
pending:handling:g   | pending:downtime:g   | pending:downtime:g   | unchanged            | acked:handling:g   | unchanged
announced:downtime:g | unchanged            | pending:downtime:new | announced:handling:g | acked:downtime:g   | pending:downtime:new
announced:handling:g | pending:downtime:g   | pending:downtime:g   | unchanged            | acked:handling:g   | pending:downtime:new
acked:downtime:g     | pending:downtime:new | pending:downtime:new | refused              | unchanged          | unchanged
acked:handling:g     | pending:downtime:new | pending:downtime:new | refused              | unchanged          | unchanged
`;

const EVENTS: readonly MarkerEvent[] = ["close", "append", "begin", "acknowledge", "reopen"];

/** Current marker, then what an arming watcher makes of it with an empty queue and with wakes. */
const ARMING = `
none                 | none                             | recover announced:downtime:new
invalid              | recover aside announced:downtime:new | recover aside announced:downtime:new
directory            | recover aside announced:downtime:new | recover aside announced:downtime:new
pending:downtime:g   | recover announced:downtime:g     | recover announced:downtime:g
pending:handling:g   | wait                             | wait
announced:downtime:g | wait                             | wait
announced:handling:g | wait                             | wait
acked:downtime:g     | none                             | recover announced:downtime:new
acked:handling:g     | none                             | recover announced:downtime:new
`;

function cells(table: string): readonly (readonly string[])[] {
  return table.trim().split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
}

function readingOf(text: string): RecoveryReading {
  if (text === "none" || text === "invalid" || text === "directory") return { kind: text };
  const marker = parseRecoveryMarker(`${text}\n`);
  if (marker === undefined) throw new Error(`${text} is no marker`);
  return { kind: "valid", marker };
}

function inWords(transition: Transition): string {
  if (transition.kind !== "write") return transition.kind;
  const { status, kind, generation } = transition.marker;
  return `${status}:${kind}:${generation ?? "new"}`;
}

function answerInWords(answer: ArmAnswer): string {
  if (answer.kind !== "recover") return answer.kind;
  const aside = answer.setAside ? " aside" : "";
  return `recover${aside} announced:downtime:${answer.generation ?? "new"}`;
}

Deno.test("nextMarker: every row of the table", () => {
  for (const [current = "", ...expected] of cells(TRANSITIONS)) {
    const got = EVENTS.map((event) =>
      inWords(nextMarker(readingOf(current), event, event === "acknowledge" ? "g" : undefined))
    );
    assertEquals(got, expected, current);
  }
});

Deno.test("nextMarker: whoever names another generation changes nothing", () => {
  for (const [current = ""] of cells(TRANSITIONS).slice(3)) {
    for (const event of ["begin", "acknowledge"] as const) {
      const next = nextMarker(readingOf(current), event, "h");
      assertEquals(inWords(next), "other-generation", `${event} ${current}`);
    }
  }
});

Deno.test("nextMarker: handling begins again only for the very generation that was acknowledged", () => {
  for (const current of ["acked:downtime:g", "acked:handling:g"]) {
    assertEquals(inWords(nextMarker(readingOf(current), "begin", "g")), "unchanged");
    assertEquals(inWords(nextMarker(readingOf(current), "begin")), "refused");
  }
});

Deno.test("judgeArm: every row of the table", () => {
  for (const [current = "", ...expected] of cells(ARMING)) {
    const got = (["empty", "wakes"] as const)
      .map((queue) => answerInWords(judgeArm(readingOf(current), queue)));
    assertEquals(got, expected, current);
  }
});

Deno.test("parseRecoveryMarker: one whole line of known words, and nothing else", () => {
  const valid = ["pending:downtime:1301.1796073535.yXoHmm\n", "acked:handling:-._\n"];
  assertEquals(valid.map((text) => parseRecoveryMarker(text) !== undefined), [true, true]);
  const invalid = [
    "",
    "\n",
    "pending:downtime:g",
    "pending:downtime:g\n\n",
    "pending:downtime:g\nx\n",
    "open:downtime:g\n",
    "pending:uptime:g\n",
    "pending:downtime:\n",
    "pending:downtime:a:b\n",
    "pending:downtime:a b\n",
    "pending:downtime:g\0\n",
    " pending:downtime:g\n",
  ];
  for (const text of invalid) assertEquals(parseRecoveryMarker(text), undefined, text);
});

/** A state directory for one test. */
class TempState implements Disposable {
  readonly state = Deno.makeTempDirSync({ prefix: "turnguard-test-" });

  get paths(): { readonly state: string; readonly queue: string; readonly lock: string } {
    const { state } = this;
    return { state, queue: `${state}/.wake-queue`, lock: `${state}/.wake-queue.lock` };
  }

  get marker(): string {
    return `${this.state}/.watcher-down`;
  }

  /** Puts something at the marker's place. */
  stand(what: string): this {
    if (what === "none") return this;
    if (what === "directory") Deno.mkdirSync(this.marker);
    else if (what === "invalid") Deno.writeTextFileSync(this.marker, "nonsense\n");
    else if (what === "link") Deno.symlinkSync("/nowhere", this.marker);
    else Deno.writeTextFileSync(this.marker, `${what}\n`);
    return this;
  }

  queue(text = "1\t1\tsignal\tk\tp\n"): this {
    Deno.writeTextFileSync(this.paths.queue, text);
    return this;
  }

  /** The marker's line, with `new` for a generation that was not `g`. */
  get found(): string {
    const reading = readRecoveryMarker(this.state);
    if (reading.kind !== "valid") return reading.kind;
    const { status, kind, generation } = reading.marker;
    return `${status}:${kind}:${generation === "g" ? "g" : "new"}`;
  }

  names(): readonly string[] {
    return [...Deno.readDirSync(this.state)].map((entry) => entry.name).toSorted();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.state, { recursive: true });
  }
}

Deno.test("recovery changes: what the table says is what lands on disk", async () => {
  for (const [current = "", ...expected] of cells(TRANSITIONS)) {
    for (const [index, event] of EVENTS.entries()) {
      using temp = new TempState().stand(current);
      if (event === "reopen") temp.queue();
      await apply(event, temp);
      const step = expected[index] ?? "";
      const unchanged = step === "unchanged" || step === "refused" || step === "other-generation";
      assertEquals(temp.found, unchanged ? current : step, `${event} on ${current}`);
      const rest = temp.names().filter((name) =>
        name !== ".wake-queue" && name !== ".watcher-down"
      );
      assertEquals(rest, [], `nothing else is left: ${event} on ${current}`);
    }
  }
});

async function apply(event: MarkerEvent, temp: TempState): Promise<void> {
  switch (event) {
    case "close":
    case "append":
      await publishDowntime(temp.state, 0, event);
      return;
    case "begin":
      await beginHandling(temp.state);
      return;
    case "acknowledge":
      await acknowledgeRecovery(temp.state, "g");
      return;
    case "reopen":
      await reopenRecovery(temp.paths);
  }
}

Deno.test("publishDowntime: a new marker is private and names this process", async () => {
  using temp = new TempState();
  assertEquals(await publishDowntime(temp.state, 0), true);
  assertEquals((Deno.statSync(temp.marker).mode ?? 0) & 0o777, 0o600);
  const pattern = new RegExp(`^pending:downtime:${Deno.pid}\\.[0-9]{10,}\\.[A-Za-z0-9]{6}\n$`);
  assertMatch(Deno.readTextFileSync(temp.marker), pattern);
});

Deno.test("publishDowntime: a link is replaced, and what it names is left alone", async () => {
  using temp = new TempState();
  Deno.writeTextFileSync(`${temp.state}/other`, "mine\n");
  Deno.symlinkSync("other", temp.marker);
  assertEquals(await publishDowntime(temp.state, 0), true);
  assertEquals(temp.found, "pending:downtime:new");
  assertEquals(Deno.readTextFileSync(`${temp.state}/other`), "mine\n");
});

Deno.test("recovery changes: a busy marker lock and a missing state fail without a trace", async () => {
  using temp = new TempState().stand("pending:downtime:g").queue();
  const held = tryLock(recoveryLockPath(temp.state));
  if (held.kind === "refused") throw new Error("the lock must be free");
  using _lock = held.lock;
  const outcomes = [
    await publishDowntime(temp.state, 0),
    publishDowntimeNow(temp.state),
    (await beginHandling(temp.state, { limitMs: 0 })).kind,
    (await acknowledgeRecovery(temp.state, "g", 0)).kind,
    await reopenRecovery(temp.paths, 0),
    await armCheck(temp.paths, 0),
  ];
  assertEquals(outcomes, [false, false, "failed", "failed", false, "failed"]);
  assertEquals(temp.found, "pending:downtime:g");
  const missing = `${temp.state}/missing`;
  assertEquals(await publishDowntime(missing, 0), false);
  assertEquals(publishDowntimeNow(missing), false);
  assertEquals(await armCheck({ ...temp.paths, state: missing }, 0), "failed");
});

Deno.test("reopenRecovery: an announced episode stays without a queued wake", async () => {
  for (const queue of [undefined, ""]) {
    using temp = new TempState().stand("announced:downtime:g");
    if (queue !== undefined) temp.queue(queue);
    assertEquals(await reopenRecovery(temp.paths), true);
    assertEquals(temp.found, "announced:downtime:g");
  }
});

Deno.test("armCheck: what the table says is what lands on disk, and it is said once", async () => {
  for (const [current = "", ...expected] of cells(ARMING)) {
    for (const [index, queue] of ["", "1\t1\tsignal\tk\tp\n"].entries()) {
      using temp = new TempState().stand(current).queue(queue);
      const [answer = "", ...rest] = (expected[index] ?? "").split(" ");
      const where = `${current} with ${queue === "" ? "nothing" : "a wake"}`;
      assertEquals(await armCheck(temp.paths), answer, where);
      assertEquals(temp.found, rest.at(-1) ?? current, where);
      if (answer === "recover") assertEquals(await armCheck(temp.paths), "wait", where);
    }
  }
});

Deno.test("armCheck: an invalid marker is kept in one folder beside its place", async () => {
  for (const what of ["directory", "invalid", "link"]) {
    using temp = new TempState().stand(what);
    if (what === "directory") Deno.writeTextFileSync(`${temp.marker}/inside`, "kept\n");
    assertEquals(await armCheck(temp.paths), "recover", what);
    const [folder = "", ...others] = temp.names().filter((name) => name.includes(".invalid."));
    assertEquals(others, [], what);
    assertMatch(folder, /^\.watcher-down\.invalid\.[A-Za-z0-9]{6}$/);
    const kept = Deno.lstatSync(`${temp.state}/${folder}/marker`);
    assertEquals(
      [kept.isDirectory, kept.isFile, kept.isSymlink],
      [what === "directory", what === "invalid", what === "link"],
    );
    if (what === "directory") {
      const inside = `${temp.state}/${folder}/marker/inside`;
      assertEquals(Deno.readTextFileSync(inside), "kept\n");
    }
  }
});

Deno.test("armCheck: the whole life of an episode, from the first wake to the next", async () => {
  using temp = new TempState();
  assertEquals(await armCheck(temp.paths), "none");
  await publishDowntime(temp.state, 0, "append");
  temp.queue();
  assertEquals(await armCheck(temp.paths), "recover");
  assertEquals(await armCheck(temp.paths), "wait");
  const begun = await beginHandling(temp.state);
  if (begun.kind !== "done" || begun.marker === undefined) throw new Error("handling must begin");
  assertEquals((await acknowledgeRecovery(temp.state, begun.marker.generation)).kind, "done");
  temp.queue("");
  assertEquals(await armCheck(temp.paths), "none");
  temp.queue();
  assertEquals(await armCheck(temp.paths), "recover", "rows without an open episode open one");
});
