/**
 * `init`: the guard acts in what it makes, and what was there stays as it was.
 *
 * @module
 */

import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { makeHome } from "../support/home.ts";
import { snapshot } from "../support/snapshot.ts";
import { runTurnguard, verdictOf } from "../support/turnguard.ts";

/** Runs `stop` in a home with a task; `block` shows that the guard acts there. */
async function stopIn(root: string): Promise<string> {
  await runTurnguard(["task", "add", "a", "--root", root]);
  const stop = await runTurnguard(["stop", "--root", root], {
    stdin: '{"stop_hook_active":false}',
  });
  return verdictOf(stop);
}

function namesIn(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].map((found) => found.name).toSorted();
}

Deno.test("init: makes a standalone home in a folder that was not there", async () => {
  await using home = makeHome();
  const root = join(home.folder, "new", "agent");
  const { status, stdout, stderr } = await runTurnguard(["init", root]);
  assertEquals([status, stderr], [0, ""]);
  assertEquals(namesIn(root), [".fm-secondmate-home", "AGENTS.md", "bin", "state"]);
  assertEquals(Deno.readTextFileSync(join(root, ".fm-secondmate-home")), "standalone\n");
  assertEquals((Deno.statSync(join(root, "state")).mode ?? 0) & 0o777, 0o700);
  for (
    const next of [
      "turnguard install claude",
      "turnguard install codex",
      "turnguard task add",
      "turnguard explain stop",
    ]
  ) {
    assertStringIncludes(stdout, next);
  }
  assertEquals(await stopIn(root), "block");
});

Deno.test("init: takes the working directory when none is named", async () => {
  await using home = makeHome({ git: "none" });
  const root = join(home.folder, "here");
  Deno.mkdirSync(root);
  const { status } = await runTurnguard(["init"], { cwd: root });
  assertEquals(status, 0);
  assertEquals(await stopIn(root), "block");
});

Deno.test("init: the root of a checkout needs no marker", async () => {
  await using home = makeHome();
  for (const part of ["state", "bin", "AGENTS.md"]) home.remove(part);
  const { status, stdout } = await runTurnguard(["init", home.root]);
  assertEquals(status, 0);
  assertEquals(namesIn(home.root), [".git", "AGENTS.md", "bin", "state"]);
  assertMatch(stdout, /hint: Git is not told to ignore state\/: add the line \/state\//);
  assertEquals(await stopIn(home.root), "block");
});

Deno.test("init: no hint where Git is told to ignore state/", async () => {
  for (
    const [file, line] of [
      [".gitignore", "/state/"],
      [".gitignore", "state"],
      [".git/info/exclude", "state/"],
      ["state/.gitignore", "*"],
    ] as const
  ) {
    await using home = makeHome();
    home.write(file, `# local\n${line}\n`);
    const { stdout } = await runTurnguard(["init", home.root]);
    assertNotMatch(stdout, /hint/, `${file}: ${line}`);
  }
});

Deno.test("init: a second run changes nothing and says so", async () => {
  await using home = makeHome({ git: "none" });
  home.write("AGENTS.md", "mine\n");
  const first = await runTurnguard(["init", home.root]);
  assertMatch(first.stdout, /was there {2}AGENTS\.md[^]*made {7}\.fm-secondmate-home/);
  const before = snapshot(home.root);
  const second = await runTurnguard(["init", home.root]);
  assertEquals(second.status, 0);
  assertNotMatch(second.stdout, /^ {2}made/m);
  assertEquals(snapshot(home.root), before);
  assertEquals(Deno.readTextFileSync(home.path("AGENTS.md")), "mine\n");
});

Deno.test("init: a linked worktree, and what lies in it, only with --worktree", async () => {
  await using home = makeHome({ git: "linked-worktree" });
  const before = snapshot(home.folder);
  for (const root of [home.root, home.path("deep/er")]) {
    const refused = await runTurnguard(["init", root]);
    assertEquals([refused.status, refused.stdout], [1, ""]);
    assertMatch(refused.stderr, /linked Git worktree.*exempt on purpose.*--worktree/);
    assertEquals(snapshot(home.folder), before);
  }
  const allowed = await runTurnguard(["init", home.root, "--worktree"]);
  assertEquals(allowed.status, 0);
  assertEquals(await stopIn(home.root), "block");
  // With its marker it is a home like any other.
  assertEquals((await runTurnguard(["init", home.root])).status, 0);
});

Deno.test("init: what stands in the way is left alone and named", async () => {
  for (const part of ["state", "bin", "AGENTS.md"]) {
    await using home = makeHome({ git: "none" });
    home.remove(part);
    Deno.symlinkSync("/nowhere", home.path(part));
    const { status, stdout, stderr } = await runTurnguard(["init", home.root]);
    assertEquals([status, stdout], [1, ""], part);
    assertStringIncludes(stderr, home.path(part));
    assertEquals(Deno.readLinkSync(home.path(part)), "/nowhere");
  }
});

Deno.test("init: a marker that is not genuine is not taken for one", async () => {
  await using home = makeHome({ git: "none" });
  home.marker("");
  const { status, stderr } = await runTurnguard(["init", home.root]);
  assertEquals(status, 1);
  assertMatch(stderr, /would still not act.*\.fm-secondmate-home/);
  assertEquals(Deno.readTextFileSync(home.path(".fm-secondmate-home")), "");
});

Deno.test("init: names variables that lead elsewhere", async () => {
  await using home = makeHome();
  const { stdout } = await runTurnguard(["init", home.root], { env: { FM_HOME: "/other" } });
  assertStringIncludes(stdout, "FM_HOME is set here");
});
