/** Results of process-event sources: `procevent-inbox/<id>.<seq>.result` and what became of them. */

import { readCapture } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import type { Wake } from "../wake_queue.ts";
import { randomName, removeQuietly, replaceFile } from "../replace_file.ts";
import { isAdapterName, parseSourceId, type SourceId } from "./source.ts";

/** One captured result. */
export interface Result {
  readonly id: SourceId;
  /** From 1. */
  readonly sequence: number;
  readonly adapter: string;
}

/** Folder of the results of a state directory. */
export function inboxFolder(state: string): string {
  return `${state}/procevent-inbox`;
}

type Part = "result" | "adapter" | "handled";

function partPath(state: string, id: SourceId, sequence: number, part: Part): string {
  return `${inboxFolder(state)}/${id}.${sequence}.${part}`;
}

/** Path of the output of a result. */
export function resultPath(state: string, { id, sequence }: Result): string {
  return partPath(state, id, sequence, "result");
}

/**
 * Turns a finished staging file into the next result; the caller holds the source's lock.
 *
 * The adapter's name comes first: whoever sees the result sees both. Throws what the system reports.
 */
export function captureResult(
  state: string,
  id: SourceId,
  adapter: string,
  staging: string,
): Result {
  Deno.mkdirSync(inboxFolder(state), { recursive: true, mode: 0o700 });
  const sequence = nextSequence(state, id);
  replaceFile(partPath(state, id, sequence, "adapter"), `${adapter}\n`, {
    mode: 0o600,
    temporaryName: `${inboxFolder(state)}/.adapter.${randomName()}`,
  });
  Deno.renameSync(staging, partPath(state, id, sequence, "result"));
  return { id, sequence, adapter };
}

function nextSequence(state: string, id: SourceId): number {
  const isTaken = (sequence: number): boolean =>
    ownKind(partPath(state, id, sequence, "result")) !== "absent" ||
    ownKind(partPath(state, id, sequence, "handled")) !== "absent";
  let sequence = 1;
  while (isTaken(sequence)) sequence++;
  return sequence;
}

/** A result by its name, if it was captured completely. */
export function findResult(state: string, id: SourceId, sequence: number): Result | undefined {
  if (ownKind(partPath(state, id, sequence, "result")) !== "file") return undefined;
  const adapter = readCapture(partPath(state, id, sequence, "adapter"));
  if (adapter.kind !== "text" || !isAdapterName(adapter.text)) return undefined;
  return { id, sequence, adapter: adapter.text };
}

/** Results that nobody has acknowledged, by source and then by sequence. */
export function unhandledResults(state: string): readonly Result[] {
  return resultNames(state)
    .map(({ id, sequence }) => findResult(state, id, sequence))
    .filter((result) => result !== undefined)
    .filter((result) => !isHandled(state, result))
    .toSorted((a, b) => a.id === b.id ? a.sequence - b.sequence : a.id < b.id ? -1 : 1);
}

function resultNames(
  state: string,
): readonly { readonly id: SourceId; readonly sequence: number }[] {
  try {
    return [...Deno.readDirSync(inboxFolder(state))].flatMap(({ name }) => {
      const [, text = "", number] = /^(.+)\.([1-9][0-9]{0,14})\.result$/.exec(name) ?? [];
      const id = parseSourceId(text);
      return id === undefined ? [] : [{ id, sequence: Number(number) }];
    });
  } catch {
    return [];
  }
}

/** Whether a result was acknowledged. */
export function isHandled(state: string, { id, sequence }: Result): boolean {
  return ownKind(partPath(state, id, sequence, "handled")) !== "absent";
}

/** Acknowledges a result, once. Throws what the operating system reports. */
export function markHandled(
  state: string,
  { id, sequence }: Result,
): "handled" | "already-handled" {
  const temporary = `${inboxFolder(state)}/.handled.${randomName()}`;
  try {
    Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 }).close();
    Deno.linkSync(temporary, partPath(state, id, sequence, "handled"));
    return "handled";
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return "already-handled";
    throw error;
  } finally {
    removeQuietly(temporary);
  }
}

/** The row that announces a result. What the source printed never enters the queue. */
export function resultWake({ id, sequence, adapter }: Result): Wake {
  return {
    kind: "check",
    key: `procevent:${id}:${sequence}`,
    payload: `check: procevent ${adapter} ${id} ${sequence}`,
  };
}
