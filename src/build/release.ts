/**
 * Builds everything that a release consists of, into `dist`.
 *
 *     deno task release
 *
 * One archive a platform, the bundle with its source maps, the install script, a bill of materials,
 * and `SHA256SUMS` over all of them. A platform whose runtime cannot be had is named, and the rest
 * is built. Two runs of one commit give the same sums.
 *
 * @module
 */

import { setColorEnabled } from "@std/fmt/colors";
import { ensureDir } from "@std/fs";
import { dirname, fromFileUrl, join } from "@std/path";
import { type ArchiveFile, packArchive } from "./archive.ts";
import { bundle } from "./bundle.ts";
import { compile } from "./compile.ts";
import { BuildFailure } from "./failure.ts";
import { hashBytes } from "./file_hash.ts";
import { describeFailure, interruption } from "./interruption.ts";
import { checkSignature } from "./macho_signature.ts";
import { billOfMaterials } from "./materials.ts";
import { findRuntime, type Runtime } from "./runtime.ts";
import { report, withClock } from "./status.ts";
import { findTarget, type Target, TARGET_TRIPLES } from "./targets.ts";
import { executableName, namedRuntime, openWorkshop, type Workshop } from "./workshop.ts";

const ROOT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));
const DIST = join(ROOT, "dist");

/** Files of the project that every archive holds. */
const DOCUMENTS: readonly string[] = ["LICENSE", "README.md", "CHANGELOG.md"];

const INSTALL_SCRIPT = "src/build/install.sh";

/** A file of the release. */
interface Artifact {
  readonly name: string;
  readonly data: Uint8Array;
  readonly executable?: true;
}

async function release(signal: AbortSignal): Promise<void> {
  const workshop = await openWorkshop(ROOT, signal);
  const script = await bundle({
    ...workshop,
    entry: join(ROOT, "main.ts"),
    folder: workshop.cache,
  });
  const targets = await buildable(workshop);
  const executables = new Map<Target, Uint8Array>();
  for (const { target, runtime } of targets) {
    executables.set(target, await executable(workshop, script, target, runtime));
  }
  const pages = await manualAndCompletions();
  const { version } = workshop.stamp;
  const artifacts: Artifact[] = [];
  for (const [target, data] of executables) {
    const name = `turnguard-${version}-${target.triple}`;
    const files: ArchiveFile[] = [
      { path: `${name}/turnguard`, data, executable: true },
      ...documents(name),
      ...pages.map((page) => ({ ...page, path: `${name}/${page.path}` })),
    ];
    artifacts.push(await packed(`${name}.tar.gz`, files));
  }
  artifacts.push(await bundleArchive(`turnguard-${version}-bundle`, dirname(script)));
  artifacts.push({
    name: "install.sh",
    data: Deno.readFileSync(join(ROOT, INSTALL_SCRIPT)),
    executable: true,
  });
  artifacts.push({
    name: `turnguard-${version}.cdx.json`,
    data: new TextEncoder().encode(billOfMaterials({
      stamp: workshop.stamp,
      targets: [...executables.keys()],
      packages: packagesIn(dirname(script)),
      lock: Deno.readTextFileSync(join(ROOT, "deno.lock")),
    })),
  });
  await publish(artifacts);
}

/** The targets that can be built here, each with its runtime; the others are named. */
async function buildable(
  workshop: Workshop,
): Promise<readonly { readonly target: Target; readonly runtime: Runtime }[]> {
  const found: { target: Target; runtime: Runtime }[] = [];
  for (const triple of TARGET_TRIPLES) {
    const target = findTarget(triple);
    if (target === undefined) continue;
    try {
      const named = triple === Deno.build.target ? namedRuntime() : undefined;
      const runtime = await findRuntime({ ...workshop, target, named });
      report("runtime", `${triple}: ${runtime.source}`);
      found.push({ target, runtime });
    } catch (error) {
      if (!(error instanceof BuildFailure) || workshop.signal.aborted) throw error;
      report("missing", `${triple}: ${error.message}`);
    }
  }
  if (found.some(({ target }) => target.triple === Deno.build.target)) return found;
  throw new BuildFailure({
    wrong: "The executable for this platform could not be built, and it writes the manual.",
    untouched: "The files of an earlier release are as they were.",
    advice: "Build the release on Linux or macOS, where the runtime can be had.",
  });
}

async function executable(
  workshop: Workshop,
  script: string,
  target: Target,
  runtime: Runtime,
): Promise<Uint8Array> {
  const output = join(DIST, executableName(target));
  const bytes = await compile({ ...workshop, bundle: script, runtime, target, output });
  const data = Deno.readFileSync(output);
  report("built", `${target.triple}, ${(bytes / 1e6).toFixed(1)} MB${signatureOf(target, data)}`);
  return data;
}

/** Apple's processors start nothing that is unsigned; Intel's do. */
function signatureOf(target: Target, data: Uint8Array): string {
  if (!target.triple.endsWith("apple-darwin")) return "";
  const check = checkSignature(data);
  if (check.kind === "valid") return `, signature valid over ${check.pages} pages`;
  if (check.kind === "unsigned" && target.triple.startsWith("x86_64")) return ", unsigned";
  throw new BuildFailure({
    wrong: `The executable for ${target.triple} would not start: its signature ` +
      `${check.kind === "broken" ? check.because : "is missing"}.`,
    untouched: "The files of an earlier release are as they were.",
    advice: "Remove the folder .build, then try again.",
  });
}

/** The pages and scripts that the executable for this platform prints. */
async function manualAndCompletions(): Promise<readonly ArchiveFile[]> {
  const completions = await Promise.all([
    printed(["completions", "bash"], "completions/turnguard.bash"),
    printed(["completions", "zsh"], "completions/_turnguard"),
    printed(["completions", "fish"], "completions/turnguard.fish"),
  ]);
  const page = await printed(["man"], "man/man1/turnguard.1");
  const modes = [...String(page.data).matchAll(/turnguard\\-((?:[a-z]|\\-)+)\(1\)/g)]
    .map(([, name]) => (name ?? "").replaceAll("\\-", "-"));
  const pages = await Promise.all(
    modes.map((mode) => printed(["man", mode], `man/man1/turnguard-${mode}.1`)),
  );
  return [...completions, page, ...pages];
}

async function printed(args: readonly string[], path: string): Promise<ArchiveFile> {
  const { success, stdout, stderr } = await new Deno.Command(join(DIST, "turnguard"), {
    args: [...args],
    clearEnv: true,
  }).output();
  if (success) return { path, data: new TextDecoder().decode(stdout) };
  throw new BuildFailure({
    wrong: `turnguard ${args.join(" ")} failed.`,
    untouched: "The files of an earlier release are as they were.",
    advice: "See what it says below.",
    output: new TextDecoder().decode(stderr),
  });
}

function documents(folder: string): readonly ArchiveFile[] {
  return DOCUMENTS.map((name) => ({
    path: `${folder}/${name}`,
    data: Deno.readFileSync(join(ROOT, name)),
  }));
}

async function bundleArchive(name: string, folder: string): Promise<Artifact> {
  const names = [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
  const files = names.map((each) => ({
    path: `${name}/${each}`,
    data: Deno.readFileSync(join(folder, each)),
  }));
  return await packed(`${name}.tar.gz`, [...documents(name), ...files]);
}

async function packed(name: string, files: readonly ArchiveFile[]): Promise<Artifact> {
  return await withClock(
    `Packing ${name}`,
    () => Promise.resolve({ name, data: packArchive(files) }),
  );
}

/** Packages whose code is in the bundle, by what the source maps name. */
function packagesIn(folder: string): readonly string[] {
  const found = new Set<string>();
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".map")) continue;
    const text = Deno.readTextFileSync(join(folder, name));
    for (const [, scope = "", each, version] of text.matchAll(PACKAGE_SOURCE)) {
      found.add(`${scope}${each}@${version}`);
    }
  }
  return [...found].sort();
}

const PACKAGE_SOURCE = /"npm:\/(@[^/"]+\/)?([^/"]+)\/([^/"]+)\//g;

/** Writes the artifacts and their sums, and takes out those of another version. */
async function publish(artifacts: readonly Artifact[]): Promise<void> {
  await ensureDir(DIST);
  for (const { name } of Deno.readDirSync(DIST)) {
    if (/^turnguard-\d.*\.(tar\.gz|cdx\.json)$/.test(name)) Deno.removeSync(join(DIST, name));
  }
  const sorted = artifacts.toSorted((one, other) => one.name < other.name ? -1 : 1);
  for (const { name, data, executable } of sorted) {
    Deno.writeFileSync(join(DIST, name), data);
    Deno.chmodSync(join(DIST, name), executable === true ? 0o755 : 0o644);
    report("wrote", `dist/${name}, ${(data.length / 1e6).toFixed(1)} MB`);
  }
  const sums = sorted.map(({ name, data }) => `${hashBytes(data)}  ${name}\n`).join("");
  Deno.writeTextFileSync(join(DIST, "SHA256SUMS"), sums);
  report("wrote", "dist/SHA256SUMS");
}

if (import.meta.main) {
  setColorEnabled(Deno.stdout.isTerminal() && Deno.stderr.isTerminal());
  try {
    await release(interruption());
  } catch (error) {
    console.error(describeFailure(error, ROOT));
    Deno.exitCode = 1;
  }
}
