/** `log`: the decision journal for people, newest last, and followed as it grows. */

import { Bell } from "../platform/bell.ts";
import { DirectoryChanges } from "../platform/directory_changes.ts";
import { jsonText, printable } from "../platform/printable.ts";
import { targetKind } from "../platform/path_kind.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { writeTo } from "../platform/output.ts";
import {
  JOURNAL_LIMIT_BYTES,
  JOURNAL_NAME,
  type JournalEntry,
  parseJournalLine,
  readJournal,
} from "../state/journal.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import {
  complain,
  complainUsage,
  fitted,
  SCREEN_COLUMNS,
  screenStyle,
  type Style,
} from "./person_output.ts";

/** The mode. */
export const logMode: ModeSpec = {
  name: "log",
  kind: "read-only",
  summary: "Show the decision journal: every verdict and what decided it.",
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "lines", value: "N", summary: "How many entries to show (20)." },
    { name: "follow", summary: "Keep printing new entries until interrupted." },
    { name: "json", summary: "Print the entries as they are, one JSON object a line." },
  ],
  details: [
    "The newest entry comes last. A line holds time, mode, harness, verdict, reason code and the " +
    "fact that decided; --json has all facts, the hashed session and the milliseconds.",
    "--follow waits for a journal that is not there yet, goes on when it is rotated, and ends " +
    "with status 0 on SIGINT or SIGTERM.",
  ],
  startsPrograms: false,
  run: log,
};

/** Entries that are shown unless a number is given. */
const DEFAULT_LINES = 20;

async function log(call: Call): Promise<ExitStatus> {
  const lines = flagValue(call, "lines") ?? String(DEFAULT_LINES);
  if (!/^[0-9]{1,9}$/.test(lines)) {
    return await complainUsage("log", `--lines needs a whole number, not ${JSON.stringify(lines)}`);
  }
  const { state, foundBy } = personHome(call);
  const follows = hasFlag(call, "follow");
  if (!follows && targetKind(state) !== "directory") {
    return await complain({
      mode: "log",
      wrong: `there is no state directory at ${state} (${foundBy})`,
      untouched: "nothing was changed",
      todo: "name a home with --root DIR",
    });
  }
  const style = screenStyle(call.environment);
  const render = hasFlag(call, "json")
    ? (entry: JournalEntry): string => jsonText(entry)
    : (entry: JournalEntry): string => journalLine(entry, style);
  const tail = new JournalTail(`${state}/${JOURNAL_NAME}`);
  const entries = follows ? tail.next() : readJournal(state);
  const shown = Number(lines) === 0 ? [] : entries.slice(-Number(lines));
  await print(shown.map(render));
  if (follows) await follow(state, tail, render);
  return EXIT.ok;
}

async function print(lines: readonly string[]): Promise<"written" | "not written"> {
  return await writeTo("stdout", lines.map((line) => `${line}\n`).join(""));
}

const TIME_COLUMNS = 14;
const MODE_COLUMNS = 6;
const HARNESS_COLUMNS = 8;

/** One entry as a line of at most `columns` characters, colours not counted. */
export function journalLine(entry: JournalEntry, style: Style, columns = SCREEN_COLUMNS): string {
  const start = [
    localTime(entry.time),
    printable(entry.mode).padEnd(MODE_COLUMNS),
    printable(entry.harness).padEnd(HARNESS_COLUMNS),
  ].join(" ");
  const verdict = `${printable(entry.verdict)} ${printable(entry.code)}`;
  const fact = printable(decidingFact(entry));
  const line = fitted(`${start} ${verdict}${fact === "" ? "" : `: ${fact}`}`, columns);
  const head = line.slice(0, start.length + 1);
  const rest = line.slice(head.length);
  const paint = entry.verdict === "block" ? style.bad : style.good;
  return head + paint(rest.slice(0, verdict.length)) + rest.slice(verdict.length);
}

/** Month, day and time of day in the reader's zone; what is no time stays as it is. */
function localTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return fitted(printable(text), TIME_COLUMNS);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/**
 * The fact that says most in a few words: for a block the watcher's, since its absence is what has
 * to be repaired; otherwise that of the rule which decided, the last one asked.
 */
function decidingFact(entry: JournalEntry): string {
  const watcher = entry.verdict === "block" ? entry.facts["watcher"] : undefined;
  return String(watcher ?? Object.values(entry.facts).at(-1) ?? "");
}

/** Milliseconds after which a journal is looked at without having been announced as changed. */
const LOOK_MS = 500;

/**
 * Prints new entries until a stop signal arrives or nobody reads them.
 *
 * Change notices make it prompt; the regular look makes it right where there are none: a folder
 * that is not there yet, one that was replaced, a network file system.
 */
async function follow(
  state: string,
  tail: JournalTail,
  render: (entry: JournalEntry) => string,
): Promise<void> {
  const bell = new Bell();
  let stopped = false;
  void firstStopSignal().then(() => {
    stopped = true;
    bell.ring();
  });
  let changes: DirectoryChanges | undefined;
  while (!stopped) {
    if (changes?.works !== true) changes = new DirectoryChanges(state, bell, () => true);
    if (await print(tail.next().map(render)) === "not written") return;
    await bell.within(LOOK_MS);
  }
}

/** The part of a journal that has not been printed yet. */
class JournalTail {
  readonly #path: string;
  #mark: Mark | undefined;
  #started = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** The entries since the last call, oldest first; in the first one all that are there. */
  next(): readonly JournalEntry[] {
    const current = openJournal(this.#path);
    const lines = this.#linesAside(current);
    this.#started = true;
    if (current !== undefined) {
      const start = this.#mark !== undefined && continues(current, this.#mark) ? this.#mark.end : 0;
      this.#mark = markAfter(current, start);
      lines.push(...linesBetween(current, start, this.#mark.end));
    }
    return lines.map(parseJournalLine).filter((entry) => entry !== undefined);
  }

  /**
   * What stands in the half that was put aside and has not been printed: all of it at first, and
   * after a rotation what was added before the rename.
   */
  #linesAside(current: JournalFile | undefined): string[] {
    const isKnown = this.#mark !== undefined && current !== undefined &&
      continues(current, this.#mark);
    if (this.#started && (this.#mark === undefined || isKnown)) return [];
    const aside = openJournal(`${this.#path}.1`);
    if (aside === undefined) return [];
    if (!this.#started) {
      // Rotated between the two looks: it is the current file, which is printed anyway.
      const isCurrent = aside.device === current?.device && aside.inode === current.inode;
      return isCurrent ? [] : linesBetween(aside, 0, markAfter(aside, 0).end);
    }
    if (this.#mark === undefined || !continues(aside, this.#mark)) return [];
    const start = this.#mark.end;
    // Remembered at once: the new journal may come only after this look, and the next one.
    this.#mark = markAfter(aside, start);
    return linesBetween(aside, start, this.#mark.end);
  }
}

/** A journal file as it was at one moment. */
interface JournalFile {
  readonly device: number;
  readonly inode: number | null;
  readonly bytes: Uint8Array;
}

/** Up to where a file has been printed, and the line before that point. */
interface Mark {
  readonly device: number;
  readonly inode: number | null;
  readonly end: number;
  readonly lastLine: Uint8Array;
}

/** Reads the regular file at `path`; nothing else, and nothing oversized, is a journal. */
function openJournal(path: string): JournalFile | undefined {
  try {
    if (!Deno.lstatSync(path).isFile) return undefined;
    const file = Deno.openSync(path);
    using _file = file;
    const { dev: device, ino: inode, size } = file.statSync();
    if (size > 2 * JOURNAL_LIMIT_BYTES) return undefined;
    const bytes = new Uint8Array(size);
    let length = 0;
    while (length < size) {
      const count = file.readSync(bytes.subarray(length));
      if (count === null) break;
      length += count;
    }
    return { device, inode, bytes: bytes.subarray(0, length) };
  } catch {
    return undefined;
  }
}

/**
 * Whether `file` is the marked one with more at its end.
 *
 * The number of a file that was removed is soon given to another one, so the marked line has to
 * stand there too.
 */
function continues(file: JournalFile, mark: Mark): boolean {
  if (file.device !== mark.device || file.inode !== mark.inode) return false;
  const before = file.bytes.subarray(mark.end - mark.lastLine.length, mark.end);
  return before.length === mark.lastLine.length &&
    before.every((byte, index) => byte === mark.lastLine[index]);
}

const NEWLINE = 0x0a;

/** The mark after the last complete line; one without its end is left for the next look. */
function markAfter(file: JournalFile, start: number): Mark {
  const end = Math.max(start, file.bytes.lastIndexOf(NEWLINE) + 1);
  const lineStart = end === 0 ? 0 : file.bytes.subarray(0, end - 1).lastIndexOf(NEWLINE) + 1;
  const lastLine = file.bytes.slice(lineStart, end);
  return { device: file.device, inode: file.inode, end, lastLine };
}

function linesBetween(file: JournalFile, start: number, end: number): string[] {
  return new TextDecoder().decode(file.bytes.subarray(start, end)).split("\n").slice(0, -1);
}
