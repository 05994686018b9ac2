/**
 * The real build: same bytes from any folder, the declared permissions and no
 * others, and what the program knows about itself.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { copySync } from "@std/fs";
import { dirname, fromFileUrl, join } from "@std/path";
import { DENO_VERSION, findTarget } from "../../src/build/targets.ts";
import { namesIn, type TempFolder, tempFolder } from "./_temp_folder.ts";

const ROOT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));
/** What a copy of the project lacks, as a fresh checkout would. */
const NOT_COPIED = new Set([".git", ".build", ".tools", "dist", "node_modules", "tests"]);
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A program that prints what it may do and what it is. */
const SELF_CHECK = `
import { buildInfo } from "./src/build_info.ts";
const kinds = ["read", "write", "run", "env", "net", "ffi", "sys"] as const;
const granted = kinds.filter((name) => Deno.permissions.querySync({ name }).state === "granted");
const { FM_X, SECRET_X } = Deno.env.toObject();
console.log(JSON.stringify({ granted, FM_X, SECRET_X, hidden: Deno.env.get("SECRET_X"), buildInfo: buildInfo() }));
`;

/** The pinned runtime that the build before the tests has left, if there is one. */
function runtimeOfEarlierBuild(): Record<string, string> {
  const kept = join(ROOT, ".build", `denort-${DENO_VERSION}-${Deno.build.target}`);
  const named = Deno.env.get("DENORT_BIN");
  if (named !== undefined) return { DENORT_BIN: named };
  return findTarget(Deno.build.target)?.runtime === undefined ? {} : { DENORT_BIN: kept };
}

function copyOfProject(folder: TempFolder, name: string): string {
  const copy = join(folder.path, name);
  Deno.mkdirSync(copy);
  for (const entry of namesIn(ROOT)) {
    if (!NOT_COPIED.has(entry)) copySync(join(ROOT, entry), join(copy, entry));
  }
  folder.write(`${name}/.git/HEAD`, COMMIT);
  return copy;
}

async function build(project: string, ...args: string[]): Promise<string> {
  const result = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "build", ...args],
    cwd: project,
    env: { ...runtimeOfEarlierBuild(), NO_COLOR: "1" },
  }).output();
  const output = new TextDecoder().decode(result.stdout) + new TextDecoder().decode(result.stderr);
  assertEquals(result.success, true, output);
  return output;
}

function sha256In(output: string): string {
  return /^sha256\s+([0-9a-f]{64})$/m.exec(output)?.[1] ?? output;
}

Deno.test("build: gives the same bytes from different folders, and leaves the bundle", async () => {
  using folder = tempFolder();
  const first = copyOfProject(folder, "first");
  const second = copyOfProject(folder, "a second one, with blanks");
  assertEquals(sha256In(await build(first)), sha256In(await build(second)));
  assertEquals(namesIn(join(first, "dist")).filter((name) => name !== "README.md"), ["turnguard"]);
  assertEquals(namesIn(join(first, ".build")), ["bundle"]);
  for (const name of namesIn(join(first, ".build/bundle"))) {
    assertEquals(Deno.statSync(join(first, ".build/bundle", name)).mtime, new Date(0), name);
  }
});

Deno.test("build: bakes in the declared permissions and the program's description", async () => {
  using folder = tempFolder();
  const project = copyOfProject(folder, "project");
  folder.write("project/self_check.ts", SELF_CHECK);
  await build(project, "--entry", join(project, "self_check.ts"));

  const run = await new Deno.Command(join(project, "dist/turnguard"), {
    clearEnv: true,
    env: { FM_X: "seen", SECRET_X: "hidden", HOME: folder.path },
  }).output();
  const seen: unknown = JSON.parse(new TextDecoder().decode(run.stdout));
  assertEquals(seen, {
    granted: ["read", "write", "run"],
    FM_X: "seen",
    buildInfo: {
      version: JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))).version,
      commit: COMMIT,
      target: Deno.build.target,
      deno: DENO_VERSION,
    },
  });
});

Deno.test("build: makes an executable that neither reads nor writes a code cache", async () => {
  using folder = tempFolder();
  const project = copyOfProject(folder, "project");
  folder.write("project/self_check.ts", SELF_CHECK);
  await build(project, "--entry", join(project, "self_check.ts"));
  const tmp = join(folder.path, "tmp");
  Deno.mkdirSync(tmp);
  const cache = join(tmp, "deno-compile-turnguard.cache");
  // A program that opened this pipe would wait for a writer for ever.
  await new Deno.Command("mkfifo", { args: [cache] }).output();

  const run = await new Deno.Command(join(project, "dist/turnguard"), {
    clearEnv: true,
    env: { TMPDIR: tmp },
    signal: AbortSignal.timeout(10_000),
  }).output();
  assertEquals(run.success, true);
  assertEquals(namesIn(tmp), ["deno-compile-turnguard.cache"]);
});

Deno.test("build: refuses a wrong option or target and builds nothing", async () => {
  for (const args of [["--target", "riscv"], ["--tarket"], ["stray"]]) {
    const result = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", join(ROOT, "src/build/build.ts"), ...args],
      env: { NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(result.stderr);
    assertEquals(result.code, 1);
    assertStringIncludes(text.replaceAll(/\s+/g, " "), "Nothing was built");
    assertStringIncludes(text, "x86_64-unknown-linux-gnu");
    assertEquals(text.split("\n").filter((line) => line.length > 80), []);
  }
});
