/**
 * The decision journal as a file: what is written is read back, and nothing else is.
 *
 * @module
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import {
  appendJournal,
  hashSession,
  JOURNAL_LIMIT_BYTES,
  JOURNAL_NAME,
  type JournalEntry,
  parseJournalLine,
  readJournal,
} from "../../src/state/journal.ts";
import { makeHome } from "../support/home.ts";

const ENTRY: JournalEntry = {
  time: "2026-11-30T21:18:54.000Z",
  mode: "stop",
  harness: "codex",
  session: "0123456789abcdef",
  verdict: "block",
  code: "unsupervised",
  facts: { need: "1 task(s) in flight" },
  ms: 12,
};

Deno.test("appendJournal: entries are read back in order", async () => {
  await using home = makeHome();
  appendJournal(home.state, ENTRY);
  appendJournal(home.state, { ...ENTRY, session: null, ms: 13 });
  assertEquals(readJournal(home.state), [ENTRY, { ...ENTRY, session: null, ms: 13 }]);
});

Deno.test("appendJournal: only the owner may read it", async () => {
  await using home = makeHome();
  appendJournal(home.state, ENTRY);
  assertEquals((Deno.statSync(home.path("state", JOURNAL_NAME)).mode ?? 0) & 0o777, 0o600);
});

Deno.test("appendJournal: a full journal is moved aside and both halves are read", async () => {
  await using home = makeHome();
  const line = `${JSON.stringify(ENTRY)}\n`;
  const count = Math.floor(JOURNAL_LIMIT_BYTES / line.length);
  home.write(`state/${JOURNAL_NAME}`, line.repeat(count));
  appendJournal(home.state, { ...ENTRY, ms: 1 });
  assertEquals(Deno.statSync(home.path("state", `${JOURNAL_NAME}.1`)).size, line.length * count);
  const entries = readJournal(home.state);
  assertEquals([entries.length, entries.at(-1)?.ms], [count + 1, 1]);
});

Deno.test("appendJournal: an entry too long for a line is left out", async () => {
  await using home = makeHome();
  appendJournal(home.state, { ...ENTRY, facts: { need: "x".repeat(20_000) } });
  appendJournal(home.state, ENTRY);
  assertEquals(readJournal(home.state), [ENTRY]);
});

Deno.test("appendJournal: without a state folder nothing is made and nothing thrown", async () => {
  await using home = makeHome();
  appendJournal(home.path("nowhere"), ENTRY);
  assertEquals([...Deno.readDirSync(home.root)].some(({ name }) => name === "nowhere"), false);
});

Deno.test("readJournal: torn and foreign lines are left out", async () => {
  await using home = makeHome();
  const line = JSON.stringify(ENTRY);
  home.write(
    `state/${JOURNAL_NAME}`,
    ["", line.slice(0, 40), "null", "[]", "{}", line, '{"time":1}', `${line}x`, ""].join("\n"),
  );
  assertEquals(readJournal(home.state), [ENTRY]);
});

Deno.test("parseJournalLine: an entry survives its line and any text is an entry or nothing", () => {
  const entries = fc.record({
    time: fc.string(),
    mode: fc.string(),
    harness: fc.string(),
    session: fc.option(fc.string()),
    verdict: fc.string(),
    code: fc.string(),
    facts: fc.dictionary(fc.stringMatching(/^[a-z]+$/), fc.string(), { noNullPrototype: true }),
    ms: fc.nat(),
  });
  fc.assert(fc.property(entries, (entry) => {
    assertEquals(parseJournalLine(JSON.stringify(entry)), entry);
  }));
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assertEquals(parseJournalLine(`x${text}`), undefined);
  }));
});

Deno.test("hashSession: the same for the same session, and not the session", async () => {
  const hash = await hashSession("S1");
  assert(hash !== null && /^[0-9a-f]{16}$/.test(hash));
  assertEquals(await hashSession("S1"), hash);
  assertNotEquals(await hashSession("S2"), hash);
  assertEquals(await hashSession(undefined), null);
});
