/**
 * The install script under the shells it may meet: what it installs, what it refuses, what it
 * leaves.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import { packArchive } from "../../src/build/archive.ts";
import { hashBytes } from "../../src/build/file_hash.ts";
import { type TempFolder, tempFolder } from "./_temp_folder.ts";

const SCRIPT = join(
  dirname(dirname(dirname(fromFileUrl(import.meta.url)))),
  "src/build/install.sh",
);

const TARGET = Deno.build.target;
const NAME = `turnguard-9.9.9-${TARGET}`;
const ARCHIVE = `${NAME}.tar.gz`;

/** Shells of the POSIX family; `busybox sh` is the one of small systems. */
const SHELLS: readonly (readonly string[])[] = [["/bin/sh"], ["/bin/bash"], ["/bin/dash"], [
  "/bin/busybox",
  "sh",
]];

const INSTALLED = [
  "bin/turnguard",
  "share/bash-completion/completions/turnguard",
  "share/fish/vendor_completions.d/turnguard.fish",
  "share/man/man1/turnguard-stop.1",
  "share/man/man1/turnguard.1",
  "share/turnguard/CHANGELOG.md",
  "share/turnguard/LICENSE",
  "share/turnguard/README.md",
  "share/turnguard/installed",
  "share/zsh/site-functions/_turnguard",
];

/** A release whose executable is a shell script, so that its archive is small. */
function makeRelease(
  folder: TempFolder,
  program = "#!/bin/sh\necho turnguard 9.9.9\n",
): Uint8Array {
  const files = [
    { path: `${NAME}/turnguard`, data: program, executable: true as const },
    ...["LICENSE", "README.md", "CHANGELOG.md", "completions/turnguard.bash"].map(text),
    ...["completions/_turnguard", "completions/turnguard.fish"].map(text),
    ...["man/man1/turnguard.1", "man/man1/turnguard-stop.1"].map(text),
  ];
  const archive = packArchive(files);
  folder.write(`release/${ARCHIVE}`, archive);
  folder.write("release/SHA256SUMS", `${hashBytes(archive)}  ${ARCHIVE}\n`);
  folder.write("release/install.sh", Deno.readTextFileSync(SCRIPT), 0o755);
  return archive;
}

function text(name: string): { readonly path: string; readonly data: string } {
  return { path: `${NAME}/${name}`, data: `${name}\n` };
}

/** Puts a program in front of the machine's own. */
function shim(folder: TempFolder, name: string, output: string): void {
  folder.write(`shims/${name}`, `#!/bin/sh\n${output}\n`, 0o755);
}

interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function install(
  folder: TempFolder,
  args: readonly string[],
  shell: readonly string[] = ["/bin/sh"],
): Promise<Run> {
  const [program = "", ...before] = shell;
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...before, join(folder.path, "release/install.sh"), ...args],
    clearEnv: true,
    env: { PATH: `${folder.path}/shims:/usr/bin:/bin`, HOME: folder.path, TMPDIR: folder.path },
    cwd: folder.path,
    stdin: "null",
  }).output();
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { status: code, stdout: decode(stdout), stderr: decode(stderr) };
}

function filesBelow(path: string): readonly string[] {
  const found: string[] = [];
  const visit = (folder: string, prefix: string): void => {
    for (const entry of Deno.readDirSync(folder)) {
      const name = prefix + entry.name;
      if (entry.isDirectory) visit(join(folder, entry.name), `${name}/`);
      else found.push(name);
    }
  };
  visit(path, "");
  return found.sort();
}

for (const shell of SHELLS) {
  Deno.test({
    name: `install.sh, ${shell.join(" ")}: installs, installs again, and takes all of it out`,
    ignore: !exists(shell[0] ?? ""),
    fn: async () => {
      using folder = tempFolder();
      makeRelease(folder);
      const prefix = join(folder.path, "a prefix");
      for (const _again of [false, true]) {
        const run = await install(folder, ["--prefix", prefix], shell);
        assertEquals([run.status, run.stderr], [0, ""]);
        assertStringIncludes(run.stdout, "Installed turnguard 9.9.9\n");
        assertEquals(filesBelow(prefix), INSTALLED);
      }
      assertEquals((Deno.statSync(join(prefix, "bin/turnguard")).mode ?? 0) & 0o777, 0o755);
      Deno.writeTextFileSync(join(prefix, "bin/other"), "");
      const out = await install(folder, ["--uninstall", "--prefix", prefix], shell);
      assertEquals([out.status, out.stderr], [0, ""]);
      assertEquals(filesBelow(prefix), ["bin/other"]);
      assertEquals(filesBelow(folder.path).filter((name) => name.startsWith("tmp.")), []);
    },
  });
}

Deno.test("install.sh: takes the archive from another folder, or the one that is named", async () => {
  using folder = tempFolder();
  makeRelease(folder);
  Deno.renameSync(join(folder.path, "release", ARCHIVE), join(folder.path, ARCHIVE));
  Deno.renameSync(join(folder.path, "release/SHA256SUMS"), join(folder.path, "SHA256SUMS"));
  for (const where of [["--from", folder.path], ["--file", join(folder.path, ARCHIVE)]]) {
    const { status } = await install(folder, [...where, "--prefix", join(folder.path, "p")]);
    assertEquals(status, 0);
  }
});

/** A refusal: what is made ready, with which words, and what the line says. */
const REFUSALS: readonly (readonly [
  what: string,
  prepare: (folder: TempFolder, archive: Uint8Array) => readonly string[] | void,
  said: string,
])[] = [
  [
    "an old libc",
    (folder) => shim(folder, "getconf", "echo glibc 2.26"),
    "this system has glibc 2.26",
  ],
  [
    "a machine without a loader of glibc",
    (folder) => shim(folder, "uname", "case $1 in -m) echo aarch64 ;; *) echo Linux ;; esac"),
    Deno.build.arch === "aarch64" ? "" : "there is no /lib/ld-linux-aarch64.so.1",
  ],
  [
    "a processor that nothing is built for",
    (folder) => shim(folder, "uname", "case $1 in -m) echo riscv64 ;; *) echo Linux ;; esac"),
    "there is no turnguard for Linux on riscv64",
  ],
  [
    "another system",
    (folder) => shim(folder, "uname", "echo FreeBSD"),
    "there is no turnguard for FreeBSD",
  ],
  [
    "a truncated archive",
    (folder, archive) => {
      folder.write(`release/${ARCHIVE}`, archive.slice(0, archive.length / 2));
    },
    "has another checksum than SHA256SUMS says (truncated or changed)",
  ],
  [
    "sums of another file",
    (folder) => {
      folder.write("release/SHA256SUMS", `${"0".repeat(64)}  ${ARCHIVE}\n`);
    },
    "has another checksum than SHA256SUMS says",
  ],
  [
    "sums that do not name the archive",
    (folder) => {
      folder.write("release/SHA256SUMS", "");
    },
    `SHA256SUMS does not name ${ARCHIVE}`,
  ],
  [
    "no sums",
    (folder) => Deno.removeSync(join(folder.path, "release/SHA256SUMS")),
    `there is no SHA256SUMS beside ${ARCHIVE}`,
  ],
  [
    "no archive",
    (folder) => Deno.removeSync(join(folder.path, "release", ARCHIVE)),
    `there is no turnguard-VERSION-${TARGET}.tar.gz in`,
  ],
  [
    "an archive for another machine",
    (folder) => ["--file", folder.write("release/turnguard-9.9.9-other.tar.gz", "")],
    "turnguard-9.9.9-other.tar.gz is not for this machine",
  ],
  [
    "an executable that does not run",
    (folder) => {
      makeRelease(folder, "#!/bin/sh\necho GLIBC_2.99 not found; exit 1\n");
    },
    "the executable does not run here: GLIBC_2.99 not found",
  ],
  ["a prefix that looks like a harness", () => ["--prefix", "/tmp/pi/x"], "has a folder named pi"],
  ["a word it does not know", () => ["--purge"], "--purge is not understood"],
  ["a flag without its value", () => ["--prefix"], "--prefix needs a value"],
  ["an uninstall of nothing", () => ["--uninstall"], "nothing is installed below"],
];

for (const [what, prepare, said] of REFUSALS) {
  Deno.test({
    name: `install.sh: refuses ${what} in one line and installs nothing`,
    ignore: said === "" || Deno.build.os !== "linux",
    fn: async () => {
      using folder = tempFolder();
      const archive = makeRelease(folder);
      const args = prepare(folder, archive) ?? [];
      const { status, stdout, stderr } = await install(folder, args);
      assertEquals([status, stdout], [1, ""]);
      assertStringIncludes(stderr, said);
      assertEquals(stderr.trimEnd().split("\n").length, 1);
      assertStringIncludes(stderr, "; nothing was installed; ");
      assert(!exists(join(folder.path, ".local")));
    },
  });
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
