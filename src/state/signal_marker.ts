/** `.seen-*`: what a watcher has reported of a task's status file or turn-end mark. */

import { readText } from "../platform/file_text.ts";
import { replaceFile } from "./replace_file.ts";

/** Suffixes of the files that carry signals, in the order in which they are looked at. */
export const SIGNAL_SUFFIXES = [".status", ".turn-ended"] as const;

/** A signal file as it is now. */
export interface SignalFile {
  /** Base name, such as `demo.status`. */
  readonly name: string;
  readonly path: string;
  /** Text that changes whenever the file does. */
  readonly signature: string;
  /** Size in bytes; how far a status file is classified once it was reported. */
  readonly size: number;
  readonly fileIdentity: string;
}

/** The signal file `name` of `state`, or `undefined` when it is gone. */
export function readSignalFile(state: string, name: string): SignalFile | undefined {
  const path = `${state}/${name}`;
  try {
    const info = Deno.lstatSync(path);
    const fileIdentity = `weak:${info.dev}:${info.ino ?? 0}`;
    const signature = name.endsWith(".status")
      ? statusSignature(path, info, fileIdentity)
      : `${info.size}:${Math.floor((info.mtime?.getTime() ?? 0) / 1000)}`;
    return { name, path, signature, size: info.size, fileIdentity };
  } catch {
    return undefined;
  }
}

/**
 * What counts as a report of a status file: size, identity, kind and mode of the path, link target.
 *
 * The identity is the weak one, without a birth time: that has digits and a zone which only `stat`
 * prints. Taking turns with a watcher that records the strong one costs one repeated wake a file.
 */
function statusSignature(path: string, info: Deno.FileInfo, identity: string): string {
  const kind = info.isSymlink ? "symlink" : info.isFile ? "readable" : "nonregular";
  const target = info.isSymlink ? Deno.readLinkSync(path) : "-";
  const state = `${describeKind(info)}:${(info.mode ?? 0).toString(16)}`;
  const parts = [String(info.size), identity, state, target, "readable", kind];
  return `r1:${new TextEncoder().encode(parts.join("\0")).toHex()}`;
}

function describeKind(info: Deno.FileInfo): string {
  if (info.isSymlink) return "symbolic link";
  if (info.isDirectory) return "directory";
  return info.size === 0 ? "regular empty file" : "regular file";
}

/** Path of the marker of a signal file. */
function markerPath(state: string, name: string): string {
  return `${state}/.seen-${name.replaceAll(".", "_")}`;
}

/** Whether the marker reports the file as it is. Every doubt is a repeated wake, never a lost one. */
export function isReported(state: string, file: SignalFile): boolean {
  const content = readText(markerPath(state, file.name));
  if (content.kind !== "text") return false;
  if (!file.name.endsWith(".status")) return content.text === file.signature;
  const [version, reported] = content.text.split("\t");
  return version === "v2" && reported === file.signature;
}

/**
 * Records that the file was reported as it is, and all of it judged. Throws when the marker cannot be
 * written.
 */
export function markReported(state: string, file: SignalFile): void {
  const text = file.name.endsWith(".status")
    ? `v2\t${file.signature}\t${file.size}@${file.fileIdentity}`
    : file.signature;
  replaceFile(markerPath(state, file.name), text);
}
