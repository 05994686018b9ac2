/** `task`: records of work in flight, which is what makes supervision needed. */

import { judgeScope } from "../decide/scope.ts";
import type { Home } from "../observe/home.ts";
import { observeScope } from "../observe/scope.ts";
import { nowSeconds } from "../platform/clock.ts";
import { errorMessage } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import {
  createTaskRecord,
  isNote,
  listTaskRecords,
  NOTE_LIMIT,
  OWN_KIND,
  parseTaskId,
  recordPath,
  removeTaskRecord,
  type TaskId,
  type TaskRecord,
} from "../state/task_record.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import {
  ageInWords,
  complain,
  complainUsage,
  counted,
  fitted,
  labelled,
  say,
  sayJson,
  SCREEN_COLUMNS,
  screenStyle,
} from "./person_output.ts";

/** The mode. */
export const taskMode: ModeSpec = {
  name: "task",
  kind: "person",
  summary: "Record work in flight: add it, mark it done, list it.",
  operands: "add ID | done ID | list",
  maximumOperands: 2,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "note", value: "TEXT", summary: "With add: one line about the task." },
    { name: "force", summary: "With done: also remove a record of another program." },
    { name: "json", summary: "With list: one JSON array." },
  ],
  details: [
    "A task is a file state/<ID>.meta. While one is there, a turn may end only under supervision. " +
    "ID holds letters, digits and the characters . _ - (no leading dot), at most 64.",
    "add never changes a record that is there. done removes what add made; records of other " +
    "programs only with --force.",
    "list --json prints objects with the keys id, kind, createdAt (seconds since the epoch), " +
    "ageSeconds and note; what a record does not say is null.",
  ],
  startsPrograms: false,
  run: task,
};

async function task(call: Call): Promise<ExitStatus> {
  const [action, name] = call.operands;
  const misplaced = misplacedFlag(call, action);
  if (misplaced !== undefined) return await complainUsage("task", misplaced);
  switch (action) {
    case "list":
      if (name !== undefined) return await complainUsage("task", "list takes no ID");
      return await inHome(call, (home) => list(call, home));
    case "add":
    case "done": {
      if (name === undefined) return await complainUsage("task", `${action} needs an ID`);
      const id = parseTaskId(name);
      if (id === undefined) return await complainUsage("task", notAnId(name));
      return await inHome(
        call,
        (home) => action === "add" ? add(call, home, id) : done(call, home, id),
      );
    }
    case undefined:
      return await complainUsage("task", "say what to do: add ID, done ID or list");
    default:
      return await complainUsage("task", `${JSON.stringify(action)} is not add, done or list`);
  }
}

/** Which action each flag belongs to; a flag that does nothing would pass for one that worked. */
const FLAG_OWNERS = [["note", "add"], ["force", "done"], ["json", "list"]] as const;

function misplacedFlag(call: Call, action: string | undefined): string | undefined {
  for (const [flag, owner] of FLAG_OWNERS) {
    if (hasFlag(call, flag) && action !== owner) return `--${flag} belongs to ${owner}`;
  }
  const note = flagValue(call, "note");
  if (note !== undefined && !isNote(note)) {
    return `a note is one line of at most ${NOTE_LIMIT} characters`;
  }
  return undefined;
}

function notAnId(name: string): string {
  return `${JSON.stringify(name)} is not an ID: letters, digits and . _ - with no leading dot, ` +
    "at most 64 characters";
}

/** Runs `act` on a home that has a state directory; it is never created by the way. */
async function inHome(
  call: Call,
  act: (home: Home) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const home = personHome(call);
  if (targetKind(home.state) !== "directory") {
    return await complain({
      mode: "task",
      wrong: `there is no state directory at ${home.state} (${home.foundBy})`,
      untouched: "nothing was changed",
      todo: "name a home with --root DIR, or make one with: turnguard init",
    });
  }
  return await act(home);
}

async function add(call: Call, home: Home, id: TaskId): Promise<ExitStatus> {
  const path = recordPath(home.state, id);
  try {
    const note = flagValue(call, "note");
    const outcome = createTaskRecord(home.state, id, { createdAtSeconds: nowSeconds(), note });
    if (outcome === "exists") {
      return await complain({
        mode: "task",
        wrong: `there is a record already: ${path}`,
        untouched: "it was left as it is",
        todo: `take another ID, or end that task first with: turnguard task done ${id}`,
      });
    }
  } catch (error) {
    return await complain({
      mode: "task",
      wrong: `the record cannot be written: ${errorMessage(error)}`,
      untouched: "nothing was recorded",
      todo: "see: turnguard doctor",
    });
  }
  await say([`added ${id}: ${printable(path)}`, ...scopeHint(home)]);
  return EXIT.ok;
}

/** Where the guard never acts, a record alone changes nothing, and nobody would notice. */
function scopeHint(home: Home): readonly string[] {
  const scope = judgeScope(observeScope(home));
  if (scope.kind === "in") return [];
  return labelled("note: ", `this home is not guarded (${scope.because}); see: turnguard doctor`);
}

async function done(call: Call, home: Home, id: TaskId): Promise<ExitStatus> {
  const path = recordPath(home.state, id);
  try {
    const outcome = removeTaskRecord(home.state, id, hasFlag(call, "force") ? "anyone" : "own");
    switch (outcome.kind) {
      case "removed":
        await say([`done ${id}: ${printable(path)} is removed`]);
        return EXIT.ok;
      case "absent":
        return await complain({
          mode: "task",
          wrong: `there is no record ${path}`,
          untouched: "nothing was changed",
          todo: "see: turnguard task list",
        });
      case "foreign":
        return await complain({
          mode: "task",
          wrong: `${path} was written by another program (${kindInWords(outcome.by)})`,
          untouched: "it was left as it is",
          todo: "let that program end it, or remove it with --force",
        });
    }
  } catch (error) {
    return await complain({
      mode: "task",
      wrong: `the record cannot be removed: ${errorMessage(error)}`,
      untouched: "it was left as it is",
      todo: "look at it, and see: turnguard doctor",
    });
  }
}

function kindInWords(kind: string | undefined): string {
  return kind === undefined ? "it names no kind" : `kind ${JSON.stringify(kind)}`;
}

async function list(call: Call, home: Home): Promise<ExitStatus> {
  let records: readonly TaskRecord[];
  try {
    records = listTaskRecords(home.state);
  } catch (error) {
    return await complain({
      mode: "task",
      wrong: `the state directory cannot be listed: ${errorMessage(error)}`,
      untouched: "nothing was changed",
      todo: "see: turnguard doctor",
    });
  }
  if (hasFlag(call, "json")) await sayJson(records.map(recordAsJson));
  else await say(listing(call, records));
  return EXIT.ok;
}

function recordAsJson(record: TaskRecord): Readonly<Record<string, string | number | null>> {
  return {
    id: record.id,
    kind: record.kind ?? null,
    createdAt: record.createdAtSeconds ?? null,
    ageSeconds: ageOf(record) ?? null,
    note: record.note ?? null,
  };
}

/** Age of the task, or of its file when the record gives no time of its own. */
function ageOf(record: TaskRecord): number | undefined {
  const { createdAtSeconds } = record;
  return createdAtSeconds === undefined ? record.fileAgeSeconds : nowSeconds() - createdAtSeconds;
}

const AGE_COLUMNS = 9;
const LONGEST_ID_COLUMNS = 32;

function listing(call: Call, records: readonly TaskRecord[]): readonly string[] {
  if (records.length === 0) return ["no task in flight"];
  const style = screenStyle(call.environment);
  const idColumns = Math.min(
    LONGEST_ID_COLUMNS,
    Math.max(...records.map((record) => printable(record.id).length)),
  );
  const rows = records.map((record) => {
    const id = printable(record.id);
    const age = ageOf(record);
    const start = `${id.padEnd(idColumns)}  ${
      (age === undefined ? "?" : ageInWords(age)).padStart(AGE_COLUMNS)
    }`;
    const about = fitted(aboutRecord(record), Math.max(12, SCREEN_COLUMNS - start.length - 2));
    return `${start}  ${record.kind === OWN_KIND ? about : style.quiet(about)}`.trimEnd();
  });
  return [...rows, style.quiet(`${counted(records.length, "task")} in flight`)];
}

function aboutRecord(record: TaskRecord): string {
  const note = printable(record.note ?? "");
  if (record.kind === OWN_KIND) return note;
  const by = record.kind === undefined ? "other" : printable(record.kind);
  return note === "" ? `(${by})` : `(${by}) ${note}`;
}
