/** `.guard-watcher-stale-banner`: the lapse of supervision that a full banner was printed for. */

import { readCapture } from "../platform/file_text.ts";
import { ownKind } from "../platform/path_kind.ts";
import { removeQuietly, replaceFile } from "./replace_file.ts";

const NAME = ".guard-watcher-stale-banner";

/** The key of the lapse that is on record; empty when there is none. */
export function readStaleBanner(state: string): string {
  const content = readCapture(path(state));
  return content.kind === "text" ? content.text : "";
}

/**
 * Records a lapse. The caller holds the lock.
 *
 * Throws what the operating system reports, with the old record untouched.
 */
export function writeStaleBanner(state: string, key: string): void {
  replaceFile(path(state), `${key}\n`);
}

/** Takes the record away, so that the next lapse is announced in full. A directory is never ours. */
export function removeStaleBanner(state: string): void {
  const kind = ownKind(path(state));
  if (kind === "file" || kind === "link") removeQuietly(path(state));
}

/** Path of the lock under which the record is written. */
export function staleBannerLockPath(state: string): string {
  return `${path(state)}.lock`;
}

function path(state: string): string {
  return `${state}/${NAME}`;
}
