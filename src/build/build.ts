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
import { dirname, fromFileUrl, join, relative, resolve } from "@std/path";
import { bundle } from "./bundle.ts";
import { compile } from "./compile.ts";
import { BuildFailure } from "./failure.ts";
import { hashFile } from "./file_hash.ts";
import { describeFailure, interruption } from "./interruption.ts";
import { findRuntime } from "./runtime.ts";
import { report } from "./status.ts";
import { findTarget, type Target, TARGET_TRIPLES } from "./targets.ts";
import { executableName, namedRuntime, openWorkshop } from "./workshop.ts";

const ROOT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));

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
  const workshop = await openWorkshop(ROOT, signal);
  const runtime = await findRuntime({ ...workshop, target, named: namedRuntime() });
  report("runtime", runtime.source);
  const script = await bundle({ ...workshop, entry, folder: workshop.cache });
  report(
    "bundle",
    `${shown(dirname(script))}, ${Math.ceil(await bytesIn(dirname(script)) / 1000)} KB`,
  );
  const output = join(ROOT, "dist", executableName(target));
  const bytes = await compile({ ...workshop, bundle: script, runtime, target, output });
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
    if (name.endsWith(".js")) bytes += (await Deno.stat(join(folder, name))).size;
  }
  return bytes;
}

function shown(path: string): string {
  return relative(ROOT, path);
}

if (import.meta.main) {
  setColorEnabled(Deno.stdout.isTerminal() && Deno.stderr.isTerminal());
  try {
    await build(readOptions(Deno.args), interruption());
  } catch (error) {
    console.error(describeFailure(error, ROOT));
    Deno.exitCode = 1;
  }
}
