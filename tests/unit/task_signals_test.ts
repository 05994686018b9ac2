/** Which reports of tasks are still to be told, and when to look again. */

import { assertEquals } from "@std/assert";
import { TaskSignals } from "../../src/watch/task_signals.ts";

Deno.test("TaskSignals.pending: status files first, by name, each once", () => {
  const state = Deno.makeTempDirSync();
  using signals = new TaskSignals(state);
  try {
    for (const name of ["b.status", "a.turn-ended", "a.status", ".c.status", "status", "a.meta"]) {
      Deno.writeTextFileSync(`${state}/${name}`, "x");
    }
    const names = (): readonly string[] => signals.pending().map((file) => file.name);
    assertEquals(names(), ["a.status", "b.status", "a.turn-ended"]);
    signals.mark(signals.pending());
    assertEquals(names(), []);
    Deno.writeTextFileSync(`${state}/b.status`, "more");
    assertEquals(names(), ["b.status"]);
  } finally {
    Deno.removeSync(state, { recursive: true });
  }
});

Deno.test("TaskSignals.nextReport: resolves for the files of tasks", async () => {
  const state = Deno.makeTempDirSync();
  using signals = new TaskSignals(state);
  try {
    for (const name of ["a.status", "a.turn-ended"]) {
      const report = signals.nextReport();
      Deno.writeTextFileSync(`${state}/${name}`, "x");
      await report;
    }
  } finally {
    Deno.removeSync(state, { recursive: true });
  }
});
