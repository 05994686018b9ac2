/**
 * The commit is read from every form of checkout, and from nowhere else.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { readCommit } from "../../src/build/git_commit.ts";
import { tempFolder } from "./_temp_folder.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const OTHER = "fedcba9876543210fedcba9876543210fedcba98";

Deno.test("readCommit: reads a branch from its own file", () => {
  using folder = tempFolder();
  folder.write(".git/HEAD", "ref: refs/heads/some/branch\n");
  folder.write(".git/refs/heads/some/branch", `${COMMIT}\n`);
  folder.write(".git/packed-refs", `${OTHER} refs/heads/some/branch\n`);
  assertEquals(readCommit(folder.path), COMMIT);
});

Deno.test("readCommit: reads a branch from the packed refs", () => {
  using folder = tempFolder();
  folder.write(".git/HEAD", "ref: refs/heads/main\n");
  folder.write(
    ".git/packed-refs",
    `# pack-refs with: peeled\n${OTHER} refs/heads/main-2\n${COMMIT} refs/heads/main\n^${OTHER}\n`,
  );
  assertEquals(readCommit(folder.path), COMMIT);
});

Deno.test("readCommit: reads a detached head", () => {
  using folder = tempFolder();
  folder.write(".git/HEAD", `${COMMIT}\n`);
  assertEquals(readCommit(folder.path), COMMIT);
});

Deno.test("readCommit: follows a linked worktree to the common folder", () => {
  using folder = tempFolder();
  folder.write("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
  folder.write("main/.git/worktrees/tree/HEAD", "ref: refs/heads/topic\n");
  folder.write("main/.git/worktrees/tree/commondir", "../..\n");
  folder.write("main/.git/refs/heads/topic", `${COMMIT}\n`);
  assertEquals(readCommit(join(folder.path, "tree")), COMMIT);
});

Deno.test("readCommit: knows no commit outside a checkout", () => {
  using folder = tempFolder();
  folder.write(".git/HEAD", `${COMMIT}\n`);
  folder.write("copy/deno.json", "{}");
  assertEquals(readCommit(join(folder.path, "copy")), undefined);
});

Deno.test("readCommit: knows no commit before the first one", () => {
  using folder = tempFolder();
  folder.write(".git/HEAD", "ref: refs/heads/main\n");
  assertEquals(readCommit(folder.path), undefined);
});

Deno.test("readCommit: takes nothing from damaged or foreign files", () => {
  for (const head of ["", "ref: refs/../../secret\n", "ref: other\n", `${COMMIT}0\n`, "\0\0"]) {
    using folder = tempFolder();
    folder.write(".git/HEAD", head);
    folder.write("secret", COMMIT);
    assertEquals(readCommit(folder.path), undefined);
  }
});
