import { assertEquals } from "@std/assert";
import { readGate, type ReturnGate, writeGate } from "../../src/state/return_gate.ts";

Deno.test("return gate: what is written is read, fields made one line, equal evidence once", () => {
  const state = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  try {
    const gate: ReturnGate = {
      started: 1_790_000_000,
      phase: "blocked",
      evidence: [
        { kind: "wake", text: "a\tb" },
        { kind: "wake", text: "a b" },
        { kind: "lifecycle", text: "" },
      ],
      blockers: [{ task: "t", key: "k", summary: "x\ny" }],
    };
    writeGate(state, gate);
    assertEquals(readGate(state), {
      ...gate,
      evidence: [{ kind: "wake", text: "a b" }, { kind: "lifecycle", text: "" }],
      blockers: [{ task: "t", key: "k", summary: "x y" }],
    });
  } finally {
    Deno.removeSync(state, { recursive: true });
  }
});
