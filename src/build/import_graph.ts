/**
 * Reads who imports whom, as Deno itself resolves it.
 *
 * @module
 */

import { walk } from "@std/fs";
import { fromFileUrl, join, relative, SEPARATOR, toFileUrl } from "@std/path";

/** One import statement (or re-export, or dynamic import). */
export interface Import {
  /** The importing file, relative to the project, with `/`. */
  readonly from: string;
  /** The line of the statement's specifier, counted from 1. */
  readonly line: number;
  /** The imported file likewise, or the full specifier of what is no local file. */
  readonly to: string;
  /** Whether `to` is a file of the project. */
  readonly local: boolean;
  /** `type` for `import type`, `data` for text, bytes and JSON, else `value`. */
  readonly kind: "value" | "type" | "data";
}

/** The sources of a project and their imports. */
export interface ImportGraph {
  /** All TypeScript files below `main.ts`, `src`, `hooks` and `tests`, sorted. */
  readonly files: readonly string[];
  /** Their imports, in the order of the files and lines. */
  readonly imports: readonly Import[];
}

const FOLDERS: readonly string[] = ["src", "hooks", "tests"];
/** Recorded files of other programs, which are no part of the project's code. */
const SKIPPED = /(?:^|\/)tests\/fixtures(?:\/|$)/;

/**
 * Reads the import graph of the project in `root`.
 *
 * One run of `deno info` over a made-up module that imports every file. Needs
 * read, write (temporary folder) and run permission; throws an `Error` with
 * Deno's own words when a file cannot be found or parsed.
 */
export async function readImportGraph(root: string): Promise<ImportGraph> {
  const files = await listSources(root);
  const folder = await Deno.makeTempDir({ prefix: "turnguard-imports-" });
  try {
    const all = join(folder, "all.ts");
    const lines = files.map((file) =>
      `import ${JSON.stringify(toFileUrl(join(root, file)).href)};`
    );
    await Deno.writeTextFile(all, lines.join("\n"));
    const info = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--config", join(root, "deno.json"), ...await lockFlags(root), all],
      env: { NO_COLOR: "1" },
    }).output();
    if (!info.success) throw new Error(new TextDecoder().decode(info.stderr));
    const graph: unknown = JSON.parse(new TextDecoder().decode(info.stdout));
    return { files, imports: importsOf(graph, root, new Set(files)) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The lock file is named, as `deno.json` keeps Deno from finding it by itself. */
async function lockFlags(root: string): Promise<string[]> {
  const lock = join(root, "deno.lock");
  return await isFile(lock) ? [`--lock=${lock}`, "--frozen"] : [];
}

async function listSources(root: string): Promise<string[]> {
  const files: string[] = [];
  if (await isFile(join(root, "main.ts"))) files.push("main.ts");
  for (const folder of FOLDERS) {
    try {
      for await (const entry of walk(join(root, folder), { includeDirs: false, exts: ["ts"] })) {
        const path = inProject(root, entry.path);
        if (!SKIPPED.test(path)) files.push(path);
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return files.sort();
}

function importsOf(graph: unknown, root: string, files: ReadonlySet<string>): Import[] {
  const imports: Import[] = [];
  for (const module of list(field(graph, "modules"))) {
    const specifier = field(module, "specifier");
    const from = typeof specifier === "string" ? nameOf(specifier, root) : undefined;
    const error = field(module, "error");
    if (from !== undefined && typeof error === "string") throw new Error(`${from}: ${error}`);
    if (from === undefined || !files.has(from)) continue;
    for (const dependency of list(field(module, "dependencies"))) {
      imports.push(...importsIn(dependency, from, root));
    }
  }
  return imports.sort((a, b) => a.from === b.from ? a.line - b.line : a.from < b.from ? -1 : 1);
}

/** A specifier with a value and a type side (`@ts-types`) counts as two imports. */
function importsIn(dependency: unknown, from: string, root: string): Import[] {
  const isData = field(dependency, "assertionType") !== undefined;
  const imports: Import[] = [];
  for (const side of ["code", "type"] as const) {
    const resolved = field(dependency, side);
    const specifier = field(resolved, "specifier");
    if (typeof specifier !== "string") continue;
    const line = field(field(field(resolved, "span"), "start"), "line");
    const local = nameOf(specifier, root);
    imports.push({
      from,
      line: typeof line === "number" ? line + 1 : 1,
      to: local ?? specifier,
      local: local !== undefined,
      kind: isData ? "data" : side === "code" ? "value" : "type",
    });
  }
  return imports;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The project-relative name of a `file:` specifier, if it is inside the project. */
function nameOf(specifier: string, root: string): string | undefined {
  if (!specifier.startsWith("file:")) return undefined;
  const name = inProject(root, fromFileUrl(specifier));
  return name.startsWith("../") ? undefined : name;
}

function inProject(root: string, path: string): string {
  return relative(root, path).replaceAll(SEPARATOR, "/");
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound;
}
