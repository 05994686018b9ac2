/**
 * One change of the wake queue in a process of its own, which a test can have killed at any of its
 * steps. Not a test: started with the state directory, the change, and what it needs.
 *
 *     wake_child.ts STATE append KEY…   appends a row for each key and prints the key once it is in
 *     wake_child.ts STATE present
 *     wake_child.ts STATE acknowledge THROUGH GENERATION
 *     wake_child.ts STATE arm
 *
 * With `KILL_AT=n` it kills itself before its n-th change of the file system, and with `KILL_INSIDE=1`
 * too, a write that is the n-th change is first done by half. At its end it prints how many changes it
 * has made, and which of them were writes.
 *
 * @module
 */

import { armCheck } from "../../src/act/recovery.ts";
import { appendWake } from "../../src/act/wake_append.ts";
import { acknowledgeWakes, presentWakes } from "../../src/act/wake_drain.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { queuePaths } from "../../src/state/wake_queue.ts";

const killAt = Number(Deno.env.get("KILL_AT") ?? "0");
const killInside = Deno.env.get("KILL_INSIDE") === "1";
let changes = 0;
const writes: number[] = [];

function die(): void {
  Deno.kill(Deno.pid, "SIGKILL");
}

/** Counts a change, and ends the process in front of the one that was chosen. */
function step(half?: () => void): void {
  changes++;
  if (half !== undefined) writes.push(changes);
  if (changes !== killAt) return;
  if (killInside) half?.();
  die();
}

function counted<Arguments extends unknown[], Result>(
  change: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  return (...args) => {
    step();
    return change(...args);
  };
}

Deno.mkdirSync = counted(Deno.mkdirSync);
Deno.renameSync = counted(Deno.renameSync);
Deno.removeSync = counted(Deno.removeSync);
Deno.symlinkSync = counted(Deno.symlinkSync);
Deno.openSync = counted(Deno.openSync);

const writeTextFile = Deno.writeTextFileSync;
Deno.writeTextFileSync = (path, text, options) => {
  // A file that is written in place is empty before it has its text.
  step(() => writeTextFile(path, "", options));
  writeTextFile(path, text, options);
};

const writeBytes = Deno.FsFile.prototype.writeSync;
Deno.FsFile.prototype.writeSync = function (this: Deno.FsFile, bytes: Uint8Array): number {
  step(() => writeBytes.call(this, bytes.subarray(0, bytes.length / 2)));
  return writeBytes.call(this, bytes);
};

const [state = "", change, ...words] = Deno.args;
const paths = queuePaths(state, environmentOf({}));

switch (change) {
  case "append":
    for (const key of words) {
      const queued = await appendWake(paths, { kind: "signal", key, payload: `signal: ${key}` });
      if (!queued) Deno.exit(1);
      console.log(key);
    }
    break;
  case "present":
    await presentWakes({ paths, reserved: () => Promise.resolve(new Set()) });
    break;
  case "acknowledge":
    await acknowledgeWakes({ paths, through: Number(words[0]), generation: words[1] ?? "" });
    break;
  case "arm":
    await armCheck(paths);
    break;
}
console.log(`changes ${changes}, writes ${writes.join()}`);
