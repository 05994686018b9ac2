/** Reading `.watcher-down`, and recording downtime in it. */

import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { publishDowntime, publishDowntimeNow } from "../../src/act/recovery.ts";
import {
  formatRecoveryMarker,
  parseRecoveryMarker,
  readRecoveryMarker,
  recoveryLockPath,
} from "../../src/state/recovery_marker.ts";
import { startSleeper } from "../support/processes.ts";

/** A state directory. */
class State implements Disposable {
  readonly path = Deno.makeTempDirSync();
  readonly marker = `${this.path}/.watcher-down`;

  get text(): string {
    return Deno.readTextFileSync(this.marker);
  }

  names(): readonly string[] {
    return [...Deno.readDirSync(this.path)].map((entry) => entry.name).sort();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

Deno.test("parseRecoveryMarker: exactly one line of three known parts", () => {
  for (const status of ["pending", "announced", "acked"] as const) {
    for (const kind of ["handling", "downtime"] as const) {
      const marker = { status, kind, generation: "1301.1796073535.yXoHmm" };
      const text = `${status}:${kind}:1301.1796073535.yXoHmm\n`;
      assertEquals(parseRecoveryMarker(text), marker);
      assertEquals(formatRecoveryMarker(marker), text);
    }
  }
  const invalid = [
    "",
    "\n",
    "pending:downtime:g",
    "pending:downtime:g\n\n",
    "pending:downtime:g\npending:downtime:g\n",
    "\npending:downtime:g\n",
    "done:downtime:g\n",
    "pending:uptime:g\n",
    "Pending:downtime:g\n",
    "pending:downtime:\n",
    "pending:downtime:a b\n",
    "pending:downtime:a:b\n",
    "pending:downtime:g\r\n",
    " pending:downtime:g\n",
    "pending:downtime\n",
  ];
  assertEquals(invalid.map(parseRecoveryMarker), invalid.map(() => undefined));
});

Deno.test("readRecoveryMarker: only a plain file counts", () => {
  using state = new State();
  assertEquals(readRecoveryMarker(state.path).kind, "none");
  Deno.mkdirSync(state.marker);
  assertEquals(readRecoveryMarker(state.path).kind, "directory");
  Deno.removeSync(state.marker);
  Deno.writeTextFileSync(`${state.path}/other`, "pending:downtime:g\n");
  Deno.symlinkSync("other", state.marker);
  assertEquals(readRecoveryMarker(state.path).kind, "invalid");
  Deno.removeSync(state.marker);
  Deno.renameSync(`${state.path}/other`, state.marker);
  assertEquals(readRecoveryMarker(state.path).kind, "valid");
});

/** What stands there, and what is there after a close and after an append; `new` is a new generation. */
const PUBLISHED: readonly (readonly [string | undefined, string, string])[] = [
  [undefined, "pending:downtime:new", "pending:downtime:new"],
  ["rubbish", "pending:downtime:new", "pending:downtime:new"],
  ["pending:downtime:g\n", "pending:downtime:g", "pending:downtime:g"],
  ["pending:handling:g\n", "pending:downtime:g", "pending:downtime:g"],
  ["announced:downtime:g\n", "announced:downtime:g", "pending:downtime:new"],
  ["announced:handling:g\n", "pending:downtime:g", "pending:downtime:g"],
  ["acked:downtime:g\n", "pending:downtime:new", "pending:downtime:new"],
  ["acked:handling:g\n", "pending:downtime:new", "pending:downtime:new"],
];

Deno.test("publishDowntime: an episode that goes on keeps its generation", async () => {
  for (const [before, onClose, onAppend] of PUBLISHED) {
    for (const [on, expected] of [["close", onClose], ["append", onAppend]] as const) {
      using state = new State();
      if (before !== undefined) Deno.writeTextFileSync(state.marker, before);
      assert(await publishDowntime(state.path, 0, on));
      const fresh = new RegExp(`:${Deno.pid}\\.[0-9]+\\.[A-Za-z0-9]{6}\\n$`);
      assertEquals(state.text.replace(fresh, ":new\n"), `${expected}\n`, `${on} on ${before}`);
      assertEquals(state.names(), [".watcher-down"]);
    }
  }
});

Deno.test("publishDowntime: a new marker is for this user alone", async () => {
  using state = new State();
  assert(await publishDowntime(state.path, 0));
  assertEquals((Deno.statSync(state.marker).mode ?? 0) & 0o777, 0o600);
  assertMatch(state.text, /^pending:downtime:/);
});

Deno.test("publishDowntime: a link is replaced, what it leads to stays", () => {
  using state = new State();
  Deno.writeTextFileSync(`${state.path}/other`, "pending:downtime:g\n");
  Deno.symlinkSync("other", state.marker);
  assert(publishDowntimeNow(state.path));
  assert(Deno.lstatSync(state.marker).isFile);
  assertEquals(Deno.readTextFileSync(`${state.path}/other`), "pending:downtime:g\n");
});

Deno.test("publishDowntime: says when it could not, and changes nothing then", async () => {
  using state = new State();
  Deno.mkdirSync(state.marker);
  assertFalse(publishDowntimeNow(state.path));
  assertEquals(state.names(), [".watcher-down"]);
  Deno.removeSync(state.marker);

  await using holder = startSleeper();
  Deno.mkdirSync(recoveryLockPath(state.path));
  Deno.writeTextFileSync(`${recoveryLockPath(state.path)}/pid`, `${holder.pid}\n`);
  assertFalse(publishDowntimeNow(state.path));
  assertFalse(await publishDowntime(state.path, 1));
  assertEquals(state.names(), [".watcher-down.lock"]);
  assertFalse(publishDowntimeNow(`${state.path}/missing`));
});
