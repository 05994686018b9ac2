/**
 * For a child process that a test kills at any of its steps: counts its changes of the file system.
 *
 * With `KILL_AT=n` the process kills itself before its n-th change, and with `KILL_INSIDE=1` too, a
 * write that is the n-th change is first done by half.
 *
 * @module
 */

const killAt = Number(Deno.env.get("KILL_AT") ?? "0");
const killInside = Deno.env.get("KILL_INSIDE") === "1";
let counting = false;
let changes = 0;
const writes: number[] = [];

/** Starts to count; what came before was only preparation. */
export function countSteps(): void {
  counting = true;
}

/** Tells how many changes were made, and which of them were writes. */
export function tellSteps(): void {
  console.log(`changes ${changes}, writes ${writes.join()}`);
}

/** Counts a change, and ends the process in front of the one that was chosen. */
function step(half?: () => void): void {
  if (!counting) return;
  changes++;
  if (half !== undefined) writes.push(changes);
  if (changes !== killAt) return;
  if (killInside) half?.();
  Deno.kill(Deno.pid, "SIGKILL");
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
Deno.linkSync = counted(Deno.linkSync);
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
