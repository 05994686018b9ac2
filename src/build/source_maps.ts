/**
 * Makes the source maps of a bundle the same on every machine.
 *
 * @module
 */

import { join, relative, resolve } from "@std/path";

/** What of a source map is changed. */
interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
  readonly [key: string]: unknown;
}

/**
 * Rewrites the maps in `folder`: sources are named from the project's folder, a package by its name
 * and version instead of the machine's cache. `firstLines` says how many lines were put in front of
 * a file after it was mapped. Needs read and write permission.
 */
export async function settleSourceMaps(
  folder: string,
  root: string,
  firstLines: Readonly<Record<string, number>>,
): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".js.map")) continue;
    const path = join(folder, name);
    const map = readMap(await Deno.readTextFile(path));
    const added = firstLines[name.replace(/\.map$/, "")] ?? 0;
    const settled = {
      ...map,
      sources: map.sources.map((source) => settledSource(source, folder, root)),
      mappings: ";".repeat(added) + map.mappings,
    };
    await Deno.writeTextFile(path, `${JSON.stringify(settled)}\n`);
  }
}

function settledSource(source: string, folder: string, root: string): string {
  const path = resolve(folder, source.replace(/^file:\/\//, ""));
  const inPackage = /\/npm\/[^/]+\/((?:@[^/]+\/)?[^/]+\/[^/]+\/.*)$/.exec(path)?.[1];
  return inPackage === undefined ? relative(root, path) : `npm:/${inPackage}`;
}

function readMap(text: string): SourceMap {
  const map: unknown = JSON.parse(text);
  if (isSourceMap(map)) return map;
  throw new Error("a source map without sources");
}

function isSourceMap(map: unknown): map is SourceMap {
  return typeof map === "object" && map !== null && "sources" in map && "mappings" in map &&
    Array.isArray(map.sources) && typeof map.mappings === "string";
}
