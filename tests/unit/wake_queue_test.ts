/**
 * The wake queue: its rows, the numbers they get, and a queue that is not what it should be.
 *
 * @module
 */

import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { appendWake } from "../../src/act/wake_append.ts";
import { acknowledgeWakes, presentWakes } from "../../src/act/wake_drain.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { tryLock } from "../../src/state/lock.ts";
import {
  appendRow,
  collapseRows,
  isQueueEmpty,
  type QueuePaths,
  queuePaths,
  type QueueRow,
  readQueue,
  type Wake,
} from "../../src/state/wake_queue.ts";
import { formatRow, joinRows, parseQueue } from "../../src/state/wake_queue/rows.ts";

class TempState implements Disposable {
  readonly state = Deno.makeTempDirSync({ prefix: "turnguard-test-" });

  get paths(): QueuePaths {
    return queuePaths(this.state, environmentOf({}));
  }

  write(name: string, text: string | Uint8Array): this {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    Deno.writeFileSync(`${this.state}/${name}`, bytes);
    return this;
  }

  read(name: string): string {
    return Deno.readTextFileSync(`${this.state}/${name}`);
  }

  /** Sequence and key of every line, or the line itself where it is no row. */
  get rows(): readonly string[] {
    const found = readQueue(this.paths.queue);
    if (found.kind === "unreadable") throw new Error(found.because);
    return found.rows.map((row) => row.usable ? `${row.sequence} ${row.key}` : row.text);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.state, { recursive: true });
  }
}

const NO_RESERVED = (): Promise<ReadonlySet<number>> => Promise.resolve(new Set<number>());

function signal(key: string): Wake {
  return { kind: "signal", key, payload: `signal: ${key}` };
}

function lines(...rows: readonly string[]): Uint8Array {
  return new TextEncoder().encode(rows.map((row) => `${row}\n`).join(""));
}

function usable(...rows: readonly string[]): readonly QueueRow[] {
  return parseQueue(lines(...rows)).filter((row) => row.usable);
}

Deno.test("queuePaths: the environment names another queue and another lock", () => {
  assertEquals(queuePaths("/s", environmentOf({})), {
    state: "/s",
    queue: "/s/.wake-queue",
    lock: "/s/.wake-queue.lock",
  });
  const other = { FM_WAKE_QUEUE: "/q", FM_WAKE_QUEUE_LOCK: "/l" };
  assertEquals(queuePaths("/s", environmentOf(other)), { state: "/s", queue: "/q", lock: "/l" });
});

Deno.test("parseQueue: five fields and a number make a row, everything else is unusable", () => {
  const table: readonly (readonly [line: string, usable: boolean])[] = [
    ["1\t1\tsignal\tk\tp", true],
    ["x\t1\tword-of-a-later-program\tk\tp", true],
    ["1\t1\tsignal\tk\tp\twith\ttabs", true],
    ["1\t1\tsignal\t\t", true],
    ["", false],
    ["1\t1\tsignal\tk", false],
    ["1\t\tsignal\tk\tp", false],
    ["1\t-1\tsignal\tk\tp", false],
    ["1\t1.5\tsignal\tk\tp", false],
    ["1\t1 \tsignal\tk\tp", false],
    [`1\t${"9".repeat(16)}\tsignal\tk\tp`, false],
    ["\0".repeat(40), false],
  ];
  for (const [line, expected] of table) {
    assertEquals(parseQueue(lines(line)).map((row) => row.usable), [expected], line);
  }
});

Deno.test("parseQueue: the text of a line is that of its bytes, whatever surrounds it", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (content) => {
    for (const { bytes, ...row } of parseQueue(content)) {
      const alone = parseQueue(bytes).map(({ bytes: _, ...rest }) => rest);
      if (bytes.length > 0) assertEquals(alone, [row]);
    }
  }));
});

/** Whether the newline at `at` ends an empty line after another empty line. */
function isInRun(bytes: readonly number[], at: number): boolean {
  const before = [bytes[at - 1] ?? 10, bytes[at - 2] ?? (at === 1 ? 10 : undefined)];
  return at > 0 && before.every((byte) => byte === 10);
}

Deno.test("parseQueue: ten megabytes of empty lines are one line that is no row", () => {
  const content = lines("1\t1\tsignal\tk\tp", "\n".repeat(10 * 1024 * 1024), "1\t2\tsignal\tk\tp");
  assertEquals(parseQueue(content).map((row) => row.usable), [true, false, true]);
});

Deno.test("parseQueue and joinRows: any bytes come back, runs of empty lines as one", () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  const rowLike = fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text));
  fc.assert(fc.property(fc.oneof(bytes, rowLike), (content) => {
    const whole = content.length === 0 || content.at(-1) === 10;
    const ended = whole ? [...content] : [...content, 10];
    const expected = ended.filter((byte, at) => byte !== 10 || !isInRun(ended, at));
    assertEquals(joinRows(parseQueue(content)), new Uint8Array(expected));
  }));
});

Deno.test("formatRow: whatever the key and payload are, the row is one line of five fields", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (key, payload) => {
    const row = formatRow({ kind: "check", key: `a\t${key}`, payload: `${payload}\r\nb` }, 7, 1);
    const content = new TextEncoder().encode(row);
    const [parsed, ...others] = parseQueue(content);
    assertEquals([parsed?.usable, others.length, row.split("\t").length], [true, 0, 5]);
  }));
  const wake: Wake = { kind: "check", key: "a\tb", payload: "c\r\nd" };
  assertEquals(formatRow(wake, 7, 1_796_073_535), "1796073535\t7\tcheck\ta b\tc  d\n");
});

Deno.test("collapseRows: of those alike the last one shows, at the place of the first", () => {
  const rows = usable(
    "1\t1\tsignal\ta\tfirst",
    "1\t2\theartbeat\tx\tone",
    "1\t3\tsignal\tb\tb",
    "1\t4\tcheck\ta\tanother kind",
    "1\t5\tsignal\ta\tlast",
    "1\t6\theartbeat\ty\ttwo",
  );
  const shown = collapseRows(rows).map((row) => `${row.sequence} ${row.payload}`);
  assertEquals(shown, ["5 last", "6 two", "3 b", "4 another kind"]);
});

Deno.test("appendWake: the marker, the number and the row, in one call", async () => {
  using temp = new TempState();
  assertEquals(await appendWake(temp.paths, signal("a")), true);
  assertEquals(await appendWake(temp.paths, signal("b")), true);
  assertEquals(temp.rows, ["1 a", "2 b"]);
  assertEquals(temp.read(".wake-queue.seq"), "2\n");
  assertEquals(temp.read(".watcher-down").startsWith("pending:downtime:"), true);
});

Deno.test("appendWake: a recorded number that cannot be read restarts none that is queued", async () => {
  for (const torn of ["", "x\n", "\0\0\0", "-4\n", "9".repeat(20)]) {
    using temp = new TempState();
    temp.write(".wake-queue.seq", torn).write(".wake-queue", "1\t41\tsignal\tk\tp\nbroken\n");
    assertEquals(await appendWake(temp.paths, signal("a")), true);
    assertEquals(temp.rows, ["41 k", "broken", "42 a"], JSON.stringify(torn));
  }
});

Deno.test("appendWake: a row that was cut short does not swallow the next one", async () => {
  using temp = new TempState();
  temp.write(".wake-queue", "1\t1\tsignal\tk\tp\n1\t2\tsig").write(".wake-queue.seq", "2\n");
  assertEquals(await appendWake(temp.paths, signal("a")), true);
  assertEquals(temp.rows, ["1 k", "1\t2\tsig", "3 a"]);
});

Deno.test("appendWake: without its marker there is no row and no number", async () => {
  using temp = new TempState();
  Deno.mkdirSync(`${temp.state}/.watcher-down`);
  assertEquals(await appendWake(temp.paths, signal("a")), false);
  assertEquals(temp.rows, []);
  assertThrows(() => temp.read(".wake-queue.seq"), Deno.errors.NotFound);
});

Deno.test("appendWake: without its number there is no row", async () => {
  using temp = new TempState();
  Deno.mkdirSync(`${temp.state}/.wake-queue.seq`);
  assertEquals(await appendWake(temp.paths, signal("a")), false);
  assertEquals(temp.rows, []);
});

Deno.test("appendWake: a busy queue lock and a missing folder are a plain false", async () => {
  using temp = new TempState();
  const held = tryLock(temp.paths.lock);
  if (held.kind === "refused") throw new Error("the lock must be free");
  assertEquals(await appendWake(temp.paths, signal("a"), 0), false);
  held.lock.release();
  const missing = queuePaths(`${temp.state}/missing`, environmentOf({}));
  assertEquals(await appendWake(missing, signal("a"), 0), false);
});

Deno.test("appendRow: calls of one process at once get a number each", async () => {
  using temp = new TempState();
  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
  const outcomes = await Promise.all(keys.map((key) => appendWake(temp.paths, signal(key))));
  assertEquals(outcomes, keys.map(() => true));
  assertEquals(
    temp.rows.map((row) => Number(row.split(" ")[0])),
    keys.map((_, index) => index + 1),
  );
  assertEquals(temp.rows.map((row) => row.split(" ")[1]).toSorted(), keys.toSorted());
});

/** Things that may stand at the queue's path and are no queue. */
const FOREIGN: Readonly<Record<string, (path: string) => void>> = {
  "a directory": (path) => Deno.mkdirSync(path),
  "a link to a directory": (path) => Deno.symlinkSync(".", path),
  "a FIFO": (path) => {
    new Deno.Command("/usr/bin/mkfifo", { args: [path] }).outputSync();
  },
  "a device": (path) => Deno.symlinkSync("/dev/zero", path),
};

for (const [what, make] of Object.entries(FOREIGN)) {
  Deno.test(`readQueue, appendWake, presentWakes, acknowledgeWakes: ${what} is refused`, async () => {
    using temp = new TempState();
    make(temp.paths.queue);
    const reading = readQueue(temp.paths.queue);
    assertEquals(reading, { kind: "unreadable", because: "it is not a regular file" });
    assertEquals(isQueueEmpty(temp.paths.queue), true);
    assertThrows(() => appendRow(temp.paths, signal("a")));
    assertEquals(await appendWake(temp.paths, signal("a")), false);
    const { paths } = temp;
    assertEquals((await presentWakes({ paths, reserved: NO_RESERVED })).kind, "unable");
    const receipt = { paths, through: 1, generation: "g" };
    assertEquals((await acknowledgeWakes(receipt)).kind, "unable");
  });
}

Deno.test("readQueue: a link is followed, and a dangling one is an empty queue", () => {
  using temp = new TempState();
  temp.write("elsewhere", "1\t1\tsignal\tk\tp\n");
  Deno.symlinkSync("elsewhere", temp.paths.queue);
  assertEquals(temp.rows, ["1 k"]);
  Deno.removeSync(`${temp.state}/elsewhere`);
  assertEquals(temp.rows, []);
});

Deno.test("presentWakes: ten megabytes of rows are shown like one", async () => {
  using temp = new TempState();
  const count = 150_000;
  const payload = "p".repeat(60);
  const rows = Array.from(
    { length: count },
    (_, at) => `1\t${at + 1}\tsignal\t${at}\t${payload}\n`,
  );
  temp.write(".wake-queue", rows.join(""));
  const found = await presentWakes({ paths: temp.paths, reserved: NO_RESERVED });
  if (found.kind !== "presented") throw new Error(found.kind);
  assertEquals([found.rows.length, found.handling?.through], [count, count]);
});

Deno.test("presentWakes: rows that somebody else has taken on are not shown", async () => {
  using temp = new TempState();
  for (const key of ["a", "b", "c"]) await appendWake(temp.paths, signal(key));
  const reserved = (): Promise<ReadonlySet<number>> => Promise.resolve(new Set([2, 3]));
  const found = await presentWakes({ paths: temp.paths, reserved });
  if (found.kind !== "presented") throw new Error(found.kind);
  assertEquals([found.rows.map((row) => row.key), found.handling?.through], [["a"], 1]);
  assertEquals(temp.rows, ["1 a", "2 b", "3 c"]);
});

Deno.test("presentWakes and acknowledgeWakes: a busy lock names its holder and changes nothing", async () => {
  using temp = new TempState();
  await appendWake(temp.paths, signal("a"));
  const marker = temp.read(".watcher-down");
  const held = tryLock(temp.paths.lock);
  if (held.kind === "refused") throw new Error("the lock must be free");
  using _lock = held.lock;
  const { paths } = temp;
  const shown = await presentWakes({ paths, reserved: NO_RESERVED, limitMs: 0 });
  const done = await acknowledgeWakes({ paths, through: 1, generation: "g", limitMs: 0 });
  assertEquals([shown.kind, done.kind], ["busy", "busy"]);
  assertEquals(temp.rows, ["1 a"]);
  assertEquals(temp.read(".watcher-down"), marker);
});
