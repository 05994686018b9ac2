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
  /** Neither a link nor anything else that is no file of its own. */
  readonly isPlainFile: boolean;
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
    return { name, path, signature, size: info.size, fileIdentity, isPlainFile: info.isFile };
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
  const readable = info.isFile && !isReadable(path) ? "unreadable" : "readable";
  const kind = info.isSymlink ? "symlink" : info.isFile ? readable : "nonregular";
  const target = info.isSymlink ? Deno.readLinkSync(path) : "-";
  const state = `${describeKind(info)}:${(info.mode ?? 0).toString(16)}`;
  const parts = [String(info.size), identity, state, target, readable, kind];
  return `r1:${new TextEncoder().encode(parts.join("\0")).toHex()}`;
}

function isReadable(path: string): boolean {
  try {
    Deno.openSync(path, { read: true }).close();
    return true;
  } catch {
    return false;
  }
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
  if (file.name.endsWith(".status")) return isKnownTo(state, file, "signals");
  const content = readText(markerPath(state, file.name));
  return content.kind === "text" && content.text === file.signature;
}

/** A v2 marker's two facts; both `undefined` when it is no such marker. */
function readMarker(path: string): {
  readonly reported: string | undefined;
  readonly classified: string | undefined;
} {
  const content = readText(path);
  const [version, reported, classified] = content.kind === "text" ? content.text.split("\t") : [];
  return version === "v2" ? { reported, classified } : NOTHING_MARKED;
}

const NOTHING_MARKED = { reported: undefined, classified: undefined } as const;

/** Who has looked at a status log: the watcher's signals, its heartbeats, or the away daemon. */
export type Reader = "signals" | "heartbeat" | "daemon";

function readerMarkerPath(state: string, name: string, reader: Reader): string {
  switch (reader) {
    case "signals":
      return markerPath(state, name);
    case "heartbeat":
      return `${state}/.hb-surfaced-${taskInName(name)}`;
    case "daemon":
      return `${state}/.subsuper-seen-status-${taskInName(name)}`;
  }
}

/** The task of the status log `name`, as a part of another file's name. */
function taskInName(name: string): string {
  return name.slice(0, -".status".length).replaceAll(/[:/.]/g, "_");
}

/**
 * The part of a status log that `reader` has not judged yet; `undefined` when it cannot be read.
 *
 * A log that is another file than before, or that has shrunk, begins anew: every doubt costs one
 * repeated wake, never a lost one. A link is never followed: its target is not the task's own log.
 */
export function unjudgedPart(state: string, file: SignalFile, reader: Reader): string | undefined {
  if (!file.isPlainFile) return undefined;
  const { classified } = readMarker(readerMarkerPath(state, file.name, reader));
  return readPart(file.path, offsetIn(file, classified), file.size);
}

/** Bytes of a part that are read; a task that writes more at once is cut at the front. */
const PART_LIMIT_BYTES = 4 * 1024 * 1024;

function readPart(path: string, start: number, end: number): string | undefined {
  try {
    const file = Deno.openSync(path);
    using _file = file;
    const bytes = new Uint8Array(Math.min(end - start, PART_LIMIT_BYTES));
    file.seekSync(end - bytes.length, Deno.SeekMode.Start);
    let filled = 0;
    while (filled < bytes.length) {
      const read = file.readSync(bytes.subarray(filled));
      if (read === null) break;
      filled += read;
    }
    return new TextDecoder().decode(bytes.subarray(0, filled));
  } catch {
    return undefined;
  }
}

function offsetIn(file: SignalFile, classified: string | undefined): number {
  const [, offset, identity] = /^([0-9]{1,15})@(.*)$/.exec(classified ?? "") ?? [];
  if (offset === undefined || identity !== file.fileIdentity) return 0;
  return Number(offset) <= file.size ? Number(offset) : 0;
}

/** Bytes of a status log that signals have judged already. */
export function classifiedOffset(state: string, file: SignalFile): number {
  return offsetIn(file, readMarker(markerPath(state, file.name)).classified);
}

/** Whether `reader` was told of a status log in exactly this state. */
export function isKnownTo(state: string, file: SignalFile, reader: Reader): boolean {
  return readMarker(readerMarkerPath(state, file.name, reader)).reported === file.signature;
}

/**
 * Records that the file was reported as it is, and, when `judged`, that all of it was judged. Throws
 * when the marker cannot be written.
 */
export function markReported(
  state: string,
  file: SignalFile,
  { reader = "signals", judged = true }: { readonly reader?: Reader; readonly judged?: boolean } =
    {},
): void {
  const path = readerMarkerPath(state, file.name, reader);
  if (!file.name.endsWith(".status")) return replaceFile(path, file.signature);
  const position = judged ? file.size : offsetIn(file, readMarker(path).classified);
  replaceFile(path, `v2\t${file.signature}\t${position}@${file.fileIdentity}`);
}
