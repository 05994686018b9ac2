/**
 * What a folder is to Git, compared with what Git itself says where Git is there.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { gitLayout } from "../../src/observe/git_layout.ts";
import { isFile } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";

type Layout = "primary" | "linked-worktree" | "none";

const LAYOUTS: ReadonlyArray<
  readonly [what: string, arrange: (home: TestHome) => unknown, layout: Layout]
> = [
  ["a .git folder", (home) => home.gitDirectory(".git"), "primary"],
  ["nothing", () => {}, "none"],
  ["an empty .git folder", (home) => Deno.mkdirSync(home.path(".git")), "none"],
  ["a .git folder without HEAD", (home) => home.gitDirectory(".git").remove(".git/HEAD"), "none"],
  ["a .git folder without refs", (home) => home.gitDirectory(".git").remove(".git/refs"), "none"],
  [
    "a .git folder without objects",
    (home) => home.gitDirectory(".git").remove(".git/objects"),
    "none",
  ],
  ["a bare repository", (home) => home.gitDirectory("."), "primary"],
  ["a .git link to a folder", (home) => {
    home.gitDirectory(join(home.folder, "real"));
    Deno.symlinkSync(join(home.folder, "real"), home.path(".git"));
  }, "primary"],
  ["a .git file that leads to a separate folder", (home) => {
    home.gitDirectory(join(home.folder, "separate"));
    home.write(".git", `gitdir: ${join(home.folder, "separate")}\n`);
  }, "primary"],
  ["a .git file with a relative path", (home) => {
    home.gitDirectory(join(home.folder, "separate"));
    home.write(".git", "gitdir: ../separate\n");
  }, "primary"],
  ["a .git file without a newline", (home) => {
    home.gitDirectory(join(home.folder, "separate"));
    home.write(".git", "gitdir: ../separate");
  }, "primary"],
  ["a .git file that leads nowhere", (home) => home.write(".git", "gitdir: /nowhere\n"), "none"],
  ["a .git file that names itself", (home) => home.write(".git", "gitdir: .git\n"), "none"],
  ["a .git file that names a file", (home) => home.write(".git", "gitdir: AGENTS.md\n"), "none"],
  ["a .git file that says nothing", (home) => home.write(".git"), "none"],
  ["a .git file of another kind", (home) => home.write(".git", "path: ../x\n"), "none"],
  ["a .git link to itself", (home) => Deno.symlinkSync(".git", home.path(".git")), "none"],
  ["a .git link to nothing", (home) => Deno.symlinkSync("nowhere", home.path(".git")), "none"],
];

for (const [what, arrange, layout] of LAYOUTS) {
  Deno.test(`gitLayout: ${what} makes it ${layout}`, async () => {
    await using home = makeHome({ git: "none" });
    arrange(home);
    assertEquals(gitLayout(home.root), layout);
  });
}

Deno.test("gitLayout: a folder below a checkout is none by itself", async () => {
  await using home = makeHome();
  assertEquals(gitLayout(home.path("bin")), "none");
});

Deno.test("gitLayout: a linked worktree is recognised", async () => {
  await using home = makeHome({ git: "linked-worktree" });
  assertEquals(gitLayout(home.root), "linked-worktree");
});

const GIT = "/usr/bin/git";

Deno.test(
  "gitLayout: says the same as Git about what Git makes",
  { ignore: !isFile(GIT) },
  async () => {
    await using home = makeHome({ git: "none" });
    const at = (name: string): string => join(home.folder, name);
    const main = at("main");
    await git(home.folder, ["init", "--quiet", main]);
    await git(main, ["commit", "--quiet", "--allow-empty", "--message", "x"]);
    await git(main, ["worktree", "add", "--quiet", "--detach", at("linked")]);
    await git(home.folder, ["clone", "--quiet", "--bare", main, at("bare")]);
    await git(home.folder, ["init", "--quiet", "--separate-git-dir", at("apart.git"), at("apart")]);
    const allowFiles = ["-c", "protocol.file.allow=always"];
    await git(main, [...allowFiles, "submodule", "--quiet", "add", main, "sub"]);
    Deno.mkdirSync(join(main, "folder"));
    const folders = [main, at("linked"), at("bare"), at("apart"), join(main, "sub"), home.root];
    const expected = await Promise.all(folders.map(layoutByGit));
    assertEquals(folders.map(gitLayout), expected);
    assertEquals(expected, ["primary", "linked-worktree", "primary", "primary", "primary", "none"]);
    assertEquals(gitLayout(join(main, "folder")), "none");
  },
);

async function layoutByGit(folder: string): Promise<Layout> {
  try {
    const own = await git(folder, ["rev-parse", "--git-dir"]);
    return own === await git(folder, ["rev-parse", "--git-common-dir"])
      ? "primary"
      : "linked-worktree";
  } catch {
    return "none";
  }
}

async function git(folder: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(GIT, {
    args: [...args],
    cwd: folder,
    clearEnv: true,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: "/nowhere",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CEILING_DIRECTORIES: folder.slice(0, folder.lastIndexOf("/")),
      GIT_AUTHOR_NAME: "t",
      GIT_AUTHOR_EMAIL: "t@localhost",
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@localhost",
    },
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout).trim();
}
