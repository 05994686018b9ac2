/**
 * Bundles the program into a few JavaScript files, the same bytes each time.
 *
 * @module
 */

import { join } from "@std/path";
import { runDeno } from "./deno_child.ts";
import { BuildFailure, diskFull, saysDiskFull } from "./failure.ts";
import { READABLE_ENVIRONMENT } from "./permissions.ts";
import { makeScratch } from "./scratch.ts";
import { settleSourceMaps } from "./source_maps.ts";

/** What {@link bundle} works with. */
export interface BundleRequest {
  /** The Deno executable of the pinned version. */
  readonly deno: string;
  /** The project's folder, whose `deno.json` maps the imports. */
  readonly root: string;
  /** The program's first module. */
  readonly entry: string;
  /** The folder that the bundle is put in. */
  readonly folder: string;
  /** The version and the commit, for `src/build_info.ts`. */
  readonly stamp: BuildStamp;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/** What the build tells the program about itself. */
export interface BuildStamp {
  /** The version in `deno.json`. */
  readonly version: string;
  /** The commit that was checked out, `null` when that is unknown. */
  readonly commit: string | null;
}

/** The program's first module in the folder of the bundle. */
export const BUNDLE_ENTRY = "main.js";

/**
 * Writes the bundle as the folder `bundle` and returns the path of its first module.
 *
 * What a hook at a turn's end has to load and parse is the largest part of what it costs. So the first
 * module only loads others, one holds the default guard and nothing else, each other hook mode is one file, and everything
 * for people is split into files that a hook never reads. A module that several of them need is in
 * each: only one of them runs in a process. The files are minified, since the comments of a plain
 * bundle name the cache folder of the machine, and function names go, since nothing shows a stack
 * trace. Source maps lie beside the files and do not get into the executable; they are made each
 * time because the names of the files depend on whether they are. The stamp is a statement in the first module, so that no source file changes. Modification
 * times are fixed because the executable stores them. Throws {@link BuildFailure}; needs read, write
 * and run permission.
 */
export async function bundle(request: BundleRequest): Promise<string> {
  await using scratch = await makeScratch(request.folder);
  const part = join(scratch.path, "bundle");
  await Deno.mkdir(part);
  const modes = await dynamicModes(join(request.root, MODES));
  const entry = join(part, GUARD);
  await runBundle(request, [
    ...modes.flatMap((name) => ["--external", `./${name}.ts`]),
    "--output",
    entry,
    request.entry,
  ]);
  const loaded = await pointAtBundles(entry, modes);
  await Deno.writeTextFile(join(part, BUNDLE_ENTRY), firstModule(request.stamp, loaded));
  const parts: string[] = [];
  for (const name of loaded.filter((mode) => HOOK_MODES.includes(mode))) {
    // What a hook needs now and then is a file of its own, named after it.
    const rare = modes.filter((mode) => mode.startsWith(`${name}_`) && !HOOK_MODES.includes(mode));
    const output = join(part, `${name}.js`);
    await runBundle(request, [
      ...rare.flatMap((mode) => ["--external", `./${mode}.ts`]),
      "--output",
      output,
      join(MODES, `${name}.ts`),
    ]);
    if (rare.length === 0) continue;
    parts.push(...rare);
    const text = (await Deno.readTextFile(output)).replaceAll(
      DYNAMIC_IMPORT,
      (found, mode: string) => rare.includes(mode) ? `import("./${mode}.js")` : found,
    );
    await Deno.writeTextFile(output, text);
  }
  const others = [...loaded.filter((mode) => !HOOK_MODES.includes(mode)), ...parts];
  if (others.length > 0) {
    const sources = others.map((name) => join(MODES, `${name}.ts`));
    await runBundle(request, ["--code-splitting", "--outdir", part, ...sources]);
  }
  await settleSourceMaps(part, request.root, {});
  for await (const { name } of Deno.readDir(part)) await Deno.utime(join(part, name), 0, 0);
  const finished = join(request.folder, "bundle");
  await removeTree(finished);
  await Deno.rename(part, finished);
  return join(finished, BUNDLE_ENTRY);
}

/** The folder of the modes, below the project's. */
const MODES = "src/modes";

/** The mode that the first module holds: it runs at every turn's end of most hosts. */
const FIRST_MODE = "stop";

/** Modules that run for hosts, each of which is one file. */
const HOOK_MODES: readonly string[] = [
  "stop_banner",
  "stop_claude",
  "stop_grok",
  "autoarm",
  "park",
  "activity",
  "record",
  "stop_hold",
];

/** The module that holds the default guard. */
const GUARD = "guard.js";

/** The hook that is called most, and the function by which it is run with nothing else loaded. */
const FREQUENT = { mode: "activity", entry: "runActivityHook" };

/**
 * The program's first module: it says what was built, and loads what was called.
 *
 * A module of this size costs less than a part of it would save: neither the guard nor the activity hook
 * is read where the other one was called.
 */
function firstModule(stamp: BuildStamp, loaded: readonly string[]): string {
  // What it may read is told to it, so that it can say whether it is what was built.
  const told = { ...stamp, environment: READABLE_ENVIRONMENT };
  const { mode, entry } = FREQUENT;
  const direct = loaded.includes(mode)
    ? `if(Deno.args[0]==="${mode}"&&await(await import("./${mode}.js")).${entry}(Deno.args.slice(1)))Deno.exit(0);\n`
    : "";
  return `globalThis.__TURNGUARD_BUILD__=${
    JSON.stringify(told)
  };\n${direct}await import("./${GUARD}");\n`;
}

const DYNAMIC_IMPORT = /import\("\.\/([a-z_]+)\.ts"\)/g;

/** Names of the modules beside the mode table that are loaded when they are called. */
async function dynamicModes(folder: string): Promise<readonly string[]> {
  const names = new Set<string>();
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".ts")) continue;
    const source = await Deno.readTextFile(join(folder, name));
    for (const [, mode] of source.matchAll(DYNAMIC_IMPORT)) if (mode !== undefined) names.add(mode);
  }
  names.delete(FIRST_MODE);
  return [...names].sort();
}

/**
 * Lets the guard load the bundles instead of the sources; returns the modes that it loads. An entry that loads none, such as one that a test brings, is a bundle of its own.
 */
async function pointAtBundles(
  entry: string,
  modes: readonly string[],
): Promise<readonly string[]> {
  const loaded = new Set<string>();
  const text = (await Deno.readTextFile(entry)).replaceAll(
    DYNAMIC_IMPORT,
    (found, name: string) => {
      if (!modes.includes(name)) return found;
      loaded.add(name);
      return `import("./${name}.js")`;
    },
  );
  await Deno.writeTextFile(entry, text);
  return [...loaded].sort();
}

async function runBundle(request: BundleRequest, args: readonly string[]): Promise<void> {
  const result = await runDeno({
    deno: request.deno,
    args: ["bundle", "--quiet", "--minify", "--sourcemap=external"]
      .concat("--lock", join(request.root, "deno.lock"), "--frozen", args),
    cwd: request.root,
    signal: request.signal,
  });
  if (result.success) return;
  if (saysDiskFull(result.output)) throw diskFull(request.folder, result.output);
  throw new BuildFailure({
    wrong: "The program could not be bundled.",
    untouched: "Nothing was built; an executable of an earlier build is as it was.",
    advice: "Correct what Deno names below (deno task check finds it too).",
    output: result.output,
  });
}

async function removeTree(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
