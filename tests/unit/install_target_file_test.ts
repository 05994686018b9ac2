/** Where a registration file really is, and which places are refused. */

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { findTargetFile, type TargetFile } from "../../src/harness/registration/target_file.ts";

const NAME = ".codex/hooks.json";

/** A root with another folder beside it. */
function makeRoot(): { root: string; outside: string } & Disposable {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "turnguard-test-" }));
  const root = join(folder, "root");
  const outside = join(folder, "root-2");
  for (const path of [root, outside]) Deno.mkdirSync(path);
  return { root, outside, [Symbol.dispose]: () => Deno.removeSync(folder, { recursive: true }) };
}

function refusal(target: TargetFile): string {
  assert(target.kind === "refused", target.kind);
  return target.because;
}

Deno.test("findTargetFile: a missing file is absent, with or without its folder", () => {
  using place = makeRoot();
  const path = join(place.root, NAME);
  assertEquals(findTargetFile(place.root, NAME), { kind: "absent", path });
  Deno.mkdirSync(join(place.root, ".codex"));
  assertEquals(findTargetFile(place.root, NAME), { kind: "absent", path });
});

Deno.test("findTargetFile: a file comes with its bytes and its mode", () => {
  using place = makeRoot();
  const path = join(place.root, NAME);
  Deno.mkdirSync(join(place.root, ".codex"));
  Deno.writeTextFileSync(path, "{}");
  Deno.chmodSync(path, 0o640);
  const bytes = new TextEncoder().encode("{}");
  assertEquals(findTargetFile(place.root, NAME), { kind: "present", path, bytes, mode: 0o640 });
});

Deno.test("findTargetFile: a link inside the root is followed to its file", () => {
  using place = makeRoot();
  Deno.mkdirSync(join(place.root, ".codex"));
  Deno.writeTextFileSync(join(place.root, "shared.json"), "{}");
  Deno.symlinkSync("../shared.json", join(place.root, NAME));
  const target = findTargetFile(place.root, NAME);
  assert(target.kind === "present");
  assertEquals(target.path, join(place.root, "shared.json"));
});

Deno.test("findTargetFile: a root behind a link is used like any other", () => {
  using place = makeRoot();
  const link = join(place.outside, "link");
  Deno.symlinkSync(place.root, link);
  Deno.mkdirSync(join(place.root, ".codex"));
  Deno.writeTextFileSync(join(place.root, NAME), "{}");
  const target = findTargetFile(link, NAME);
  assert(target.kind === "present");
  assertEquals(target.path, join(place.root, NAME));
});

const REFUSED: ReadonlyArray<
  readonly [name: string, make: (root: string, outside: string) => void, because: string]
> = [
  [
    "a folder that is a link out of the root",
    (root, outside) => Deno.symlinkSync(outside, join(root, ".codex")),
    "is a link that leads out of the root",
  ],
  [
    "a folder that is a file",
    (root) => Deno.writeTextFileSync(join(root, ".codex"), ""),
    "is not a folder",
  ],
  [
    "a folder that is a dangling link",
    (root) => Deno.symlinkSync("nowhere", join(root, ".codex")),
    "is not a folder",
  ],
  [
    "a file that is a link out of the root",
    (root, outside) => {
      Deno.mkdirSync(join(root, ".codex"));
      Deno.writeTextFileSync(join(outside, "x"), "{}");
      Deno.symlinkSync(join(outside, "x"), join(root, NAME));
    },
    "is a link that leads out of the root",
  ],
  [
    "a file that is a dangling link",
    (root) => {
      Deno.mkdirSync(join(root, ".codex"));
      Deno.symlinkSync("nowhere", join(root, NAME));
    },
    "is a link to a file that does not exist",
  ],
  [
    "a folder in place of the file",
    (root) => Deno.mkdirSync(join(root, NAME), { recursive: true }),
    "is a folder, not a file",
  ],
  [
    "a file that nobody wrote by hand",
    (root) => {
      Deno.mkdirSync(join(root, ".codex"));
      Deno.writeFileSync(join(root, NAME), new Uint8Array(1024 * 1024 + 1));
    },
    "is larger than 1048576 bytes",
  ],
];

for (const [name, make, because] of REFUSED) {
  Deno.test(`findTargetFile: ${name} is refused`, () => {
    using place = makeRoot();
    make(place.root, place.outside);
    assertEquals(refusal(findTargetFile(place.root, NAME)), because);
  });
}

Deno.test("findTargetFile: a FIFO is refused without being opened", async () => {
  using place = makeRoot();
  Deno.mkdirSync(join(place.root, ".codex"));
  const made = await new Deno.Command("mkfifo", { args: [join(place.root, NAME)] }).output();
  assert(made.success);
  assertEquals(refusal(findTargetFile(place.root, NAME)), "is not a regular file");
});
