/** The markers that Pi's and omp's extensions leave when a session has loaded them. */

import { lineOf, readText } from "../platform/file_text.ts";

/** Name of each marker in a state directory. */
export const EXTENSION_MARKERS = {
  piWatch: ".pi-watch-extension-loaded",
  piTurnEnd: ".pi-turnend-extension-loaded",
  ompWatch: ".omp-watch-extension-loaded",
  ompTurnEnd: ".omp-turnend-extension-loaded",
} as const;

/** The lines of a marker as they are; a missing one is empty. */
export interface ExtensionMarker {
  /** `sha256:` and the digest of the extension that was loaded, in hex. */
  readonly digest: string;
  /** Pid of the session that loaded it. */
  readonly session: string;
  /** `generation=<n> phase=<word>`, which only Pi's watch extension writes. */
  readonly generation: string;
}

/** The marker at `path`; only a regular file (links followed) is one. */
export function readExtensionMarker(path: string): ExtensionMarker | undefined {
  const content = readText(path);
  if (content.kind !== "text") return undefined;
  const { text } = content;
  return { digest: lineOf(text, 1), session: lineOf(text, 2), generation: lineOf(text, 3) };
}
