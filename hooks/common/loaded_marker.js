// The marker that an extension leaves when a session has loaded it.

import process from "node:process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  ancestry,
  isForeignSession,
  realPath,
  sessionLine,
  stateOf,
  writeQuietly,
} from "./turnguard.js";

/** The path of a module, where the host tells it. */
export function pathOf(url, fallback) {
  try {
    return fileURLToPath(url);
  } catch {
    return fallback;
  }
}

/** The project that an extension file belongs to: the folder above `.pi` or `.omp`. */
export function projectOf(file) {
  const root = dirname(dirname(dirname(file)));
  const isInside = /[/\\]\.(?:pi|omp)[/\\]extensions$/.test(dirname(file));
  return isInside ? realPath(root) : realPath(process.cwd());
}

/** The digest of an extension as it is on disk; it is taken when it is loaded. */
export function digestOf(file) {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return undefined;
  }
}

/**
 * Writes the marker `name` of Pi: by its own pid, unless another live process holds the session.
 */
export function markForPi(root, name, digest, third) {
  if (digest === undefined || isForeignSession(root, 8)) return false;
  const lines = [`sha256:${digest}`, String(process.pid), ...(third === undefined ? [] : [third])];
  return writeQuietly(join(stateOf(root), name), `${lines.join("\n")}\n`);
}

/** Writes the marker `name` of omp: by the pid in the session lock, when that is this session's. */
export function markForOmp(root, name, digest) {
  const line = sessionLine(root);
  if (digest === undefined || !ancestry(16).map(String).includes(line)) return false;
  return writeQuietly(join(stateOf(root), name), `sha256:${digest}\n${line}\n`);
}
