/** `.watcher-down`: the record that supervision was down, kept until somebody has handled it. */

import { nowSeconds } from "../platform/clock.ts";
import { lineOf, readText } from "../platform/file_text.ts";
import { ownKind } from "../platform/path_kind.ts";
import { randomName, removeQuietly, replaceFile } from "./replace_file.ts";

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
  /** Something else than one well-formed line in a plain file. */
  | { readonly kind: "invalid" }
  /** Invalid too, and nothing can be written over it. */
  | { readonly kind: "directory" }
  | { readonly kind: "valid"; readonly marker: RecoveryMarker };

/** Reads the marker of a state directory. */
export function readRecoveryMarker(state: string): RecoveryReading {
  const path = `${state}/${RECOVERY_MARKER_NAME}`;
  const kind = ownKind(path);
  if (kind === "absent") return { kind: "none" };
  if (kind === "directory") return { kind: "directory" };
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

/** Path of the lock that guards the marker. */
export function recoveryLockPath(state: string): string {
  return `${state}/${RECOVERY_MARKER_NAME}.lock`;
}

/**
 * Replaces the marker; without a generation a new one is made. The caller holds the marker's lock.
 *
 * Returns what was written. Throws what the operating system reports, with the old marker untouched.
 */
export function writeRecoveryMarker(
  state: string,
  marker: Omit<RecoveryMarker, "generation"> & { readonly generation: string | undefined },
): RecoveryMarker {
  const path = `${state}/${RECOVERY_MARKER_NAME}`;
  const suffix = randomName();
  const generation = marker.generation ?? `${Deno.pid}.${nowSeconds()}.${suffix}`;
  const written = { status: marker.status, kind: marker.kind, generation };
  replaceFile(path, formatRecoveryMarker(written), {
    mode: 0o600,
    temporaryName: `${path}.tmp.${suffix}`,
  });
  return written;
}

/**
 * Moves whatever stands at the marker's place into a new folder beside it, where a person can look at
 * it. The caller holds the marker's lock. Throws what the operating system reports.
 */
export function setMarkerAside(state: string): void {
  const folder = `${state}/${RECOVERY_MARKER_NAME}.invalid.${randomName()}`;
  Deno.mkdirSync(folder, { mode: 0o700 });
  try {
    Deno.renameSync(`${state}/${RECOVERY_MARKER_NAME}`, `${folder}/marker`);
  } catch (error) {
    removeQuietly(folder);
    throw error;
  }
}
