/**
 * Builds the executable: bundle, find the runtime, compile.
 *
 *     deno task build [--target TRIPLE]
 *
 * The result is `dist/turnguard`, or `dist/turnguard-TRIPLE` for another
 * platform than this one. The same sources give the same bytes from any folder.
 *
 * @module
 */

import { parseArgs } from "@std/cli";
import { setColorEnabled } from "@std/fmt/colors";
import { ensureDir } from "@std/fs";
import { dirname, fromFileUrl, join, relative, resolve } from "@std/path";
import { bundle } from "./bundle.ts";
import { compile } from "./compile.ts";
import { BuildFailure, diskFull, saysDiskFull } from "./failure.ts";
import { hashFile } from "./file_hash.ts";
import { readCommit } from "./git_commit.ts";
import { findPinnedDeno } from "./pinned_deno.ts";
import { projectVersion } from "./project_version.ts";
import { findRuntime } from "./runtime.ts";
import { report } from "./status.ts";
import { findTarget, type Target, TARGET_TRIPLES } from "./targets.ts";

const ROOT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));
const CACHE = join(ROOT, ".build");
const DIST = join(ROOT, "dist");

const USAGE = `usage: deno task build [--target TRIPLE] [--entry FILE]

  --target  the platform to build for; this one when absent:
            ${TARGET_TRIPLES.join("\n            ")}
  --entry   the program's first module; main.ts when absent`;

/** What a build is asked for. */
interface BuildOptions {
  readonly target: Target;
  readonly entry: string;
}

async function build(options: BuildOptions, signal: AbortSignal): Promise<void> {
  const { target, entry } = options;
  await ensureDir(CACHE);
  const deno = await findPinnedDeno(CACHE, signal);
  const named = Deno.env.get("DENORT_BIN") || undefined;
  const runtime = await findRuntime({ target, deno, cache: CACHE, named, signal });
  report("runtime", runtime.source);

  const stamp = { version: projectVersion(ROOT), commit: readCommit(ROOT) ?? null };
  const script = await bundle({ deno, root: ROOT, entry, folder: CACHE, stamp, signal });
  report(
    "bundle",
    `${shown(dirname(script))}, ${Math.ceil(await bytesIn(dirname(script)) / 1000)} KB`,
  );

  const name = target.triple === Deno.build.target ? "turnguard" : `turnguard-${target.triple}`;
  const output = join(DIST, name);
  const bytes = await compile({ deno, bundle: script, runtime, target, output, signal });
  report("built", `${shown(output)}, ${(bytes / 1e6).toFixed(1)} MB`);
  report("sha256", await hashFile(output));
}

function readOptions(args: readonly string[]): BuildOptions {
  const unknown: string[] = [];
  const flags = parseArgs(args, {
    string: ["target", "entry", "_"],
    unknown: (arg) => {
      unknown.push(arg);
      return false;
    },
  });
  if (unknown.length > 0) throw misused(`${unknown.join(" ")} is not understood.`);

  const triple = flags.target ?? Deno.build.target;
  const target = findTarget(triple);
  if (target === undefined) throw misused(`There is no build for the target "${triple}".`);
  return { target, entry: resolve(flags.entry ?? join(ROOT, "main.ts")) };
}

function misused(wrong: string): BuildFailure {
  return new BuildFailure({
    wrong,
    untouched: "Nothing was built.",
    advice: "This is what can be asked for:",
    output: USAGE,
  });
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name } of Deno.readDir(folder)) {
    bytes += (await Deno.stat(join(folder, name))).size;
  }
  return bytes;
}

function shown(path: string): string {
  return relative(ROOT, path);
}

/**
 * An abort signal that Ctrl-C and SIGTERM trigger, so that the scopes that own
 * temporary folders end and remove them.
 */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void =>
    controller.abort(
      new BuildFailure({
        wrong: "The build was interrupted.",
        untouched: "The executable of an earlier build is as it was.",
        advice: "Start it again when you like.",
      }),
    );
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, stop);
  }
  return controller.signal;
}

function describe(error: unknown): string {
  if (error instanceof BuildFailure) return error.describe();
  if (saysDiskFull(error)) return diskFull(ROOT, error).describe();
  const detail = error instanceof Error ? error.stack ?? error.message : String(error);
  return `error: ${detail}`;
}

if (import.meta.main) {
  setColorEnabled(Deno.stdout.isTerminal() && Deno.stderr.isTerminal());
  try {
    await build(readOptions(Deno.args), interruption());
  } catch (error) {
    console.error(describe(error));
    Deno.exitCode = 1;
  }
}
