/**
 * A harness's real CLI from npm, kept in `TURNGUARD_LIVE_CACHE` or else in a folder that goes away.
 *
 * @module
 */

import { join } from "@std/path";
import { isFile } from "../support/files.ts";

/** Where a CLI is, or why it cannot be had. */
export type NpmCli =
  & AsyncDisposable
  & (
    | { readonly kind: "ready"; readonly path: string }
    | { readonly kind: "missing"; readonly because: string }
  );

/** Milliseconds for an installation; some CLIs are hundreds of megabytes. */
const INSTALL_LIMIT_MS = 300_000;

/**
 * Finds the command `command` of the npm package `name`, installed at `version` when the cache does
 * not have it. Bind it with `await using`: what was not installed into a cache goes again.
 */
export async function npmCli(name: string, version: string, command: string): Promise<NpmCli> {
  const cache = Deno.env.get("TURNGUARD_LIVE_CACHE") || undefined;
  const folder = cache ?? await Deno.makeTempDir({ prefix: "turnguard-live-" });
  const dispose = async (): Promise<void> => {
    if (cache === undefined) await Deno.remove(folder, { recursive: true });
  };
  const path = join(folder, "node_modules", ".bin", command);
  const because = isFile(path) ? undefined : await whyNotInstalled(folder, `${name}@${version}`);
  if (because !== undefined) return { kind: "missing", because, [Symbol.asyncDispose]: dispose };
  return { kind: "ready", path, [Symbol.asyncDispose]: dispose };
}

async function whyNotInstalled(folder: string, wanted: string): Promise<string | undefined> {
  try {
    await Deno.mkdir(folder, { recursive: true });
    const { success, stderr } = await new Deno.Command("npm", {
      args: ["install", "--no-audit", "--no-fund", "--prefix", folder, wanted],
      stdin: "null",
      signal: AbortSignal.timeout(INSTALL_LIMIT_MS),
    }).output();
    if (success) return undefined;
    const [reason = ""] = new TextDecoder().decode(stderr).trim().split("\n");
    return `npm could not install ${wanted}: ${reason}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "npm is not installed";
    throw error;
  }
}
