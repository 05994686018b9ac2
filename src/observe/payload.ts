/** A hook's payload: exactly one JSON object on standard input, or a reason why it is none. */

import type { LoopGuard, PayloadFact } from "../decide/facts.ts";
import type { StandardInput } from "../platform/stdin.ts";

/** Spellings of the loop-guard field; an earlier one hides a later one, whatever its type. */
const LOOP_GUARD_FIELDS = ["stopHookActive", "stop_hook_active"] as const;

/** Longest session id that is taken over. */
const SESSION_ID_LIMIT = 512;

/** A payload before anything in it was looked at. */
export type Payload =
  | Exclude<PayloadFact, { readonly kind: "object" }>
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, unknown>> };

/** What the payload says, as far as turn-end rules read it. Every other field is ignored. */
export function observePayload(input: StandardInput): PayloadFact {
  const payload = readPayload(input);
  if (payload.kind !== "object") return payload;
  const { fields } = payload;
  return {
    kind: "object",
    fromCursor: typeof fields["cursor_version"] === "string",
    fromPiCode: isPiTranscript(fields["transcript_path"]),
    loopGuard: loopGuard(fields),
    sessionId: sessionId(fields["session_id"]),
  };
}

/** The one JSON object that arrived, or why there is none. */
export function readPayload(input: StandardInput): Payload {
  switch (input.kind) {
    case "none":
      return { kind: "empty", because: `standard input is ${ofInput(input.because)}` };
    case "unusable":
      return { kind: "unreadable", because: `standard input was ${input.because}` };
    case "bytes":
      return parsePayload(input.bytes);
  }
}

function ofInput(because: "terminal" | "not readable"): string {
  return because === "terminal" ? "a terminal" : because;
}

function parsePayload(bytes: Uint8Array): Payload {
  const text = decodePayload(bytes);
  if (/^[ \t\r\n]*$/.test(text)) return { kind: "empty", because: "no input" };
  const value = parseJson(text);
  if (value === undefined) return { kind: "unreadable", because: "not one JSON document" };
  return isRecord(value)
    ? { kind: "object", fields: value }
    : { kind: "unreadable", because: "not a JSON object" };
}

/** Whether `bytes` already are one complete JSON document. */
export function isCompletePayload(bytes: Uint8Array): boolean {
  const last = bytes.findLast((byte) => byte > 0x20);
  // Cheap refusal first: only a document that may end here is worth parsing.
  if (last !== 0x7d && last !== 0x5d && last !== 0x22) return false;
  return parseJson(decodePayload(bytes)) !== undefined;
}

/** UTF-8 with one leading byte-order mark dropped and invalid sequences replaced. */
function decodePayload(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPiTranscript(path: unknown): boolean {
  return typeof path === "string" && path.includes("/.pi/");
}

function loopGuard(payload: Readonly<Record<string, unknown>>): LoopGuard {
  const field = LOOP_GUARD_FIELDS.find((name) => Object.hasOwn(payload, name));
  if (field === undefined) return { kind: "first-stop" };
  const active = payload[field];
  if (typeof active !== "boolean") return { kind: "wrong-type", field };
  return { kind: active ? "continuation" : "first-stop" };
}

/** A session id that can stand in a line of text; anything else names no session. */
export function sessionId(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || value.length > SESSION_ID_LIMIT) return undefined;
  // deno-lint-ignore no-control-regex -- a control character would break the files that keep the id
  return /[\u0000-\u001f\u007f-\u009f]/.test(value) ? undefined : value;
}
