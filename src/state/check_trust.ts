/** Custom checks and their trust records: `<id>.check.sh` and `<id>.check-trust`. */

import { ownKind, type PathKind } from "../platform/path_kind.ts";
import { createFile } from "./create_file.ts";
import { randomName, removeQuietly, replaceFile } from "./replace_file.ts";

declare const checkIdBrand: unique symbol;

/** The name of a check: letters, digits and `.` `_` `-`, no leading dot. */
export type CheckId = string & { readonly [checkIdBrand]: "CheckId" };

/** Ending of a check's file name. */
export const CHECK_SUFFIX = ".check.sh";

/** Ending of a trust record's file name. */
export const TRUST_SUFFIX = ".check-trust";

/** Permissions of a check and of a trust record; nothing else is accepted. */
export const CHECK_PERMISSIONS = 0o700;
export const TRUST_PERMISSIONS = 0o600;

const TRUST_HEADER = "fm-custom-check-v1";

/** Largest check; a script beyond this is no script. */
const CHECK_LIMIT_BYTES = 16 * 1024 * 1024;

const TRUST_LIMIT_BYTES = 4_096;

/** The check id that `text` is, or `undefined` when it cannot be one. */
export function parseCheckId(text: string): CheckId | undefined {
  return isCheckId(text) ? text : undefined;
}

function isCheckId(text: string): text is CheckId {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(text);
}

/** Path of the script of `id`. */
export function checkPath(state: string, id: CheckId): string {
  return `${state}/${id}${CHECK_SUFFIX}`;
}

/** Path of the trust record of `id`. */
export function trustPath(state: string, id: CheckId): string {
  return `${state}/${id}${TRUST_SUFFIX}`;
}

/** What stands at a path, links not followed. */
export interface FileFact {
  readonly kind: PathKind;
  /** The permission bits, set-id and sticky bits included. */
  readonly permissions: number;
  readonly device: number;
  /** Number of names that the file has. */
  readonly links: number;
}

/** Looks at `path` itself. */
export function fileFact(path: string): FileFact {
  const kind = ownKind(path);
  try {
    const { mode, dev, nlink } = Deno.lstatSync(path);
    return { kind, permissions: (mode ?? 0) & 0o7777, device: dev, links: nlink ?? 0 };
  } catch {
    return { kind, permissions: 0, device: -1, links: 0 };
  }
}

/** Everything that decides whether a check may run. */
export interface CheckFacts {
  /** Device of the state directory. */
  readonly stateDevice: number;
  readonly check: FileFact;
  readonly trust: FileFact;
  /** Hash in the trust record; `undefined` when the record is not of its form. */
  readonly recordedHash: string | undefined;
  /** Bytes of the check; `undefined` when they cannot be read. */
  readonly script: Uint8Array<ArrayBuffer> | undefined;
  readonly scriptHash: string | undefined;
}

/** Reads a check and its trust record. Never throws. */
export async function readCheck(state: string, id: CheckId): Promise<CheckFacts> {
  const path = checkPath(state, id);
  const check = fileFact(path);
  const script = check.kind === "file" ? readPlainFile(path, CHECK_LIMIT_BYTES) : undefined;
  return {
    // The directory itself: a state directory behind a link has the device of its target.
    stateDevice: deviceOf(state),
    check,
    trust: fileFact(trustPath(state, id)),
    recordedHash: recordedHash(trustPath(state, id)),
    script,
    scriptHash: script === undefined ? undefined : await sha256Hex(script),
  };
}

/** Device of the target of `path`, or a number that no device has. */
export function deviceOf(path: string): number {
  try {
    return Deno.statSync(path).dev;
  } catch {
    return -2;
  }
}

/**
 * Bytes of a regular file, or `undefined`.
 *
 * The file that was opened must be the one that was looked at: a link put in its place in between
 * would lead elsewhere.
 */
export function readPlainFile(
  path: string,
  limitBytes: number,
): Uint8Array<ArrayBuffer> | undefined {
  try {
    const seen = Deno.lstatSync(path);
    if (!seen.isFile || seen.size > limitBytes) return undefined;
    const file = Deno.openSync(path, { read: true });
    using _file = file;
    const opened = file.statSync();
    if (opened.dev !== seen.dev || opened.ino !== seen.ino) return undefined;
    return readToEnd(file, limitBytes);
  } catch {
    return undefined;
  }
}

function readToEnd(file: Deno.FsFile, limitBytes: number): Uint8Array<ArrayBuffer> | undefined {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  while (true) {
    const buffer = new Uint8Array(64 * 1024);
    const count = file.readSync(buffer);
    if (count === null) break;
    parts.push(buffer.subarray(0, count));
    size += count;
    if (size > limitBytes) return undefined;
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** SHA-256 as 64 lower-case hex digits. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

function recordedHash(path: string): string | undefined {
  const bytes = readPlainFile(path, TRUST_LIMIT_BYTES);
  return bytes === undefined
    ? undefined
    : parseTrustRecord(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
}

/** The hash in a trust record: exactly two lines, the header and 64 lower-case hex digits. */
export function parseTrustRecord(text: string): string | undefined {
  return /^fm-custom-check-v1\n([0-9a-f]{64})\n?$/.exec(text)?.[1];
}

/** Text of the trust record that binds a check to `hash`. */
export function formatTrustRecord(hash: string): string {
  return `${TRUST_HEADER}\n${hash}\n`;
}

/** Replaces the trust record of `id`. Throws what the operating system reports. */
export function writeTrustRecord(state: string, id: CheckId, hash: string): void {
  const temporaryName = `${state}/.fm-custom-check-trust.${randomName()}`;
  replaceFile(trustPath(state, id), formatTrustRecord(hash), {
    mode: TRUST_PERMISSIONS,
    temporaryName,
  });
}

/**
 * Puts a script in place as the check of `id`, unless anything is there under its name.
 *
 * It appears complete or not at all: written beside its place and then linked there. Throws what the
 * operating system reports.
 */
export function createCheck(state: string, id: CheckId, script: Uint8Array): "created" | "exists" {
  const temporary = `${state}/.fm-custom-check.${randomName()}`;
  return createFile(checkPath(state, id), temporary, script, CHECK_PERMISSIONS);
}

/**
 * Path of the note that says that the check of `id` is a copy made here, with the hash of what was
 * copied. The trust record has no room for it: other programs accept exactly its two lines.
 */
function copyNotePath(state: string, id: CheckId): string {
  return `${state}/.${id}.check-copied`;
}

/** Notes that the check of `id` is a copy made here. Throws what the operating system reports. */
export function noteCopied(state: string, id: CheckId, hash: string): void {
  replaceFile(copyNotePath(state, id), `${hash}\n`, { mode: TRUST_PERMISSIONS });
}

/** Hash of what was copied in as the check of `id`, or `undefined` when it is no copy of ours. */
export function copiedHash(state: string, id: CheckId): string | undefined {
  const bytes = readPlainFile(copyNotePath(state, id), TRUST_LIMIT_BYTES);
  if (bytes === undefined) return undefined;
  return /^([0-9a-f]{64})\n$/.exec(new TextDecoder().decode(bytes))?.[1];
}

/** Removes the note of {@link noteCopied}. */
export function forgetCopied(state: string, id: CheckId): void {
  removeQuietly(copyNotePath(state, id));
}
