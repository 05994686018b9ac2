/**
 * The runtime comes from the nearest source that has the pinned bytes; nothing
 * else is used, and nothing half-written stays behind.
 *
 * @module
 */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ensureDirSync } from "@std/fs";
import { join } from "@std/path";
import { BuildFailure } from "../../src/build/failure.ts";
import { findRuntime, type Runtime } from "../../src/build/runtime.ts";
import { DENO_VERSION, type Target } from "../../src/build/targets.ts";
import { type FakeDeno, fakeDeno } from "./_fake_deno.ts";
import { syntheticElf } from "./_synthetic_elf.ts";
import { namesIn, type TempFolder, tempFolder } from "./_temp_folder.ts";

const ELF = syntheticElf();
const RUNTIME = ELF.bytes.slice(0, ELF.payload);
const TARGET: Target = {
  triple: "test-target",
  runtime: { ...ELF.pin, within: { name: "@some/tool", version: "1.2.3", path: "bin/tool" } },
};
const KEPT = `denort-${DENO_VERSION}-test-target`;
const PUBLISH = 'mkdir -p "$cache/@some/tool/1.2.3/bin"; cp';
const PUBLISHED = '"$cache/@some/tool/1.2.3/bin/tool"';

/** The sources that a test sets up around {@link search}. */
interface Sources extends FakeDeno {
  readonly named?: string;
  readonly target?: Target;
  readonly signal?: AbortSignal;
}

function cacheOf(folder: TempFolder): string {
  return join(folder.path, ".build");
}

async function search(folder: TempFolder, sources: Sources): Promise<Runtime> {
  ensureDirSync(cacheOf(folder));
  folder.write("compiled", ELF.bytes);
  folder.write("other", syntheticElf("another").bytes);
  return await findRuntime({
    target: sources.target ?? TARGET,
    deno: fakeDeno(folder, sources),
    cache: cacheOf(folder),
    named: sources.named,
    signal: sources.signal ?? new AbortController().signal,
  });
}

function file(folder: TempFolder, name: string): string {
  return `'${join(folder.path, name)}'`;
}

Deno.test("findRuntime: uses the file DENORT_BIN names when it is the pinned one", async () => {
  using folder = tempFolder();
  const named = folder.write("named", RUNTIME);
  const runtime = await search(folder, { named });
  assertEquals(runtime, { path: named, source: "DENORT_BIN, verified" });
  assertEquals(namesIn(cacheOf(folder)), []);
});

Deno.test("findRuntime: refuses a DENORT_BIN with another sha256", async () => {
  using folder = tempFolder();
  const named = folder.write("named", syntheticElf("another").bytes);
  const failure = await assertRejects(() => search(folder, { named }), BuildFailure);
  assertStringIncludes(failure.message, named);
  assertStringIncludes(failure.message, ELF.pin.sha256);
  assertStringIncludes(failure.message, "Nothing was built");
  assertStringIncludes(failure.message, "Unset DENORT_BIN");
});

Deno.test("findRuntime: refuses a DENORT_BIN that is no file", async () => {
  using folder = tempFolder();
  for (const named of [folder.path, join(folder.path, "absent")]) {
    await assertRejects(() => search(folder, { named }), BuildFailure, "is no file");
  }
});

Deno.test("findRuntime: uses the copy of an earlier build without asking anyone", async () => {
  using folder = tempFolder();
  const kept = folder.write(`.build/${KEPT}`, RUNTIME);
  const runtime = await search(folder, {});
  assertEquals(runtime, { path: kept, source: "the verified copy of an earlier build" });
});

Deno.test("findRuntime: replaces a changed copy of an earlier build", async () => {
  using folder = tempFolder();
  const kept = folder.write(`.build/${KEPT}`, "changed");
  const compile = `cp ${file(folder, "compiled")} "$out"`;
  const runtime = await search(folder, { compile });
  assertEquals(runtime, { path: kept, source: "Deno's own cache, verified" });
  assertEquals(Deno.readFileSync(kept), RUNTIME);
});

Deno.test("findRuntime: takes the npm package when Deno's server cannot be reached", async () => {
  using folder = tempFolder();
  const cache = `${PUBLISH} ${file(folder, "compiled")} ${PUBLISHED}`;
  const runtime = await search(folder, { cache });
  const kept = join(cacheOf(folder), KEPT);
  assertEquals(runtime, { path: kept, source: "the npm package @some/tool@1.2.3, verified" });
  assertEquals(Deno.readFileSync(kept), RUNTIME);
  assertEquals((Deno.statSync(kept).mode ?? 0) & 0o777, 0o755);
  assertEquals(namesIn(cacheOf(folder)), [KEPT]);
});

Deno.test("findRuntime: does not wait for a server that cannot answer", async () => {
  using folder = tempFolder();
  const compile = "echo 'Download https://127.0.0.1:1/runtime.zip' >&2; exec sleep 60";
  const cache = `${PUBLISH} ${file(folder, "compiled")} ${PUBLISHED}`;
  const start = performance.now();
  const runtime = await search(folder, { compile, cache });
  assertStringIncludes(runtime.source, "npm package");
  assertEquals(performance.now() - start < 20_000, true);
});

Deno.test("findRuntime: takes the npm package when Deno's runtime is not the pinned one", async () => {
  using folder = tempFolder();
  const compile = `cp ${file(folder, "other")} "$out"`;
  const cache = `${PUBLISH} ${file(folder, "compiled")} ${PUBLISHED}`;
  const runtime = await search(folder, { compile, cache });
  assertStringIncludes(runtime.source, "npm package @some/tool@1.2.3, verified; refused");
});

Deno.test("findRuntime: refuses an npm package with another runtime and keeps nothing", async () => {
  using folder = tempFolder();
  const cache = `${PUBLISH} ${file(folder, "other")} ${PUBLISHED}`;
  const failure = await assertRejects(() => search(folder, { cache }), BuildFailure);
  assertStringIncludes(failure.message, "The file was deleted");
  assertEquals(namesIn(cacheOf(folder)), []);
});

Deno.test("findRuntime: without any network says what both sources answered", async () => {
  using folder = tempFolder();
  const compile = "echo 'error: no such host' >&2; exit 1";
  const cache = "echo 'error: registry is away' >&2; exit 1";
  const failure = await assertRejects(() => search(folder, { compile, cache }), BuildFailure);
  assertStringIncludes(failure.message, "neither from Deno's download server nor from the npm");
  assertStringIncludes(failure.describe(), "no such host");
  assertStringIncludes(failure.describe(), "registry is away");
  assertEquals(namesIn(cacheOf(folder)), []);
});

Deno.test("findRuntime: names a full disk as such", async () => {
  using folder = tempFolder();
  const compile = "echo 'error: No space left on device (os error 28)' >&2; exit 1";
  await assertRejects(() => search(folder, { compile }), BuildFailure, "no room left");
  assertEquals(namesIn(cacheOf(folder)), []);
});

Deno.test("findRuntime: ends when the build is interrupted and keeps nothing", async () => {
  using folder = tempFolder();
  const interrupt = new AbortController();
  setTimeout(() => interrupt.abort(new BuildFailure(PARTS)), 200);
  const compile = 'echo half > "$out"; exec sleep 60';
  await assertRejects(
    () => search(folder, { compile, signal: interrupt.signal }),
    BuildFailure,
    PARTS.wrong,
  );
  assertEquals(namesIn(cacheOf(folder)), []);
});

const PARTS = { wrong: "Interrupted.", untouched: "All is as it was.", advice: "Go on." };

Deno.test("findRuntime: leaves a platform without a pin to Deno and says so", async () => {
  using folder = tempFolder();
  const runtime = await search(folder, { target: { triple: "test-target" } });
  assertEquals(runtime, { source: "Deno's own, not pinned for this platform" });
});
