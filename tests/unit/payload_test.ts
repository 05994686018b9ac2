/**
 * What a hook's payload says, whatever arrives as one.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { PayloadFact } from "../../src/decide/facts.ts";
import { isCompletePayload, observePayload } from "../../src/observe/payload.ts";

/** One payload in a few words: its kind, or its loop guard and whether Cursor made it. */
const PAYLOADS: ReadonlyArray<readonly [text: string, words: string]> = [
  ["", "empty"],
  [" \t\r\n", "empty"],
  ["{", "unreadable"],
  ["[]", "unreadable"],
  ["null", "unreadable"],
  ["1", "unreadable"],
  ['"x"', "unreadable"],
  ["true", "unreadable"],
  ["{} {}", "unreadable"],
  ["{}x", "unreadable"],
  ['{"a":NaN}', "unreadable"],
  ['{"a":1,}', "unreadable"],
  ["{'a':1}", "unreadable"],
  ["{}\0", "unreadable"],
  ["{}", "first-stop"],
  ["\ufeff{}", "first-stop"],
  ["{\r\n}\r\n", "first-stop"],
  ['{"stop_hook_active":false}', "first-stop"],
  ['{"stop_hook_active":true}', "continuation"],
  ['{"stopHookActive":true,"stop_hook_active":false}', "continuation"],
  ['{"stop_hook_active":false,"stopHookActive":true}', "continuation"],
  ['{"stopHookActive":false,"stop_hook_active":true}', "first-stop"],
  ['{"stopHookActive":false,"stop_hook_active":1}', "first-stop"],
  ['{"stopHookActive":null,"stop_hook_active":false}', "wrong-type stopHookActive"],
  ['{"stop_hook_active":null}', "wrong-type stop_hook_active"],
  ['{"stop_hook_active":"false"}', "wrong-type stop_hook_active"],
  ['{"stop_hook_active":0}', "wrong-type stop_hook_active"],
  ['{"stop_hook_active":{}}', "wrong-type stop_hook_active"],
  ['{"stop_hook_active":true,"stop_hook_active":false}', "first-stop"],
  ['{"stop_hook_active":false,"stop_hook_active":"x"}', "wrong-type stop_hook_active"],
  ['{"a":{"stop_hook_active":true}}', "first-stop"],
  ['{"STOP_HOOK_ACTIVE":true}', "first-stop"],
  ['{"__proto__":{"stop_hook_active":true}}', "first-stop"],
  ['{"cursor_version":"2026.08"}', "cursor first-stop"],
  ['{"cursor_version":""}', "cursor first-stop"],
  ['{"cursor_version":5}', "first-stop"],
  ['{"cursor_version":null}', "first-stop"],
  ['{"a":{"cursor_version":"x"}}', "first-stop"],
];

Deno.test("observePayload: each payload says what its fields say and no more", () => {
  for (const [text, words] of PAYLOADS) {
    assertEquals(inWords(observe(bytes(text))), words, JSON.stringify(text));
  }
});

const SESSIONS: ReadonlyArray<readonly [json: string, id: string | undefined]> = [
  ['"S1"', "S1"],
  ['""', ""],
  ["17", "17"],
  ["null", undefined],
  ["false", undefined],
  ["true", undefined],
  ["{}", undefined],
  ['["S1"]', undefined],
  ['"a\\nb"', undefined],
  ['"a\\u0000b"', undefined],
  ['"a\\u009bb"', undefined],
  [`"${"x".repeat(512)}"`, "x".repeat(512)],
  [`"${"x".repeat(513)}"`, undefined],
];

Deno.test("observePayload: a session id is one line of bounded text", () => {
  for (const [json, id] of SESSIONS) {
    const fact = observe(bytes(`{"session_id":${json}}`));
    assertEquals(fact.kind === "object" ? fact.sessionId : "no object", id, json);
  }
});

Deno.test("observePayload: input that never came is empty or unreadable", () => {
  for (const because of ["terminal", "not readable"] as const) {
    assertEquals(observePayload({ kind: "none", because }).kind, "empty");
  }
  for (const because of ["too large", "silent before its end"] as const) {
    assertEquals(observePayload({ kind: "unusable", because }).kind, "unreadable");
  }
});

Deno.test("observePayload: any bytes are a payload or a reason, and never an error", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (value) => {
    observe(value);
    isCompletePayload(value);
  }));
});

Deno.test("observePayload: any JSON is read without an error", () => {
  const keys = fc.constantFrom(
    "stop_hook_active",
    "stopHookActive",
    "cursor_version",
    "session_id",
  );
  const json = fc.dictionary(keys, fc.jsonValue());
  fc.assert(fc.property(json, (value) => {
    const fact = observe(bytes(JSON.stringify(value)));
    assertEquals(fact.kind, "object");
  }));
});

Deno.test("isCompletePayload: true for one whole document and false for every beginning of it", () => {
  const text = '{"stop_hook_active":false,"a":"}","b":[1,{"c":"\\""}]}';
  assertEquals(isCompletePayload(bytes(text)), true);
  assertEquals(isCompletePayload(bytes(`${text}\n`)), true);
  for (let length = 0; length < text.length; length++) {
    assertEquals(isCompletePayload(bytes(text.slice(0, length))), false, text.slice(0, length));
  }
});

function observe(value: Uint8Array): PayloadFact {
  return observePayload({ kind: "bytes", bytes: value });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function inWords(fact: PayloadFact): string {
  if (fact.kind !== "object") return fact.kind;
  const { loopGuard, fromCursor } = fact;
  const field = loopGuard.kind === "wrong-type" ? ` ${loopGuard.field}` : "";
  return `${fromCursor ? "cursor " : ""}${loopGuard.kind}${field}`;
}
