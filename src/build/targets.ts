/**
 * What can be built, and the pinned files it is built from.
 *
 * A pin is a size and a sha256. They decide, not the place a file came from: a
 * runtime from any source is used when it matches, and from none when not.
 *
 * @module
 */

/** The Deno version whose bundler, compiler and runtime make the executable. */
export const DENO_VERSION = "2.7.11";

/** The command that builds with that version wherever Node and npm are. */
export const PINNED_BUILD_COMMAND = `npx --yes deno@${DENO_VERSION} task build`;

/** The largest executable that passes, in bytes (98.5 MB). */
export const MAX_EXECUTABLE_BYTES = 98_500_000;

/** The exact bytes that a file must have. */
export interface Pin {
  /** Its length in bytes. */
  readonly bytes: number;
  /** Its sha256 in lower-case hexadecimal. */
  readonly sha256: string;
}

/** A file inside an npm package of a fixed version. */
export interface NpmFile {
  /** The package's name with its scope. */
  readonly name: string;
  /** The exact version. */
  readonly version: string;
  /** The path inside the package. */
  readonly path: string;
}

/** A pinned compile runtime, and an executable it can be cut out of. */
export interface PinnedRuntime extends Pin {
  /** A public executable made by the same Deno version for the same target. */
  readonly within: NpmFile;
}

/** One platform that an executable can be built for. */
export interface Target {
  /** The name that `--target` takes. */
  readonly triple: string;
  /** The pinned runtime; without one the build relies on Deno's own download. */
  readonly runtime?: PinnedRuntime;
  /** The pinned Deno, for hosts whose own Deno has another version. */
  readonly deno?: Pin & { readonly at: NpmFile };
}

const TARGETS: readonly Target[] = [
  {
    triple: "x86_64-unknown-linux-gnu",
    runtime: {
      bytes: 97_076_048,
      sha256: "f12d5d3886d5ea138304fb8d67d7396cfbedf53656676132152cb89f3fa4d8e6",
      within: { name: "@stdy/cli-linux-x64", version: "0.22.2", path: "bin/steady" },
    },
    deno: {
      bytes: 124_300_224,
      sha256: "e518fbc96877fbc2b37820ec54a02e473166cb25a5d4d627ffde37360fd7d210",
      at: { name: "@deno/linux-x64-glibc", version: DENO_VERSION, path: "deno" },
    },
  },
  {
    triple: "aarch64-unknown-linux-gnu",
    runtime: {
      bytes: 90_596_104,
      sha256: "9c888d915647ff971a497acd39ee45ea63da5f19d12d4363124942c257c055ef",
      within: { name: "@stdy/cli-linux-arm64", version: "0.22.2", path: "bin/steady" },
    },
  },
  {
    triple: "x86_64-apple-darwin",
    runtime: {
      bytes: 87_962_184,
      sha256: "56688cbe3a36cc79bb94368570385884ccd82ee8c54a127050df792923562cc2",
      within: { name: "@stdy/cli-darwin-x64", version: "0.22.2", path: "bin/steady" },
    },
  },
  {
    triple: "aarch64-apple-darwin",
    runtime: {
      bytes: 79_621_600,
      sha256: "f1cc17d82c0f6d511bc835538dc687aef425560e61636fc0e3009f2c15dfdcdc",
      within: { name: "@stdy/cli-darwin-arm64", version: "0.22.2", path: "bin/steady" },
    },
  },
];

/** The names of all targets, the pinned ones first. */
export const TARGET_TRIPLES: readonly string[] = TARGETS.map((target) => target.triple);

/** The target of a name, or `undefined` when nothing can be built for it. */
export function findTarget(triple: string): Target | undefined {
  return TARGETS.find((target) => target.triple === triple);
}
