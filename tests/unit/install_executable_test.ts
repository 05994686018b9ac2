/** Which path a registration names, and which paths it refuses. */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { type ExecutableQuery, findExecutable } from "../../src/harness/registration/executable.ts";
import { mistakablePart } from "../../src/harness/registration/mistakable_name.ts";

/** A folder with a versioned executable, a link to it, and a file that cannot be started. */
function makeFolder(): { path: string } & Disposable {
  const path = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "turnguard-test-" }));
  Deno.mkdirSync(join(path, "bin"));
  Deno.writeTextFileSync(join(path, "turnguard-1.2.3"), "", { mode: 0o755 });
  Deno.writeTextFileSync(join(path, "plain"), "", { mode: 0o644 });
  Deno.symlinkSync("../turnguard-1.2.3", join(path, "bin", "turnguard"));
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

function query(folder: string, changes: Partial<ExecutableQuery>): ExecutableQuery {
  return {
    given: undefined,
    startedAs: join(folder, "bin", "turnguard"),
    running: join(folder, "turnguard-1.2.3"),
    searchPath: undefined,
    workingDirectory: folder,
    ...changes,
  };
}

const FOUND: ReadonlyArray<
  readonly [name: string, changes: (folder: string) => Partial<ExecutableQuery>, found: string]
> = [
  ["an absolute name keeps its link", () => ({}), "bin/turnguard"],
  ["a relative name is made absolute", () => ({ startedAs: "./bin/turnguard" }), "bin/turnguard"],
  [
    "a bare name is looked up in PATH",
    (folder) => ({ startedAs: "turnguard", searchPath: `/nonexistent:${folder}/bin` }),
    "bin/turnguard",
  ],
  [
    "a relative folder in PATH does not count",
    () => ({ startedAs: "turnguard", searchPath: "bin:" }),
    "turnguard-1.2.3",
  ],
  [
    "a name that leads nowhere falls back to the running file",
    () => ({ startedAs: "-turnguard", searchPath: "/nonexistent" }),
    "turnguard-1.2.3",
  ],
  ["a given path wins", () => ({ given: "bin/../bin/turnguard" }), "bin/turnguard"],
];

for (const [name, changes, found] of FOUND) {
  Deno.test(`findExecutable: ${name}`, () => {
    using folder = makeFolder();
    const result = findExecutable(query(folder.path, changes(folder.path)));
    assertEquals(result, { kind: "found", path: join(folder.path, found) });
  });
}

const REFUSED: ReadonlyArray<readonly [given: string, because: string]> = [
  ["missing", "does not exist"],
  ["plain", "is not an executable file"],
  ["bin", "is not an executable file"],
];

for (const [given, because] of REFUSED) {
  Deno.test(`findExecutable: a path that ${because} is refused (${given})`, () => {
    using folder = makeFolder();
    const result = findExecutable(query(folder.path, { given }));
    assertEquals(result, { kind: "refused", path: join(folder.path, given), because });
  });
}

Deno.test("findExecutable: a path that looks like a harness is refused", () => {
  using folder = makeFolder();
  const path = join(folder.path, "pi", "turnguard");
  Deno.mkdirSync(join(folder.path, "pi"));
  Deno.symlinkSync("../turnguard-1.2.3", path);
  const because = 'looks like a harness in process lists: the folder "pi"';
  const result = findExecutable(query(folder.path, { startedAs: path }));
  assertEquals(result, { kind: "refused", path, because });
});

const NAMES: ReadonlyArray<readonly [path: string, part: string | undefined]> = [
  ["/usr/local/bin/turnguard", undefined],
  ["/opt/pieces/ompa/turnguard", undefined],
  ["/home/claude-user/bin/turnguard", undefined],
  ["/opt/x/turnguard-codex", 'the word "codex" in its file name'],
  ["/opt/x/Claude", 'the word "claude" in its file name'],
  ["/opt/x/kimi", 'the word "kimi" in its file name'],
  ["/opt/x/pi", 'the file name "pi"'],
  ["/opt/pi/turnguard", 'the folder "pi"'],
  ["/opt/pi-signed/bin/turnguard", 'the folder "pi-signed"'],
  ["/opt/omp/turnguard", 'the folder "omp"'],
  ["/opt/claude/turnguard", 'the folder "claude"'],
  ["/opt/Codex/turnguard", 'the folder "Codex"'],
];

for (const [path, part] of NAMES) {
  Deno.test(`mistakablePart: ${path} ${part === undefined ? "is fine" : "is not"}`, () => {
    assertEquals(mistakablePart(path), part);
  });
}
