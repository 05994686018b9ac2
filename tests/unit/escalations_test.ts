import { assertEquals, assertThrows } from "@std/assert";
import {
  appendEscalation,
  clearEscalations,
  escalationAge,
  readEscalations,
} from "../../src/state/escalations.ts";

function inState(name: string, work: (state: string) => void): void {
  Deno.test(`escalations: ${name}`, () => {
    const state = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
    try {
      work(state);
    } finally {
      Deno.removeSync(state, { recursive: true });
    }
  });
}

function namesIn(state: string): readonly string[] {
  return [...Deno.readDirSync(state)].map(({ name }) => name);
}

inState("one item a line, in order, dated by the first", (state) => {
  assertEquals(readEscalations(state), { kind: "read", items: [] });
  assertEquals(escalationAge(state), undefined);
  appendEscalation(state, "one");
  Deno.writeTextFileSync(`${state}/.subsuper-escalations.since`, "1000\n");
  appendEscalation(state, "two");
  assertEquals(readEscalations(state), { kind: "read", items: ["one", "two"] });
  assertEquals(Deno.readTextFileSync(`${state}/.subsuper-escalations.since`), "1000\n");
  clearEscalations(state);
  assertEquals(namesIn(state), []);
});

inState("a torn line does not swallow the next item", (state) => {
  Deno.writeTextFileSync(`${state}/.subsuper-escalations`, "to");
  appendEscalation(state, "next");
  assertEquals(readEscalations(state), { kind: "read", items: ["to", "next"] });
});

inState("the same item completes what a killed writer left of it, cut anywhere", (state) => {
  const path = `${state}/.subsuper-escalations`;
  const bytes = new TextEncoder().encode("before\nt.status: done é\n");
  for (let cut = "before\n".length; cut < bytes.length; cut++) {
    Deno.writeFileSync(path, bytes.subarray(0, cut));
    appendEscalation(state, "t.status: done é");
    assertEquals(Deno.readFileSync(path), bytes, `cut at ${cut}`);
  }
});

inState("a longer line without its end is no beginning of an item", (state) => {
  Deno.writeTextFileSync(`${state}/.subsuper-escalations`, "xnext");
  appendEscalation(state, "next");
  assertEquals(readEscalations(state), { kind: "read", items: ["xnext", "next"] });
});

inState("an item without a time, or one far ahead, has waited long enough", (state) => {
  appendEscalation(state, "x");
  for (const since of ["99999999999\n", "soon\n", ""]) {
    Deno.writeTextFileSync(`${state}/.subsuper-escalations.since`, since);
    assertEquals(escalationAge(state), Infinity, since);
  }
  const soon = Math.floor(Date.now() / 1000) + 30;
  Deno.writeTextFileSync(`${state}/.subsuper-escalations.since`, `${soon}\n`);
  assertEquals(escalationAge(state), 0);
});

inState("what cannot be read is not empty, takes no item and leaves no time", (state) => {
  Deno.mkdirSync(`${state}/.subsuper-escalations`);
  assertEquals(readEscalations(state).kind, "unreadable");
  assertEquals(escalationAge(state), Infinity);
  assertThrows(() => appendEscalation(state, "x"));
  assertEquals(namesIn(state), [".subsuper-escalations"]);
});
