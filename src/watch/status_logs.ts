/** The status logs of a home as a heartbeat reads them: what no heartbeat has surfaced yet. */

import { readText } from "../platform/file_text.ts";
import { readSignalFile, type SignalFile } from "../state/signal_marker.ts";
import { replaceFile } from "../state/replace_file.ts";

/** One status log. */
export interface StatusLog {
  readonly file: SignalFile;
  /** The part that no heartbeat has surfaced; `undefined` when it cannot be read. */
  readonly unseen: string | undefined;
  /** Records that all of it was surfaced, or judged to need nothing. Silent when it cannot. */
  readonly mark: () => void;
}

/** The status logs of a state directory, by name. */
export function statusLogs(state: string): readonly StatusLog[] {
  return [...Deno.readDirSync(state)].map((entry) => entry.name)
    .filter((name) => !name.startsWith(".") && name.endsWith(".status")).sort()
    .map((name) => readSignalFile(state, name))
    .filter((file) => file !== undefined)
    .map((file) => statusLog(state, file));
}

function statusLog(state: string, file: SignalFile): StatusLog {
  const task = file.name.slice(0, -".status".length).replaceAll(/[:/.]/g, "_");
  const marker = `${state}/.hb-surfaced-${task}`;
  return {
    file,
    unseen: unseenPart(marker, file),
    mark: () => markSurfaced(marker, file),
  };
}

/** A log that is a link, or that was unreadable before in this very state, has nothing new. */
function unseenPart(marker: string, file: SignalFile): string | undefined {
  const recorded = readText(marker);
  const [version, reported, position] = recorded.kind === "text" ? recorded.text.split("\t") : [];
  const known = version === "v2" ? reported : undefined;
  const content = file.isLink ? undefined : readText(file.path);
  if (content?.kind !== "text") return known === file.signature ? "" : undefined;
  const [offset, identity] = (position ?? "").split("@");
  const start = identity === file.fileIdentity && Number(offset) <= file.size ? Number(offset) : 0;
  return new TextDecoder().decode(new TextEncoder().encode(content.text).subarray(start));
}

function markSurfaced(marker: string, file: SignalFile): void {
  try {
    replaceFile(marker, `v2\t${file.signature}\t${file.size}@${file.fileIdentity}`);
  } catch {
    // The next heartbeat surfaces it again.
  }
}
