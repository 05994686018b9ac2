/** What a watcher remembers of the files by which tasks report. */

import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import {
  isReported,
  markReported,
  readSignalFile,
  type SignalFile,
} from "../../src/state/signal_marker.ts";

/** A state directory. */
class State implements Disposable {
  readonly path = Deno.makeTempDirSync();

  write(name: string, text: string): SignalFile {
    Deno.writeTextFileSync(`${this.path}/${name}`, text);
    return this.read(name);
  }

  read(name: string): SignalFile {
    const file = readSignalFile(this.path, name);
    assert(file !== undefined);
    return file;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

for (const name of ["a.status", "a.turn-ended"]) {
  Deno.test(`isReported: ${name} is reported once as it is, and again when it changed`, () => {
    using state = new State();
    const first = state.write(name, "one");
    assertFalse(isReported(state.path, first));
    markReported(state.path, first);
    assert(isReported(state.path, state.read(name)));
    assertFalse(isReported(state.path, state.write(name, "longer")));
  });

  Deno.test(`isReported: ${name} with a marker that is torn is reported again`, () => {
    using state = new State();
    const file = state.write(name, "one");
    markReported(state.path, file);
    const marker = `${state.path}/.seen-${name.replaceAll(".", "_")}`;
    const text = Deno.readTextFileSync(marker);
    for (const torn of ["", text.slice(0, 5), "v9\tx\ty"]) {
      Deno.writeTextFileSync(marker, torn);
      assertFalse(isReported(state.path, file), JSON.stringify(torn));
    }
    Deno.writeTextFileSync(marker, text);
    assert(isReported(state.path, file));
  });
}

Deno.test("readSignalFile: a status file that was replaced by another of its size differs", () => {
  using state = new State();
  const first = state.write("a.status", "one");
  Deno.writeTextFileSync(`${state.path}/b`, "two");
  Deno.renameSync(`${state.path}/b`, `${state.path}/a.status`);
  assert(state.read("a.status").signature !== first.signature);
});

Deno.test("readSignalFile: of a link the target counts", () => {
  using state = new State();
  Deno.writeTextFileSync(`${state.path}/x`, "one");
  Deno.symlinkSync("x", `${state.path}/a.status`);
  const first = state.read("a.status");
  Deno.removeSync(`${state.path}/a.status`);
  Deno.symlinkSync("y", `${state.path}/a.status`);
  assert(state.read("a.status").signature !== first.signature);
  assertMatch(first.signature, /^r1:[0-9a-f]+$/);
});

Deno.test("readSignalFile: nothing there is nothing", () => {
  using state = new State();
  assertEquals(readSignalFile(state.path, "a.status"), undefined);
});
