/** Troubles with a source that are told once and not at every look. */

import { readCapture } from "../../platform/file_text.ts";
import type { SourceId } from "../../state/procevent/source.ts";
import { randomName, removeQuietly, replaceFile } from "../../state/replace_file.ts";
import { queueOnce } from "./publish.ts";
import type { SourceSetup } from "./setup.ts";

/** What can be wrong with a source that nobody collects. */
export type Trouble = "launch-failed" | "stranded";

const IN_WORDS: Readonly<Record<Trouble, string>> = {
  "launch-failed": "source failed to start",
  "stranded": "source stranded",
};

function notePath(setup: SourceSetup, id: SourceId, trouble: Trouble): string {
  return `${setup.folder}/.${id}.${trouble}`;
}

/**
 * Queues a row about a trouble, once for each episode.
 *
 * A trouble that comes back after it was closed is a new one, so the key of a failed launch carries a
 * word of its own. The note is written after the row: a row that failed is tried again.
 */
export async function reportTrouble(
  setup: SourceSetup,
  id: SourceId,
  trouble: Trouble,
  episode: string,
): Promise<void> {
  const path = notePath(setup, id, trouble);
  const noted = readCapture(path);
  if (noted.kind === "text" && noted.text === episode) return;
  const suffix = trouble === "launch-failed" ? `${episode}-${randomName()}` : episode;
  await queueOnce(setup, {
    kind: "check",
    key: `procevent:${id}:${trouble}:${suffix}`,
    payload: `check: procevent ${IN_WORDS[trouble]}: ${id}`,
  });
  replaceFile(path, `${episode}\n`, { mode: 0o600 });
}

/** Ends the episodes of a source that is in order. */
export function closeTroubles(setup: SourceSetup, id: SourceId): void {
  removeQuietly(notePath(setup, id, "launch-failed"));
  removeQuietly(notePath(setup, id, "stranded"));
}
