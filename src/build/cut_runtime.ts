/**
 * Cuts the pinned runtime out of a compiled executable.
 *
 * @module
 */

import { findPayload } from "./elf_payload.ts";
import { hashFile } from "./file_hash.ts";
import type { Pin } from "./targets.ts";

/** The result of {@link checkRuntimeOf} and {@link cutRuntime}. */
export type RuntimeCheck =
  | { readonly kind: "pinned" }
  | {
    readonly kind: "foreign";
    /** Why it is not the pinned runtime, as the end of "the file ...". */
    readonly because: string;
  };

/**
 * Whether a compiled executable consists of the pinned runtime and a payload.
 *
 * Needs read permission; throws what reading throws.
 */
export async function checkRuntimeOf(executable: string, pin: Pin): Promise<RuntimeCheck> {
  const payload = findPayload(executable);
  if (payload.kind === "not-compiled") return { kind: "foreign", because: payload.because };
  if (payload.runtimeBytes !== pin.bytes) {
    return {
      kind: "foreign",
      because: `holds a runtime of ${payload.runtimeBytes} bytes, not ${pin.bytes}`,
    };
  }
  const sha256 = await hashFile(executable, pin.bytes);
  if (sha256 === pin.sha256) return { kind: "pinned" };
  return { kind: "foreign", because: `holds a runtime with the sha256 ${sha256}` };
}

/**
 * Turns a compiled executable into its runtime, in place, when that is the
 * pinned one.
 *
 * The file is shortened and made executable (mode 0755); on a mismatch it stays
 * as it is. The caller renames it to where it belongs. Needs read and write
 * permission; throws what reading, shortening or chmod throws.
 */
export async function cutRuntime(executable: string, pin: Pin): Promise<RuntimeCheck> {
  const check = await checkRuntimeOf(executable, pin);
  if (check.kind === "pinned") {
    await Deno.truncate(executable, pin.bytes);
    await Deno.chmod(executable, 0o755);
  }
  return check;
}
