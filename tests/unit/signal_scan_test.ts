/** Which reports of tasks are still to be told. */

import { assertEquals } from "@std/assert";
import {
  isSignalName,
  markSignals,
  pendingSignals,
  withSpans,
} from "../../src/watch/signal_scan.ts";

Deno.test("pendingSignals: status files first, by name, each once", () => {
  const state = Deno.makeTempDirSync();
  try {
    for (const name of ["b.status", "a.turn-ended", "a.status", ".c.status", "status", "a.meta"]) {
      Deno.writeTextFileSync(`${state}/${name}`, "x");
    }
    const names = (): readonly string[] => pendingSignals(state).map((file) => file.name);
    assertEquals(names(), ["a.status", "b.status", "a.turn-ended"]);
    markSignals(state, withSpans(state, pendingSignals(state)));
    assertEquals(names(), []);
    Deno.writeTextFileSync(`${state}/b.status`, "more");
    assertEquals(names(), ["b.status"]);
  } finally {
    Deno.removeSync(state, { recursive: true });
  }
});

Deno.test("isSignalName: dot files and other endings carry no signal", () => {
  const names = ["a.status", "a.turn-ended", ".a.status", "status", "a.status.tmp", "a.meta"];
  assertEquals(names.filter(isSignalName), ["a.status", "a.turn-ended"]);
});
