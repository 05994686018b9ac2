/**
 * The lock primitive between real processes: one holder at a time, whoever is killed and whenever.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { dirname, fromFileUrl, join, toFileUrl } from "@std/path";
import { deadPid, until } from "../support/processes.ts";

const PROJECT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));

/**
 * Takes the lock again and again. While it holds it, it stands alone in `inside` and counts up; anybody
 * else it finds there alive is written to `violations`.
 */
const WORKER = `
import { tryLock } from ${JSON.stringify(toFileUrl(join(PROJECT, "src/state/lock.ts")).href)};
const [folder = "", wanted = "0"] = Deno.args;
const text = (name: string): string => {
  try {
    return Deno.readTextFileSync(folder + "/" + name);
  } catch {
    return "";
  }
};
const write = (name: string, content: string): void =>
  Deno.writeTextFileSync(folder + "/" + name, content);
const isAlive = (pid: number): boolean => {
  try {
    Deno.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
write("ready." + Deno.pid, "");
while (text("go") === "") await new Promise((resolve) => setTimeout(resolve, 1));
for (let held = 0; held < Number(wanted);) {
  const attempt = tryLock(folder + "/x.lock");
  if (attempt.kind === "refused") {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
    continue;
  }
  const other = Number(text("inside"));
  if (other > 0 && isAlive(other)) {
    Deno.writeTextFileSync(folder + "/violations", other + " " + Deno.pid + "\\n", { append: true });
  }
  write("inside", String(Deno.pid));
  write("count", String(Number(text("count")) + 1));
  held++;
  write("held." + Deno.pid, String(held));
  write("inside", "");
  attempt.lock.release();
}
`;

const FULL = Deno.env.get("TURNGUARD_FULL") === "1";

/** How often the lock is taken in all, by those that are not killed. */
const ACQUISITIONS = FULL ? 400 : 48;

/** Workers over one lock. */
class Crowd implements AsyncDisposable {
  readonly folder = Deno.realPathSync(Deno.makeTempDirSync());
  readonly #workers: Deno.ChildProcess[] = [];

  /** Starts workers that wait for {@link go}. */
  async start(workers: number, acquisitions: number): Promise<readonly Deno.ChildProcess[]> {
    const script = join(this.folder, "worker.ts");
    Deno.writeTextFileSync(script, WORKER);
    const started = Array.from({ length: workers }, () =>
      new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--quiet",
          "--no-check",
          `--config=${join(PROJECT, "deno.json")}`,
          `--lock=${join(PROJECT, "deno.lock")}`,
          "--frozen",
          "--allow-all",
          script,
          this.folder,
          String(acquisitions),
        ],
        stdin: "null",
        stdout: "null",
        stderr: "inherit",
      }).spawn());
    this.#workers.push(...started);
    await until(() => started.every(({ pid }) => this.names().includes(`ready.${pid}`)), 60_000);
    return started;
  }

  go(): void {
    Deno.writeTextFileSync(join(this.folder, "go"), "go");
  }

  names(): readonly string[] {
    return [...Deno.readDirSync(this.folder)].map((entry) => entry.name);
  }

  text(name: string): string {
    return this.names().includes(name) ? Deno.readTextFileSync(join(this.folder, name)) : "";
  }

  /** The lock with everything that belongs to it. */
  locks(): readonly string[] {
    return this.names().filter((name) => name.startsWith("x.lock"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) {
      try {
        worker.kill("SIGKILL");
      } catch {
        // It has ended by itself.
      }
      await worker.status;
    }
    Deno.removeSync(this.folder, { recursive: true });
  }
}

async function endAll(workers: readonly Deno.ChildProcess[]): Promise<void> {
  const ends = await Promise.all(workers.map((worker) => worker.status));
  assertEquals(ends.map(({ code }) => code), workers.map(() => 0));
}

for (const workers of [2, 8]) {
  Deno.test(`tryLock: of ${workers} processes one holds a dead one's lock at a time`, async () => {
    await using crowd = new Crowd();
    const owner = join(crowd.folder, "x.lock.owner.aB3dE6");
    Deno.mkdirSync(owner);
    Deno.writeTextFileSync(join(owner, "pid"), `${await deadPid()}\n`);
    Deno.symlinkSync(owner, join(crowd.folder, "x.lock"));
    const acquisitions = ACQUISITIONS / workers;
    const started = await crowd.start(workers, acquisitions);
    crowd.go();
    await endAll(started);
    assertEquals(crowd.text("violations"), "");
    assertEquals(crowd.text("count"), String(ACQUISITIONS));
    assertEquals(crowd.locks(), []);
  });
}

Deno.test("tryLock: processes that race for one dead lock after the other never share it", async () => {
  await using crowd = new Crowd();
  const started = await crowd.start(4, 1);
  const dead = await deadPid();
  // A plain folder, whose removal is not one step.
  Deno.mkdirSync(join(crowd.folder, "x.lock"));
  Deno.writeTextFileSync(join(crowd.folder, "x.lock/pid"), `${dead}\n`);
  crowd.go();
  await endAll(started);
  assertEquals(crowd.text("violations"), "");
  assertEquals(crowd.text("count"), "4");
  assertEquals(crowd.locks(), []);
});

Deno.test("tryLock: holders that are killed at any step leave no lock for ever", async () => {
  await using crowd = new Crowd();
  const lasting = await crowd.start(2, ACQUISITIONS / 2);
  const doomed = await crowd.start(FULL ? 6 : 3, 1_000_000);
  crowd.go();
  for (const victim of doomed) {
    // Each has held it before it goes, so that it is killed in the middle of its work.
    await until(() => Number(crowd.text(`held.${victim.pid}`)) > 0, 60_000);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
    victim.kill("SIGKILL");
    await victim.status;
  }
  await endAll(lasting);
  assertEquals(crowd.text("violations"), "");
  // Not the common count: a kill in the middle of writing it may have emptied it.
  assertEquals(
    lasting.map(({ pid }) => crowd.text(`held.${pid}`)),
    lasting.map(() => String(ACQUISITIONS / 2)),
  );
  // What a kill leaves is a private folder that nobody waits for.
  assertEquals(crowd.locks().filter((name) => !name.includes(".owner.")), []);
});
