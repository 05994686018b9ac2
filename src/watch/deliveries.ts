/** `.watch-deliveries.log`: which watcher told what, for whoever followed it and missed it. */

import type { ProcessIdentity } from "../platform/process_identity.ts";
import { lockWithin } from "../state/lock.ts";
import { appendLogLine } from "../state/log_file.ts";
import { numberSetting } from "../decide/number.ts";
import type { Environment } from "../platform/environment.ts";
import { readText } from "../platform/file_text.ts";

const LOG_NAME = ".watch-deliveries.log";

/** Milliseconds that an append or a look-up waits for the log's lock, and between two tries. */
const LOCK_LIMIT_MS = 400;
const LOCK_STEP_MS = 20;

/** Characters of a reason that are kept. */
const REASON_LIMIT = 4_096;

/** A watcher, as the log names it. */
export interface Deliverer {
  readonly pid: number;
  readonly identity: ProcessIdentity;
}

/** Records a delivery; silently given up when the lock stays busy. */
export async function recordDelivery(
  state: string,
  environment: Environment,
  by: Deliverer,
  reason: string,
): Promise<void> {
  const attempt = await lockWithin(`${state}/${LOG_NAME}.lock`, LOCK_LIMIT_MS, {
    stepMs: LOCK_STEP_MS,
  });
  if (attempt.kind === "refused") return;
  using _held = attempt.lock;
  const setting = (name: string, fallback: number) =>
    numberSetting(environment.get(name), "positive-digits", fallback).value;
  const row = [by.pid, oneField(by.identity), oneField(reason).slice(0, REASON_LIMIT)].join("\t");
  appendLogLine(`${state}/${LOG_NAME}`, row, {
    maximumBytes: setting("FM_WATCH_DELIVERY_MAX_BYTES", 65_536),
    keptLines: setting("FM_WATCH_DELIVERY_KEEP_LINES", 64),
  });
}

/** The last reason that `by` delivered; pid and identity both have to match. */
export async function lastDelivery(state: string, by: Deliverer): Promise<string | undefined> {
  const attempt = await lockWithin(`${state}/${LOG_NAME}.lock`, LOCK_LIMIT_MS, {
    stepMs: LOCK_STEP_MS,
  });
  if (attempt.kind === "refused") return undefined;
  using _held = attempt.lock;
  const content = readText(`${state}/${LOG_NAME}`);
  if (content.kind !== "text") return undefined;
  const start = `${by.pid}\t${oneField(by.identity)}\t`;
  return content.text.split("\n").findLast((line) => line.startsWith(start))?.slice(start.length);
}

function oneField(text: string): string {
  return text.replaceAll(/[\t\r\n]/g, " ");
}
