/**
 * The wake queue when its writers are killed: in front of every single step, inside every write, and at
 * random moments; and when many of them work at once.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { armCheck } from "../../src/act/recovery.ts";
import { appendWake } from "../../src/act/wake_append.ts";
import { acknowledgeWakes, presentWakes } from "../../src/act/wake_drain.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { readRecoveryMarker } from "../../src/state/recovery_marker.ts";
import {
  type QueuePaths,
  queuePaths,
  type QueueRow,
  readQueue,
} from "../../src/state/wake_queue.ts";
import { childCommand, childEnvironment, KILLED, killPoints } from "../support/killed_at_step.ts";
import {
  inBatches,
  runProgram,
  type RunResult,
  runTurnguard,
  TURNGUARD,
} from "../support/turnguard.ts";

const CHILD = fromFileUrl(new URL("./wake_child.ts", import.meta.url));

/** A home with nothing but a state directory. */
class TempHome implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "turnguard-test-" });

  constructor() {
    for (const folder of ["bin", "state"]) Deno.mkdirSync(`${this.root}/${folder}`);
    Deno.writeTextFileSync(`${this.root}/AGENTS.md`, "# Home\n");
  }

  get state(): string {
    return `${this.root}/state`;
  }

  get paths(): QueuePaths {
    return queuePaths(this.state, environmentOf({}));
  }

  async append(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const wake = { kind: "signal", key, payload: `signal: ${key}` } as const;
      assert(await appendWake(this.paths, wake), `${key} must be queued`);
    }
  }

  /** What a drain shows now, and what it asks for. */
  async present(): Promise<{ readonly keys: readonly string[]; readonly receipt: Receipt }> {
    const reserved = (): Promise<ReadonlySet<number>> => Promise.resolve(new Set());
    const found = await presentWakes({ paths: this.paths, reserved });
    if (found.kind !== "presented") throw new Error(`the drain must show the rows: ${found.kind}`);
    return { keys: found.rows.map((row) => row.key), receipt: found.handling };
  }

  async acknowledge(receipt: Receipt): Promise<void> {
    if (receipt === undefined) return;
    const outcome = await acknowledgeWakes({ paths: this.paths, ...receipt });
    assertEquals(outcome.kind, "acknowledged");
  }

  get rows(): readonly QueueRow[] {
    const found = readQueue(this.paths.queue);
    if (found.kind === "unreadable") throw new Error(found.because);
    return found.rows.filter((row) => row.usable);
  }

  get keys(): readonly string[] {
    return this.rows.map((row) => row.key);
  }

  /** Whether a stretch of downtime is open. */
  get isOpen(): boolean {
    const found = readRecoveryMarker(this.state);
    return found.kind === "valid" && found.marker.status !== "acked";
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

type Receipt = { readonly through: number; readonly generation: string } | undefined;

function change(
  state: string,
  words: readonly (string | number)[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  return runProgram(childCommand(CHILD, [state, ...words]), {
    env: { ...childEnvironment(), ...env },
  });
}

/** A change that is killed at each of its steps, and inside each of its writes. */
interface Killing {
  readonly prepare: (home: TempHome) => Promise<readonly (string | number)[]>;
  /** What has to hold whatever was left. */
  readonly inspect: (home: TempHome, where: string) => Promise<void>;
}

async function killEverywhere({ prepare, inspect }: Killing): Promise<void> {
  using unharmed = new TempHome();
  const points = killPoints(await change(unharmed.state, await prepare(unharmed)));
  await inspect(unharmed, "not killed");
  await inBatches(points, async ({ where, env }) => {
    using home = new TempHome();
    const words = await prepare(home);
    assertEquals((await change(home.state, words, env)).status, KILLED, where);
    await inspect(home, `killed ${where}`);
  });
}

/** Everything that is queued can be shown, and is gone for good once it is acknowledged. */
async function drainsClean(
  home: TempHome,
  expected: readonly string[],
  where: string,
): Promise<void> {
  const { keys, receipt } = await home.present();
  assertEquals(keys, expected, where);
  await home.acknowledge(receipt);
  const after = await home.present();
  assertEquals(after, { keys: [], receipt: undefined }, where);
  assertEquals(await armCheck(home.paths), "none", where);
}

Deno.test("append: killed at any step, no row is lost, none lacks evidence, numbers grow", async () => {
  await killEverywhere({
    prepare: async (home) => {
      await home.append("first");
      return ["append", "killed"];
    },
    inspect: async (home, where) => {
      const left = home.keys;
      assertEquals(left[0], "first", where);
      assert(home.isOpen, `rows are there, and nobody would be told: ${where}`);
      await home.append("after");
      const expected = left.includes("killed") ? ["first", "killed", "after"] : ["first", "after"];
      assertEquals(home.keys, expected, where);
      const numbers = home.rows.map((row) => row.sequence);
      assertEquals(numbers, [...new Set(numbers)].toSorted((a, b) => a - b), where);
      await drainsClean(home, expected, where);
    },
  });
});

Deno.test("append: killed at any step after an acknowledgement, the next episode is a new one", async () => {
  await killEverywhere({
    prepare: async (home) => {
      await home.append("before");
      await home.acknowledge((await home.present()).receipt);
      return ["append", "killed"];
    },
    inspect: async (home, where) => {
      if (home.rows.length > 0) assert(home.isOpen, `nobody would be told: ${where}`);
      await home.append("after");
      const numbers = home.rows.map((row) => row.sequence);
      assert(numbers.every((number) => number > 1), `the numbers began anew: ${where}`);
      await drainsClean(home, home.keys, where);
    },
  });
});

Deno.test("present: killed at any step, the next drain shows the same rows", async () => {
  await killEverywhere({
    prepare: async (home) => {
      await home.append("a", "b", "c");
      Deno.writeTextFileSync(home.paths.queue, "no row\n", { append: true });
      return ["present"];
    },
    inspect: async (home, where) => {
      assert(home.isOpen, where);
      await drainsClean(home, ["a", "b", "c"], where);
    },
  });
});

Deno.test("acknowledge: killed at any step, the rows are all there, announced anew, or all gone", async () => {
  await killEverywhere({
    prepare: async (home) => {
      await home.append("a", "b");
      const { receipt } = await home.present();
      return ["acknowledge", receipt?.through ?? "", receipt?.generation ?? ""];
    },
    inspect: async (home, where) => {
      const left = home.keys;
      if (left.length === 0) {
        assertEquals(await armCheck(home.paths), "none", where);
        assertEquals(await home.present(), { keys: [], receipt: undefined }, where);
        return;
      }
      const wasOpen = home.isOpen;
      assertEquals(await armCheck(home.paths), wasOpen ? "wait" : "recover", where);
      await drainsClean(home, ["a", "b"], where);
    },
  });
});

Deno.test("acknowledge: killed at any step of a partial one, later rows stay open", async () => {
  await killEverywhere({
    prepare: async (home) => {
      await home.append("a");
      const { receipt } = await home.present();
      await home.append("b");
      return ["acknowledge", receipt?.through ?? "", receipt?.generation ?? ""];
    },
    inspect: async (home, where) => {
      const left = home.keys;
      assert(left.join() === "a,b" || left.join() === "b", `${left}: ${where}`);
      assert(home.isOpen, where);
      await drainsClean(home, left, where);
    },
  });
});

Deno.test("armCheck: killed at any step, what is open is announced or being waited for", async () => {
  await killEverywhere({
    prepare: async (home) => {
      await home.append("a");
      return ["arm"];
    },
    inspect: async (home, where) => {
      const answer = await armCheck(home.paths);
      assert(answer === "recover" || answer === "wait", `${answer}: ${where}`);
      await drainsClean(home, ["a"], where);
    },
  });
});

Deno.test("armCheck: killed at any step beside an invalid marker, the rows are announced", async () => {
  await killEverywhere({
    prepare: async (home) => {
      await home.append("a");
      Deno.writeTextFileSync(`${home.state}/.watcher-down`, "nonsense");
      return ["arm"];
    },
    inspect: async (home, where) => {
      const answer = await armCheck(home.paths);
      assert(answer === "recover" || answer === "wait", `${answer}: ${where}`);
      await drainsClean(home, ["a"], where);
    },
  });
});

Deno.test("wake drain and ack: killed at random moments, every row is shown until its receipt", async () => {
  using home = new TempHome();
  const acknowledged = new Set<string>();
  for (let round = 0; round < 12; round++) {
    await home.append(`${round}a`, `${round}b`);
    await killSoon(home, ["wake", "drain"]);
    const { keys, receipt } = await home.present();
    assertEquals(keys.filter((key) => acknowledged.has(key)), [], "shown again after its receipt");
    assertEquals(keys, home.keys, "something that is queued was not shown");
    assert(receipt !== undefined, "rows were shown, and no receipt was asked for");
    const { through, generation } = receipt;
    const before = home.keys;
    const flags = ["--ack-through", String(through), "--recovery-generation", generation];
    await killSoon(home, ["wake", "ack", ...flags]);
    const left = home.keys;
    assert(left.length === 0 || left.join() === before.join(), `half an acknowledgement: ${left}`);
    if (left.length === 0) before.forEach((key) => acknowledged.add(key));
    else if (!home.isOpen) assertEquals(await armCheck(home.paths), "recover");
  }
  await drainsClean(home, home.keys, "at the end");
});

/** Runs the executable and kills it after a random time, unless it has ended by then. */
async function killSoon(home: TempHome, args: readonly string[]): Promise<void> {
  const script = 'exec 3<&0; "$@" >/dev/null 2>&1 & child=$!; read -r _ <&3; kill -9 $child; wait';
  const shell = new Deno.Command("/bin/sh", {
    args: ["-c", script, "-", TURNGUARD, ...args, "--root", home.root],
    clearEnv: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
  await shell.stdin.close();
  await shell.status;
}

Deno.test("appendWake and wake drain: 16 writers and 3 drainers, exactly the rows that were written", async () => {
  using home = new TempHome();
  const keysOf = (writer: number): readonly string[] =>
    Array.from({ length: 4 }, (_, row) => `w${writer}.${row}`);
  const writers = Array.from({ length: 16 }, (_, writer) => keysOf(writer));
  let writing = true;
  const written = Promise.all(writers.map((keys) => change(home.state, ["append", ...keys])))
    .finally(() => writing = false);
  const seen = await Promise.all([1, 2, 3].map(() => drainWhile(home, () => writing)));
  const runs = await written;
  assertEquals(runs.map(({ status, stderr }) => `${status}${stderr}`), writers.map(() => "0"));
  const shown = new Map(seen.flat());
  assertEquals([...shown.values()].toSorted(), writers.flat().toSorted());
  assertEquals(
    [...shown.keys()].toSorted((a, b) => a - b),
    writers.flat().map((_, at) => at + 1),
    "every number once, and one for every row",
  );
  assertEquals(home.keys, []);
  assertEquals(await armCheck(home.paths), "none");
});

/** Drains and acknowledges with the executable; number and key of all rows that were shown. */
async function drainWhile(
  home: TempHome,
  goesOn: () => boolean,
): Promise<readonly (readonly [number, string])[]> {
  const shown: (readonly [number, string])[] = [];
  const gone = new Set<number>();
  while (true) {
    const last = !goesOn();
    const { status, stdout, stderr } = await runTurnguard(["wake", "drain", "--root", home.root]);
    assertEquals(status, 0, stderr);
    for (const line of stdout.split("\n").filter((line) => line !== "")) {
      const [, sequence, , key = ""] = line.split("\t");
      assert(!gone.has(Number(sequence)), `${key} was shown again after its receipt`);
      shown.push([Number(sequence), key]);
    }
    const receipt =
      /^WAKE_ACK_REQUIRED:.*--ack-through ([0-9]+) --recovery-generation ([A-Za-z0-9._-]+)$/m
        .exec(stderr);
    if (receipt === null) {
      if (last) return shown;
      continue;
    }
    const [, through = "", generation = ""] = receipt;
    const flags = ["--ack-through", through, "--recovery-generation", generation];
    const done = await runTurnguard(["wake", "ack", ...flags, "--root", home.root]);
    assertEquals(done.status, 0, done.stderr);
    shown.filter(([sequence]) => sequence <= Number(through))
      .forEach(([sequence]) => gone.add(sequence));
  }
}
