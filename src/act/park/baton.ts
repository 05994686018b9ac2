/**
 * The baton of a home's Cursor parks: whoever took it last waits, every other park leaves.
 *
 * A newer stop event always wins: it knows the session as it is now, and the older one would only wake it
 * for what the session has seen in between.
 */

import { nowMs, nowSeconds } from "../../platform/clock.ts";
import { lineOf, readText } from "../../platform/file_text.ts";
import { type HeldLock, lockWithin } from "../../state/lock.ts";
import { replaceFile } from "../../state/replace_file.ts";

/** Name of the baton in a state directory, and of the lock that guards every change by a park. */
export const BATON_NAME = ".cursor-park-owner";

/**
 * Name of the file that says which stop event the baton was taken for. A file of its own, since other
 * programs read and write the baton as one line.
 */
export const EVENT_NAME = ".turnguard-park-event";

/** How long the lock is tried for. */
export interface LockPatience {
  readonly limitMs: number;
  readonly stepMs: number;
}

/** Takes the lock under which parks and away mode change anything; `undefined` when it stays busy. */
export async function lockBaton(
  state: string,
  { limitMs, stepMs }: LockPatience,
): Promise<HeldLock | undefined> {
  const attempt = await lockWithin(`${state}/${BATON_NAME}.lock`, limitMs, { stepMs });
  return attempt.kind === "acquired" ? attempt.lock : undefined;
}

/** A stop event, as this process was told of it. */
export interface StopEvent {
  /** Hash of its payload. */
  readonly hash: string;
  /** When this process began, in milliseconds since the epoch. */
  readonly startedAtMs: number;
}

/** What taking the baton came to. */
export type BatonTaken =
  | { readonly kind: "claimed"; readonly baton: Baton; readonly before: EarlierPark | undefined }
  /** Another process took it for this very event, which was delivered twice at once. */
  | { readonly kind: "second-delivery" }
  | { readonly kind: "lock-busy" }
  | { readonly kind: "state-unwritable" };

/** The park that the baton was taken from. */
export interface EarlierPark {
  readonly pid: string;
}

/** Takes the baton of `state` for `event`. */
export async function takeBaton(
  state: string,
  event: StopEvent,
  patience: LockPatience,
): Promise<BatonTaken> {
  try {
    const lock = await lockBaton(state, patience);
    if (lock === undefined) return { kind: "lock-busy" };
    using _lock = lock;
    const text = batonText(state);
    const old = sequenceOf(text);
    if (old !== undefined && isSecondDelivery(state, old, event)) {
      return { kind: "second-delivery" };
    }
    const sequence = String(Number(old ?? "0") + 1);
    // First, because an event without its sequence says nothing, and a sequence without its event only
    // lets a second delivery pass.
    replaceFile(
      `${state}/${EVENT_NAME}`,
      `seq=${sequence} event=${event.hash} at=${nowMs()}\n`,
    );
    replaceFile(
      `${state}/${BATON_NAME}`,
      `seq=${sequence} pid=${Deno.pid} updated_at=${nowSeconds()}\n`,
    );
    const pid = / pid=([0-9]+)(?: |$)/.exec(lineOf(text, 1))?.[1];
    return {
      kind: "claimed",
      baton: new Baton(state, sequence),
      before: pid === undefined ? undefined : { pid },
    };
  } catch {
    return { kind: "state-unwritable" };
  }
}

/** A baton that this process has taken. */
export class Baton {
  readonly #state: string;
  readonly sequence: string;

  /** Made by {@link takeBaton}. */
  constructor(state: string, sequence: string) {
    this.#state = state;
    this.sequence = sequence;
  }

  /** Whether nobody has taken it since. */
  isStillOurs(): boolean {
    return sequenceOf(batonText(this.#state)) === this.sequence;
  }
}

/**
 * Whether the park with sequence `current` took the baton for the same event while this process was
 * starting. Events that follow each other may look the same, but the later one starts after that.
 */
function isSecondDelivery(state: string, current: string, event: StopEvent): boolean {
  const content = readText(`${state}/${EVENT_NAME}`);
  if (content.kind !== "text") return false;
  const [, sequence, hash, at] = /^seq=([0-9]+) event=([0-9a-f]+) at=([0-9]+)\n/
    .exec(content.text) ?? [];
  return sequence === current && hash === event.hash && Number(at) >= event.startedAtMs;
}

function batonText(state: string): string {
  const content = readText(`${state}/${BATON_NAME}`);
  return content.kind === "text" ? content.text : "";
}

/** The digits of `seq=` with the blank after them, as every reader of the baton finds them. */
function sequenceOf(text: string): string | undefined {
  return /^seq=([0-9]{1,15}) /.exec(lineOf(text, 1))?.[1];
}
