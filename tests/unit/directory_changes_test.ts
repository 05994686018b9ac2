/** Notices of change: they ring for what is interesting, and their absence is told. */

import { assertEquals } from "@std/assert";
import { Bell } from "../../src/platform/bell.ts";
import { DirectoryChanges } from "../../src/platform/directory_changes.ts";

/** Milliseconds after which a ring is missing; a test that passes never waits for it. */
const MISSING_MS = 10_000;

Deno.test("DirectoryChanges: rings for each interesting file that changes", async () => {
  const folder = Deno.makeTempDirSync();
  const bell = new Bell();
  using _changes = new DirectoryChanges(folder, bell, (name) => name.endsWith(".status"));
  try {
    for (const name of ["a.status", "b.status"]) {
      Deno.writeTextFileSync(`${folder}/other`, "x");
      Deno.writeTextFileSync(`${folder}/${name}`, "x");
      assertEquals(await bell.within(MISSING_MS), true);
    }
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("DirectoryChanges: says that a directory which is not there cannot be watched", () => {
  const none = new DirectoryChanges("/nowhere/at/all", new Bell(), () => true);
  using _none = none;
  assertEquals(none.works, false);
});

Deno.test("Bell.within: keeps a ring that nobody waited for, once", async () => {
  const bell = new Bell();
  bell.ring();
  bell.ring();
  assertEquals(await bell.within(MISSING_MS), true);
  assertEquals(await bell.within(1), false);
});
