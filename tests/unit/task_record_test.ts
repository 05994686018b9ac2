/**
 * Task records: their names, their contents, and that none is ever overwritten.
 *
 * @module
 */

import { assertEquals, assertThrows } from "@std/assert";
import {
  createTaskRecord,
  isNote,
  listTaskRecords,
  parseRecord,
  parseTaskId,
  recordPath,
  removeTaskRecord,
  type TaskId,
} from "../../src/state/task_record.ts";

/** A state directory for one test. */
class TempState implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "turnguard-test-" });

  write(name: string, text: string): void {
    Deno.writeTextFileSync(`${this.path}/${name}`, text);
  }

  names(): readonly string[] {
    return [...Deno.readDirSync(this.path)].map((entry) => entry.name).toSorted();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

function taskId(text: string): TaskId {
  const id = parseTaskId(text);
  if (id === undefined) throw new Error(`${text} is no task id`);
  return id;
}

const BUILD = taskId("build-7");

Deno.test("parseTaskId: slugs of at most 64 characters are ids", () => {
  for (const text of ["a", "A.b_c-9", "_x", "-x", "7", "a..b", "x".repeat(64)]) {
    assertEquals(parseTaskId(text), taskId(text), text);
  }
});

Deno.test("parseTaskId: whatever could leave the folder or hide in it is no id", () => {
  for (
    const text of ["", ".", "..", ".a", "a/b", "../a", "a b", "a\n", "é", "a\0", "x".repeat(65)]
  ) {
    assertEquals(parseTaskId(text), undefined, JSON.stringify(text));
  }
});

Deno.test("isNote: one line of bounded length", () => {
  assertEquals(["", "compile = fast", "größer"].map(isNote), [true, true, true]);
  assertEquals(
    ["a\nb", "a\rb", "a\tb", "\u001b[31m", "a\u2028b", "x".repeat(501)].map(isNote),
    [false, false, false, false, false, false],
  );
});

Deno.test("createTaskRecord: writes the whole record and leaves nothing beside it", () => {
  using state = new TempState();
  const task = { createdAtSeconds: 1_700_000_000, note: "key=value stays" };
  assertEquals(createTaskRecord(state.path, BUILD, task), "created");
  assertEquals(
    Deno.readTextFileSync(recordPath(state.path, BUILD)),
    "kind=turnguard\ncreated_at=1700000000\nnote=key=value stays\n",
  );
  assertEquals(state.names(), ["build-7.meta"]);
});

Deno.test("createTaskRecord: whatever stands under the name is left alone", () => {
  for (const occupy of ["file", "folder", "dangling link"] as const) {
    using state = new TempState();
    const path = recordPath(state.path, BUILD);
    if (occupy === "file") state.write("build-7.meta", "window=3\n");
    if (occupy === "folder") Deno.mkdirSync(path);
    if (occupy === "dangling link") Deno.symlinkSync("/nowhere", path);
    const before = Deno.lstatSync(path);
    const task = { createdAtSeconds: 1, note: undefined };
    assertEquals(createTaskRecord(state.path, BUILD, task), "exists", occupy);
    assertEquals(Deno.lstatSync(path), before, occupy);
    assertEquals(state.names(), ["build-7.meta"], occupy);
  }
});

Deno.test("createTaskRecord: throws without a state directory, and makes none", () => {
  using state = new TempState();
  const missing = `${state.path}/missing`;
  const task = { createdAtSeconds: 1, note: undefined };
  assertThrows(() => createTaskRecord(missing, BUILD, task), Deno.errors.NotFound);
  assertEquals(state.names(), []);
});

Deno.test("removeTaskRecord: removes an own record, and says when there is none", () => {
  using state = new TempState();
  createTaskRecord(state.path, BUILD, { createdAtSeconds: 1, note: undefined });
  assertEquals(removeTaskRecord(state.path, BUILD, "own"), { kind: "removed" });
  assertEquals(removeTaskRecord(state.path, BUILD, "own"), { kind: "absent" });
  assertEquals(state.names(), []);
});

Deno.test("removeTaskRecord: a record of another program goes only for anyone", () => {
  const foreign = ["", "kind=crew\n", "kind=turnguard \n", " kind=turnguard\n", "kind=turnguard2"];
  for (const text of foreign) {
    using state = new TempState();
    state.write("build-7.meta", text);
    assertEquals(removeTaskRecord(state.path, BUILD, "own").kind, "foreign", text);
    assertEquals(state.names(), ["build-7.meta"], text);
    assertEquals(removeTaskRecord(state.path, BUILD, "anyone"), { kind: "removed" }, text);
    assertEquals(state.names(), [], text);
  }
});

Deno.test("removeTaskRecord: a link goes, its target stays", () => {
  using state = new TempState();
  state.write("target", "kind=turnguard\n");
  Deno.symlinkSync("target", recordPath(state.path, BUILD));
  assertEquals(removeTaskRecord(state.path, BUILD, "own"), { kind: "removed" });
  assertEquals(state.names(), ["target"]);
});

Deno.test("listTaskRecords: all records by name, with what each one says", () => {
  using state = new TempState();
  createTaskRecord(state.path, BUILD, { createdAtSeconds: 12, note: "n" });
  state.write("another.meta", "window=3\nkind=crew\ncreated_at=soon\n");
  state.write(".hidden.meta", "");
  state.write("other.txt", "");
  Deno.symlinkSync("/nowhere", `${state.path}/dangling.meta`);
  const records = listTaskRecords(state.path);
  assertEquals(records.map(({ fileAgeSeconds: _age, ...said }) => said), [
    { id: "another", kind: "crew", createdAtSeconds: undefined, note: undefined },
    { id: "build-7", kind: "turnguard", createdAtSeconds: 12, note: "n" },
  ]);
});

Deno.test("parseRecord: lines without a key are skipped, the last of two values counts", () => {
  const fields = parseRecord("a=1\n=2\nnothing\na=3=4\nb=");
  assertEquals([...fields], [["a", "3=4"], ["b", ""]]);
});
