/** `.watcher-down`: the record that supervision was down, kept until somebody has handled it. */

import { lineOf, readText } from "../platform/file_text.ts";
import { ownKind } from "../platform/path_kind.ts";
import { type LockTry, lockWithin, tryLock } from "./lock.ts";
import { randomName, replaceFile } from "./replace_file.ts";

/** Name of the marker in a state directory. */
export const RECOVERY_MARKER_NAME = ".watcher-down";

/** A valid marker. */
export interface RecoveryMarker {
  readonly status: "pending" | "announced" | "acked";
  readonly kind: "handling" | "downtime";
  /** Token that names this stretch of downtime. */
  readonly generation: string;
}

/** What stands at the marker's place. */
export type RecoveryReading =
  | { readonly kind: "none" }
  | { readonly kind: "invalid" }
  | { readonly kind: "valid"; readonly marker: RecoveryMarker };

/** Reads the marker of a state directory. */
export function readRecoveryMarker(state: string): RecoveryReading {
  const path = `${state}/${RECOVERY_MARKER_NAME}`;
  const kind = ownKind(path);
  if (kind === "absent") return { kind: "none" };
  const content = kind === "file" ? readText(path) : undefined;
  const marker = content?.kind === "text" ? parseRecoveryMarker(content.text) : undefined;
  return marker === undefined ? { kind: "invalid" } : { kind: "valid", marker };
}

/** The marker in `text`: exactly one line that ends in a newline. */
export function parseRecoveryMarker(text: string): RecoveryMarker | undefined {
  if (text.indexOf("\n") !== text.length - 1) return undefined;
  const match = /^(pending|announced|acked):(handling|downtime):([A-Za-z0-9._-]+)$/
    .exec(lineOf(text, 1));
  const [, status, kind, generation] = match ?? [];
  if (generation === undefined) return undefined;
  if (status !== "pending" && status !== "announced" && status !== "acked") return undefined;
  if (kind !== "handling" && kind !== "downtime") return undefined;
  return { status, kind, generation };
}

/** The marker's line. */
export function formatRecoveryMarker(marker: RecoveryMarker): string {
  return `${marker.status}:${marker.kind}:${marker.generation}\n`;
}

/**
 * Records that supervision is down from now on, under the marker's own lock.
 *
 * An episode that nobody has handled yet keeps its status and generation; anything else starts a new
 * one. Returns `false` when it could not be recorded within `limitMs`; the watch lock must then stay.
 */
export async function publishDowntime(state: string, limitMs: number): Promise<boolean> {
  return writeUnder(state, await lockWithin(recoveryLockPath(state), limitMs));
}

/** As {@link publishDowntime}, with one try; for callers that hold a lock and must not wait. */
export function publishDowntimeNow(state: string): boolean {
  return writeUnder(state, tryLock(recoveryLockPath(state)));
}

/** Path of the lock that guards the marker. */
export function recoveryLockPath(state: string): string {
  return `${state}/${RECOVERY_MARKER_NAME}.lock`;
}

function writeUnder(state: string, attempt: LockTry): boolean {
  if (attempt.kind === "refused") return false;
  using _held = attempt.lock;
  return writeDowntime(state);
}

function writeDowntime(state: string): boolean {
  const path = `${state}/${RECOVERY_MARKER_NAME}`;
  const kind = ownKind(path);
  if (kind !== "absent" && kind !== "file") return false;
  const found = readRecoveryMarker(state);
  const suffix = randomName();
  const fresh = `${Deno.pid}.${Math.floor(Date.now() / 1000)}.${suffix}`;
  const open = found.kind === "valid" && found.marker.status !== "acked" ? found.marker : undefined;
  try {
    replaceFile(
      path,
      formatRecoveryMarker({
        status: open?.status ?? "pending",
        kind: "downtime",
        generation: open?.generation ?? fresh,
      }),
      { mode: 0o600, temporaryName: `${path}.tmp.${suffix}` },
    );
    return true;
  } catch {
    return false;
  }
}
