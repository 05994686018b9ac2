/** Whether this executable reads what the scripts left in the state directory. */

import type { Home } from "../../observe/home.ts";
import { observeAwayMode } from "../../observe/daemon.ts";
import { WATCH_LOCK_NAME } from "../../observe/watcher.ts";
import type { Environment } from "../../platform/environment.ts";
import { readText } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { AWAY_FLAG_NAME } from "../../state/away_flag.ts";
import { parseTrustRecord, TRUST_SUFFIX } from "../../state/check_trust.ts";
import { LEDGER_NAME, parseLedger } from "../../state/claude_ledger.ts";
import { queuePaths, readQueue } from "../../state/wake_queue.ts";

/** What was found of one file. */
export interface FileVerdict {
  readonly name: string;
  readonly kind: "readable" | "unusable";
  readonly saw: string;
}

/** Every file of the suite that is there and has a form of its own. */
export function judgeStateFiles(home: Home, environment: Environment): readonly FileVerdict[] {
  return [
    ...watchLock(home.state),
    ...wakeQueue(home.state, environment),
    ...textFile(home.state, LEDGER_NAME, (text) => parseLedger(text) !== undefined),
    ...awayFlag(home.state),
    ...trustRecords(home.state),
  ];
}

function watchLock(state: string): readonly FileVerdict[] {
  const path = `${state}/${WATCH_LOCK_NAME}`;
  const kind = ownKind(path);
  if (kind === "absent") return [];
  if (kind !== "directory" && kind !== "link") {
    return [verdict(WATCH_LOCK_NAME, "unusable", "neither a directory nor a link")];
  }
  const pid = readText(`${path}/pid`);
  return pid.kind === "text" && /^[0-9]+\s*$/.test(pid.text)
    ? [verdict(WATCH_LOCK_NAME, "readable", `held by pid ${pid.text.trim()}`)]
    : [verdict(WATCH_LOCK_NAME, "unusable", "no pid in it: it counts as stale")];
}

function wakeQueue(state: string, environment: Environment): readonly FileVerdict[] {
  const { queue } = queuePaths(state, environment);
  if (ownKind(queue) === "absent") return [];
  const reading = readQueue(queue);
  if (reading.kind !== "read") return [verdict(".wake-queue", "unusable", "cannot be read")];
  const unusable = reading.rows.filter((row) => !row.usable).length;
  const rows = reading.rows.length - unusable;
  return [
    verdict(
      ".wake-queue",
      unusable === 0 ? "readable" : "unusable",
      `${rows} queued${unusable === 0 ? "" : `, ${unusable} lines that are no rows, left alone`}`,
    ),
  ];
}

function awayFlag(state: string): readonly FileVerdict[] {
  if (ownKind(`${state}/${AWAY_FLAG_NAME}`) === "absent") return [];
  return [verdict(AWAY_FLAG_NAME, "readable", `${observeAwayMode(state)} mode`)];
}

function trustRecords(state: string): readonly FileVerdict[] {
  const names: string[] = [];
  try {
    for (const { name } of Deno.readDirSync(state)) {
      if (name.endsWith(TRUST_SUFFIX)) names.push(name);
    }
  } catch {
    return [];
  }
  return names.sort().flatMap((name) =>
    textFile(state, name, (text) => parseTrustRecord(text) !== undefined)
  );
}

function textFile(
  state: string,
  name: string,
  isReadable: (text: string) => boolean,
): readonly FileVerdict[] {
  const content = readText(`${state}/${name}`);
  if (content.kind === "absent") return [];
  return content.kind === "text" && isReadable(content.text)
    ? [verdict(name, "readable", "in the expected form")]
    : [verdict(name, "unusable", "not in the expected form: it counts as absent")];
}

function verdict(name: string, kind: FileVerdict["kind"], saw: string): FileVerdict {
  return { name, kind, saw };
}
