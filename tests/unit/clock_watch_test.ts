import { assertEquals } from "@std/assert";
import { ClockWatch, shiftTimes } from "../../src/watch/clock_watch.ts";

/** The wall clock, moved alone: as by a step, and by a machine that sleeps. */
class WallClock implements Disposable {
  aheadMs = 0;
  readonly #real = Date.now;

  constructor() {
    Date.now = () => this.#real() + this.aheadMs;
  }

  [Symbol.dispose](): void {
    Date.now = this.#real;
  }
}

Deno.test("ClockWatch: tells a step once, in both directions, and nothing else", () => {
  const time = new WallClock();
  using _time = time;
  const clock = new ClockWatch();
  assertEquals(clock.jumpSeconds(), 0);
  time.aheadMs += 3_600_000;
  assertEquals(Math.round(clock.jumpSeconds()), 3_600);
  assertEquals(clock.jumpSeconds(), 0);
  time.aheadMs += 4_000;
  assertEquals(clock.jumpSeconds(), 0);
});

Deno.test("shiftTimes: moves what is there and minds nothing that is not", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const path = `${folder}/.last-check`;
    Deno.writeTextFileSync(path, "");
    Deno.utimeSync(path, 1_000, 1_000);
    shiftTimes([path, `${folder}/.last-heartbeat`], 90);
    assertEquals(Deno.statSync(path).mtime?.getTime(), 1_090_000);
    assertEquals([...Deno.readDirSync(folder)].length, 1);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
