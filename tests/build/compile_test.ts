/**
 * An executable is in place whole and verified, or the earlier one still is.
 *
 * @module
 */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { compile } from "../../src/build/compile.ts";
import { BuildFailure } from "../../src/build/failure.ts";
import { MAX_EXECUTABLE_BYTES, type Target } from "../../src/build/targets.ts";
import { fakeDeno } from "./_fake_deno.ts";
import { syntheticElf } from "./_synthetic_elf.ts";
import { namesIn, type TempFolder, tempFolder } from "./_temp_folder.ts";

const ELF = syntheticElf();
const TARGET: Target = {
  triple: "test-target",
  runtime: { ...ELF.pin, within: { name: "@some/tool", version: "1.2.3", path: "bin/tool" } },
};

/** Compiles over an earlier executable with the given scene of `deno compile`. */
async function attempt(folder: TempFolder, scene: string): Promise<number> {
  folder.write("compiled", ELF.bytes);
  folder.write("other", syntheticElf("another").bytes);
  return await compile({
    deno: fakeDeno(folder, { compile: scene }),
    bundle: folder.write("turnguard.js", ""),
    runtime: { path: join(folder.path, "runtime"), source: "a test" },
    target: TARGET,
    output: folder.write("dist/turnguard", "earlier"),
    signal: new AbortController().signal,
  });
}

function assertEarlierOneStands(folder: TempFolder): void {
  assertEquals(namesIn(join(folder.path, "dist")), ["turnguard"]);
  assertEquals(Deno.readTextFileSync(join(folder.path, "dist/turnguard")), "earlier");
}

Deno.test("compile: replaces the earlier executable, executable for all", async () => {
  using folder = tempFolder();
  const bytes = await attempt(folder, `cp '${folder.path}/compiled' "$out"; chmod 600 "$out"`);
  assertEquals(bytes, ELF.bytes.length);
  assertEquals(namesIn(join(folder.path, "dist")), ["turnguard"]);
  assertEquals(Deno.readFileSync(join(folder.path, "dist/turnguard")), ELF.bytes);
  assertEquals((Deno.statSync(join(folder.path, "dist/turnguard")).mode ?? 0) & 0o777, 0o755);
});

Deno.test("compile: leaves the earlier executable when Deno fails halfway", async () => {
  using folder = tempFolder();
  const scene = 'echo half > "$out"; echo half > "$out.tmp-1"; echo "error: broke" >&2; exit 1';
  const failure = await assertRejects(() => attempt(folder, scene), BuildFailure);
  assertStringIncludes(failure.message, "could not be compiled");
  assertStringIncludes(failure.describe(), "error: broke");
  assertEarlierOneStands(folder);
});

Deno.test("compile: leaves the earlier executable when the disk is full", async () => {
  using folder = tempFolder();
  const scene = 'echo half > "$out"; echo "No space left on device (os error 28)" >&2; exit 1';
  await assertRejects(() => attempt(folder, scene), BuildFailure, "no room left");
  assertEarlierOneStands(folder);
});

Deno.test("compile: refuses an executable with another runtime", async () => {
  using folder = tempFolder();
  const scene = `cp '${folder.path}/other' "$out"`;
  await assertRejects(() => attempt(folder, scene), BuildFailure, "not the pinned runtime");
  assertEarlierOneStands(folder);
});

Deno.test("compile: refuses an executable that is too large", async () => {
  using folder = tempFolder();
  const large = ELF.bytes.slice();
  const bytes = MAX_EXECUTABLE_BYTES + 1;
  // The trailer counts from the end, so a hole in the payload makes it large.
  new DataView(large.buffer).setBigUint64(ELF.trailer + 8, BigInt(bytes - ELF.payload), true);
  folder.write("start", large.slice(0, ELF.trailer - 8));
  folder.write("end", large.slice(ELF.trailer - 8));
  const scene = `cp '${folder.path}/start' "$out"; ` +
    `truncate -s ${bytes - 24} "$out"; cat '${folder.path}/end' >> "$out"`;
  await assertRejects(() => attempt(folder, scene), BuildFailure, `has ${bytes} bytes`);
  assertEarlierOneStands(folder);
});
