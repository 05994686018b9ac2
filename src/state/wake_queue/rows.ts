/** Rows of the wake queue: their line, and which of them are one when they are shown. */

/** What a wake is about. */
export interface Wake {
  readonly kind: "signal" | "stale" | "check" | "heartbeat";
  /** Wakes with the same kind and key are one when they are shown. */
  readonly key: string;
  readonly payload: string;
}

/** A row that can be shown and acknowledged. */
export interface QueueRow {
  readonly usable: true;
  /** Its line as it is on disk, without the newline. */
  readonly bytes: Uint8Array;
  /** When it was queued, as its writer put it. */
  readonly epoch: string;
  readonly sequence: number;
  /** One of the kinds of {@link Wake}, or a word of a later program. */
  readonly kind: string;
  readonly key: string;
  readonly payload: string;
}

/** A line that is no row: nobody could acknowledge it by its number. */
export interface UnusableRow {
  readonly usable: false;
  readonly bytes: Uint8Array;
  readonly text: string;
}

const NEWLINE = 0x0a;

/** Digits of a sequence number: more than any writer reaches, and exact as a number. */
const SEQUENCE = /^[0-9]{1,15}$/;

/**
 * The lines of a queue. Bytes that are no text stay as they are in `bytes`.
 *
 * Empty lines in a row count as one: a queue may be nothing else, for megabytes.
 */
export function parseQueue(content: Uint8Array): readonly (QueueRow | UnusableRow)[] {
  // A newline is never part of another character, so the lines of the text are those of the bytes.
  const texts = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content).split("\n");
  const rows: (QueueRow | UnusableRow)[] = [];
  let wasEmpty = false;
  let start = 0;
  for (let line = 0; start < content.length; line++) {
    const newline = content.indexOf(NEWLINE, start);
    const end = newline < 0 ? content.length : newline;
    const isEmpty = start === end;
    if (!isEmpty || !wasEmpty) rows.push(parseRow(content.subarray(start, end), texts[line] ?? ""));
    wasEmpty = isEmpty;
    start = end + 1;
  }
  return rows;
}

function parseRow(bytes: Uint8Array, text: string): QueueRow | UnusableRow {
  const [epoch, sequence, kind, key, ...rest] = text.split("\t");
  const complete = epoch !== undefined && sequence !== undefined && kind !== undefined &&
    key !== undefined && rest.length > 0;
  if (!complete || !SEQUENCE.test(sequence)) return { usable: false, bytes, text };
  const payload = rest.join("\t");
  return { usable: true, bytes, epoch, sequence: Number(sequence), kind, key, payload };
}

/** The line of a wake, its newline included. */
export function formatRow(wake: Wake, sequence: number, epochSeconds: number): string {
  const fields = [epochSeconds, sequence, wake.kind, oneField(wake.key), oneField(wake.payload)];
  return `${fields.join("\t")}\n`;
}

function oneField(text: string): string {
  return text.replaceAll(/[\t\r\n]/g, " ");
}

/** The lines of a queue that holds these rows. */
export function joinRows(rows: readonly { readonly bytes: Uint8Array }[]): Uint8Array {
  const length = rows.reduce((sum, row) => sum + row.bytes.length + 1, 0);
  const content = new Uint8Array(length).fill(NEWLINE);
  let offset = 0;
  for (const { bytes } of rows) {
    content.set(bytes, offset);
    offset += bytes.length + 1;
  }
  return content;
}

/**
 * The rows as they are shown: of those that are about the same, the last one, at the place of the
 * first. All heartbeats are about the same.
 */
export function collapseRows(rows: readonly QueueRow[]): readonly QueueRow[] {
  const shown = new Map<string, QueueRow>();
  for (const row of rows) {
    shown.set(row.kind === "heartbeat" ? row.kind : `${row.kind}\t${row.key}`, row);
  }
  return [...shown.values()];
}
