/**
 * The parts of a release are the same bytes each time, and say what is in them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { parseTarGzip } from "nanotar";
import { packArchive } from "../../src/build/archive.ts";
import { billOfMaterials } from "../../src/build/materials.ts";
import { settleSourceMaps } from "../../src/build/source_maps.ts";
import { findTarget } from "../../src/build/targets.ts";
import { tempFolder } from "./_temp_folder.ts";

Deno.test("packArchive: names, contents and modes; no owner and no time of this machine", async () => {
  const files = [
    { path: "one/program", data: "#!/bin/sh\n", executable: true },
    { path: "one/text", data: "text\n" },
  ] as const;
  const archive = packArchive(files);
  assertEquals(packArchive(files), archive);
  const items = await parseTarGzip(archive);
  assertEquals(
    items.map((
      { name, text, attrs },
    ) => [name, text, parseInt(attrs?.mode ?? "", 8), attrs?.uid, attrs?.mtime]),
    [["one/program", "#!/bin/sh\n", 0o755, 0, 0], ["one/text", "text\n", 0o644, 0, 0]],
  );
});

Deno.test("settleSourceMaps: sources are named from the project, packages by version", async () => {
  using folder = tempFolder();
  const map = {
    version: 3,
    sources: ["../../src/modes/stop.ts", "../../../cache/npm/registry.example/@a/b/1.2.3/mod.js"],
    mappings: "AAAA",
  };
  Deno.mkdirSync(join(folder.path, "project", ".build", "bundle"), { recursive: true });
  folder.write("project/.build/bundle/main.js.map", new TextEncoder().encode(JSON.stringify(map)));
  const root = join(folder.path, "project");
  await settleSourceMaps(join(root, ".build", "bundle"), root, { "main.js": 1 });
  const settled = JSON.parse(Deno.readTextFileSync(join(root, ".build/bundle/main.js.map")));
  assertEquals(settled.sources, ["src/modes/stop.ts", "npm:/@a/b/1.2.3/mod.js"]);
  assertEquals(settled.mappings, ";AAAA");
});

Deno.test("billOfMaterials: names runtime and packages with their hashes, and no time", () => {
  const target = findTarget("x86_64-unknown-linux-gnu");
  assert(target !== undefined);
  const integrity = `sha512-${btoa("x".repeat(64))}`;
  const materials = {
    stamp: { version: "1.2.3", commit: null },
    targets: [target],
    packages: ["diff@9.0.0"],
    lock: JSON.stringify({ npm: { "diff@9.0.0": { integrity } } }),
  };
  const text = billOfMaterials(materials);
  assertEquals(billOfMaterials(materials), text);
  const bill = JSON.parse(text);
  assertEquals(bill.metadata.component.version, "1.2.3");
  const hashes = bill.components.map((
    { name, hashes }: { name: string; hashes: { alg: string; content: string }[] },
  ) => [name, hashes[0]?.alg, hashes[0]?.content.slice(0, 4)]);
  assertEquals(hashes, [
    ["denort-x86_64-unknown-linux-gnu", "SHA-256", "f12d"],
    ["diff", "SHA-512", "7878"],
  ]);
});
