/**
 * Cuts the pinned runtime out of a compiled executable.
 *
 * @module
 */

import { findPayload } from "./elf_payload.ts";
import { hashBytes, hashFile } from "./file_hash.ts";
import { cutMachO, isMachO } from "./macho.ts";
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
  if (await startsLikeMachO(executable)) {
    const found = await runtimeOfMachO(executable, pin);
    return found.kind === "pinned" ? { kind: "pinned" } : found;
  }
  const payload = findPayload(executable);
  if (payload.kind === "not-compiled") return { kind: "foreign", because: payload.because };
  if (payload.runtimeBytes !== pin.bytes) return otherLength(payload.runtimeBytes, pin);
  const sha256 = await hashFile(executable, pin.bytes);
  return sha256 === pin.sha256 ? { kind: "pinned" } : otherHash(sha256);
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
  if (await startsLikeMachO(executable)) {
    const found = await runtimeOfMachO(executable, pin);
    if (found.kind === "foreign") return found;
    await Deno.writeFile(executable, found.runtime);
  } else {
    const check = await checkRuntimeOf(executable, pin);
    if (check.kind === "foreign") return check;
    await Deno.truncate(executable, pin.bytes);
  }
  await Deno.chmod(executable, 0o755);
  return { kind: "pinned" };
}

async function startsLikeMachO(path: string): Promise<boolean> {
  using file = await Deno.open(path);
  const start = new Uint8Array(4);
  const count = await file.read(start);
  return count === start.length && isMachO(start);
}

/** Its bytes are worked out anew: what points behind the program was moved when it was put in. */
async function runtimeOfMachO(
  path: string,
  pin: Pin,
): Promise<
  | { readonly kind: "pinned"; readonly runtime: Uint8Array }
  | Extract<RuntimeCheck, { kind: "foreign" }>
> {
  const cut = cutMachO(await Deno.readFile(path));
  if (cut.kind === "not-compiled") return { kind: "foreign", because: cut.because };
  const { runtime } = cut;
  if (runtime.length !== pin.bytes) return otherLength(runtime.length, pin);
  const sha256 = hashBytes(runtime);
  return sha256 === pin.sha256 ? { kind: "pinned", runtime } : otherHash(sha256);
}

function otherLength(bytes: number, pin: Pin): Extract<RuntimeCheck, { kind: "foreign" }> {
  return { kind: "foreign", because: `holds a runtime of ${bytes} bytes, not ${pin.bytes}` };
}

function otherHash(sha256: string): Extract<RuntimeCheck, { kind: "foreign" }> {
  return { kind: "foreign", because: `holds a runtime with the sha256 ${sha256}` };
}
