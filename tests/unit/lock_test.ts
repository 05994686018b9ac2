/** Every verdict of the lock that the state files share, with real processes behind the pids. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { basename, join } from "@std/path";
import { type LockTry, lockWithin, removeLockAt, tryLock } from "../../src/state/lock.ts";
import { deadPid, startSleeper, startZombie } from "../support/processes.ts";

/** A folder with the path of a lock in it. */
class Folder implements Disposable {
  readonly path = Deno.realPathSync(Deno.makeTempDirSync());
  readonly lock = join(this.path, "x.lock");

  write(name: string, text = ""): this {
    const path = join(this.path, name);
    Deno.mkdirSync(join(path, ".."), { recursive: true });
    Deno.writeTextFileSync(path, text);
    return this;
  }

  /** A lock as the primitive makes it; `undefined` records no pid. */
  link(pid: string | undefined, name = "x.lock"): this {
    const owner = `${name}.owner.aB3dE6`;
    Deno.mkdirSync(join(this.path, owner));
    if (pid !== undefined) this.write(`${owner}/pid`, pid);
    Deno.symlinkSync(join(this.path, owner), join(this.path, name));
    return this;
  }

  /** Makes the lock itself, not what it points to, `seconds` old. */
  async age(seconds: number): Promise<void> {
    const then = new Date(Date.now() - seconds * 1000).toISOString();
    const { success } = await new Deno.Command("touch", { args: ["-h", "-d", then, this.lock] })
      .output();
    assert(success);
  }

  names(): readonly string[] {
    return [...Deno.readDirSync(this.path)].map((entry) => entry.name).sort();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

/** An attempt in one line; a lock that was taken is let go again. */
function told(attempt: LockTry): string {
  if (attempt.kind === "refused") {
    return attempt.holder === undefined ? "refused" : `refused by ${attempt.holder}`;
  }
  assert(attempt.lock.isOurs());
  attempt.lock.release();
  return attempt.recovered === undefined ? "acquired" : `recovered from ${attempt.recovered}`;
}

Deno.test("tryLock: makes a link to a private folder that names us, and leaves nothing", () => {
  using folder = new Folder();
  const attempt = tryLock(folder.lock);
  assert(attempt.kind === "acquired");
  const target = Deno.readLinkSync(folder.lock);
  assert(/^x\.lock\.owner\.[A-Za-z0-9]{6}$/.test(basename(target)));
  assertEquals(join(folder.path, basename(target)), target);
  assertEquals(Deno.readTextFileSync(join(folder.lock, "pid")), `${Deno.pid}\n`);
  assertEquals((Deno.statSync(folder.lock).mode ?? 0) & 0o777, 0o700);
  attempt.lock.write("role", "terminal-check");
  assertEquals(Deno.readTextFileSync(join(folder.lock, "role")), "terminal-check\n");
  attempt.lock.release();
  assertEquals(folder.names(), []);
});

Deno.test("tryLock: through a linked folder the owner is named by its real path", () => {
  using folder = new Folder();
  Deno.mkdirSync(join(folder.path, "real"));
  Deno.symlinkSync("real", join(folder.path, "link"));
  const attempt = tryLock(join(folder.path, "link", "x.lock"));
  assert(attempt.kind === "acquired");
  using _lock = attempt.lock;
  assert(Deno.readLinkSync(join(folder.path, "real", "x.lock")).startsWith(`${folder.path}/real/`));
});

Deno.test("tryLock: a live pid is never stolen from, however old its lock", async () => {
  await using sleeper = startSleeper();
  using linked = new Folder().link(`${sleeper.pid}\n`);
  using plain = new Folder().write("x.lock/pid", `${sleeper.pid}\n`);
  await linked.age(1_000_000);
  await plain.age(1_000_000);
  for (const folder of [linked, plain]) {
    const before = folder.names();
    assertEquals(told(tryLock(folder.lock)), `refused by ${sleeper.pid}`);
    assertEquals(folder.names(), before);
  }
});

Deno.test("tryLock: a dead pid is taken from at once, by any layout", async () => {
  const dead = await deadPid();
  using linked = new Folder().link(`${dead}\n`);
  using plain = new Folder().write("x.lock/pid", `${dead}`).write("x.lock/role", "autoarm\n");
  for (const folder of [linked, plain]) {
    assertEquals(told(tryLock(folder.lock)), `recovered from ${dead}`);
    assertEquals(folder.names(), []);
  }
});

Deno.test("tryLock: a zombie holds its lock until it is reaped", async () => {
  await using zombie = await startZombie();
  using folder = new Folder().link(`${zombie.pid}\n`);
  assertEquals(told(tryLock(folder.lock)), `refused by ${zombie.pid}`);
});

Deno.test("tryLock: an unfinished acquisition has two seconds", async () => {
  const unfinished: readonly (readonly [string, (folder: Folder) => unknown])[] = [
    ["an empty folder", (folder) => Deno.mkdirSync(folder.lock)],
    ["an empty pid", (folder) => folder.link("")],
    ["no pid", (folder) => folder.link(undefined)],
    ["no number", (folder) => folder.write("x.lock/pid", "soon\n")],
    ["a signed number", (folder) => folder.link("-1\n")],
    ["a dangling link", (folder) => Deno.symlinkSync("/nowhere", folder.lock)],
  ];
  for (const [name, arrange] of unfinished) {
    using folder = new Folder();
    arrange(folder);
    const before = folder.names();
    assertEquals(told(tryLock(folder.lock)), "refused", name);
    assertEquals(folder.names(), before, name);
    await folder.age(10);
    assertEquals(told(tryLock(folder.lock)), "acquired", name);
    assertEquals(folder.names(), [], name);
  }
});

Deno.test("tryLock: FM_LOCK_STALE_AFTER gives an unfinished acquisition longer, never shorter", async () => {
  using folder = new Folder();
  Deno.mkdirSync(folder.lock);
  await folder.age(10);
  const before = Deno.env.get("FM_LOCK_STALE_AFTER");
  try {
    Deno.env.set("FM_LOCK_STALE_AFTER", "60");
    assertEquals(told(tryLock(folder.lock)), "refused");
    await folder.age(1);
    Deno.env.set("FM_LOCK_STALE_AFTER", "0");
    assertEquals(told(tryLock(folder.lock)), "refused");
    await folder.age(10);
    Deno.env.set("FM_LOCK_STALE_AFTER", "soon");
    assertEquals(told(tryLock(folder.lock)), "acquired");
  } finally {
    if (before === undefined) Deno.env.delete("FM_LOCK_STALE_AFTER");
    else Deno.env.set("FM_LOCK_STALE_AFTER", before);
  }
});

Deno.test("tryLock: what can never be taken", async () => {
  const refused: readonly (readonly [string, (folder: Folder) => unknown])[] = [
    ["pid 0", (folder) => folder.link("0\n")],
    ["pid 00", (folder) => folder.write("x.lock/pid", "00\n")],
    ["a regular file", (folder) => folder.write("x.lock", `${Deno.pid}\n`)],
  ];
  for (const [name, arrange] of refused) {
    using folder = new Folder();
    arrange(folder);
    await folder.age(1_000_000);
    const before = folder.names();
    assertEquals(told(tryLock(folder.lock)), "refused", name);
    assertEquals(folder.names(), before, name);
  }
});

Deno.test("tryLock: a pid larger than any is dead", () => {
  using folder = new Folder().link("4294967297\n");
  assertEquals(told(tryLock(folder.lock)), "acquired");
});

Deno.test("tryLock: an unknown file in a plain folder stays, and so does the folder", async () => {
  using folder = new Folder().write("x.lock/pid", `${await deadPid()}\n`).write("x.lock/mine", "1");
  assertEquals(told(tryLock(folder.lock)), "refused");
  assertEquals([...Deno.readDirSync(folder.lock)].map((entry) => entry.name), ["mine"]);
  assertEquals(folder.names(), ["x.lock"]);
});

Deno.test("tryLock: a link to somewhere else is removed, what it points to is not", async () => {
  const dead = await deadPid();
  using folder = new Folder().write("elsewhere/pid", `${dead}\n`);
  Deno.symlinkSync(join(folder.path, "elsewhere"), folder.lock);
  assertEquals(told(tryLock(folder.lock)), `recovered from ${dead}`);
  assertEquals(folder.names(), ["elsewhere"]);
  assertEquals(Deno.readTextFileSync(join(folder.path, "elsewhere/pid")), `${dead}\n`);
});

Deno.test("tryLock: the steal lock of a dead thief goes too, that of a live one stops everybody", async () => {
  const dead = await deadPid();
  await using sleeper = startSleeper();
  using stolen = new Folder().link(`${dead}\n`).link(`${dead}\n`, "x.lock.steal");
  assertEquals(told(tryLock(stolen.lock)), `recovered from ${dead}`);
  assertEquals(stolen.names(), []);

  using held = new Folder().link(`${dead}\n`).link(`${sleeper.pid}\n`, "x.lock.steal");
  const before = held.names();
  assertEquals(told(tryLock(held.lock)), "refused");
  assertEquals(held.names(), before);

  using absent = new Folder().link(`${sleeper.pid}\n`, "x.lock.steal");
  assertEquals(told(tryLock(absent.lock)), "refused");
  assertEquals(absent.names(), ["x.lock.steal", "x.lock.steal.owner.aB3dE6"]);

  using orphaned = new Folder().link(`${dead}\n`, "x.lock.steal");
  assertEquals(told(tryLock(orphaned.lock)), "acquired");
  assertEquals(orphaned.names(), []);
});

Deno.test("tryLock: our own pid without a lock that we hold is a hold that was cut short", () => {
  using folder = new Folder().link(`${Deno.pid}\n`);
  assertEquals(told(tryLock(folder.lock)), "acquired");
  assertEquals(folder.names(), []);
});

Deno.test("tryLock: a lock that this process holds is refused to its other tasks", () => {
  using folder = new Folder();
  const first = tryLock(folder.lock);
  assert(first.kind === "acquired");
  assertEquals(told(tryLock(folder.lock)), "refused");
  assert(first.lock.isOurs());
  first.lock.release();
  assertEquals(told(tryLock(folder.lock)), "acquired");
});

Deno.test("tryLock: a thief asks before it removes anything", async () => {
  const dead = await deadPid();
  using folder = new Folder().link(`${dead}\n`);
  const before = folder.names();
  assertEquals(told(tryLock(folder.lock, { beforeSteal: () => false })), "refused");
  assertEquals(folder.names(), before);
  const seen: (readonly string[])[] = [];
  const beforeSteal = (): boolean => seen.push(folder.names()) > 0;
  assertEquals(told(tryLock(folder.lock, { beforeSteal })), `recovered from ${dead}`);
  assert(seen[0]?.includes("x.lock"), "asked while the lock still stood");
  assertEquals(told(tryLock(folder.lock, { beforeSteal: () => false })), "acquired");
});

Deno.test("HeldLock: release does nothing to a lock that somebody else has now", async () => {
  await using sleeper = startSleeper();
  using folder = new Folder();
  const attempt = tryLock(folder.lock);
  assert(attempt.kind === "acquired");
  Deno.removeSync(folder.lock);
  folder.link(`${sleeper.pid}\n`);
  assertFalse(attempt.lock.isOurs());
  attempt.lock.release();
  assertEquals(folder.names(), ["x.lock", "x.lock.owner.aB3dE6"]);
  assertEquals(told(tryLock(folder.lock)), `refused by ${sleeper.pid}`);
});

Deno.test("HeldLock: an abandoned lock stays for the next taker", () => {
  using folder = new Folder();
  const attempt = tryLock(folder.lock);
  assert(attempt.kind === "acquired");
  attempt.lock.abandon();
  assertEquals(Deno.readTextFileSync(join(folder.lock, "pid")), `${Deno.pid}\n`);
  assertEquals(told(tryLock(folder.lock)), "acquired");
});

Deno.test("lockWithin: takes the lock when its holder goes, and gives up at its limit", async () => {
  using folder = new Folder();
  const sleeper = startSleeper();
  folder.link(`${sleeper.pid}\n`);
  assertEquals(told(await lockWithin(folder.lock, 0)), `refused by ${sleeper.pid}`);
  assertEquals(told(await lockWithin(folder.lock, 10, { stepMs: 5 })), `refused by ${sleeper.pid}`);
  const waiting = lockWithin(folder.lock, 60_000, { stepMs: 1 });
  await sleeper.end();
  assertEquals(told(await waiting), `recovered from ${sleeper.pid}`);
});

Deno.test("removeLockAt: removes a lock whoever holds it", async () => {
  await using sleeper = startSleeper();
  using folder = new Folder().link(`${sleeper.pid}\n`);
  assert(removeLockAt(folder.lock));
  assertEquals(folder.names(), []);
  assert(removeLockAt(folder.lock), "nothing there is as good");
  folder.write("x.lock", "a file");
  assertFalse(removeLockAt(folder.lock));
});
