/** A turn that ended without its stop hook: nobody judged whether it may. */

/** What a harness told about such an end. */
export interface BlindEnd {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** What happened, such as `API error: overloaded`. */
  readonly because: string;
}

/** One verdict of a journal, as far as it matters here. */
export interface JournalledVerdict {
  readonly time: string;
  readonly mode: string;
  readonly session: string | null;
  readonly verdict: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** The mode whose entries tell of such ends. */
export const RECORD_MODE = "record";

/** Word that stands where a verdict does. */
export const UNJUDGED = "unjudged";

/**
 * The last end that nobody judged, as long as no turn end was judged after it.
 *
 * Every hook of a turn's end leaves an entry, so that a later one says that the session is guarded
 * again. `toMs` gives the milliseconds of an entry's time.
 */
export function lastBlindEnd(
  entries: readonly JournalledVerdict[],
  toMs: (time: string) => number,
): BlindEnd | undefined {
  const last = entries.findLast(({ mode }) => mode === RECORD_MODE || isTurnEnd(mode));
  if (last === undefined || last.mode !== RECORD_MODE || last.verdict !== UNJUDGED) {
    return undefined;
  }
  return { atMs: toMs(last.time), because: last.facts["end"] ?? "the harness did not say why" };
}

/** Seconds between a turn's end and the notice that nobody has written since, generously. */
const NOTICE_SECONDS = 150;

/**
 * Whether a notice that a session is idle follows a turn end which its stop hook has judged: then there
 * is nothing to tell.
 */
export function followsJudgedEnd(
  entries: readonly JournalledVerdict[],
  session: string | null,
  nowMs: number,
  toMs: (time: string) => number,
): boolean {
  return entries.some((entry) =>
    isTurnEnd(entry.mode) && (session === null || entry.session === session) &&
    nowMs - toMs(entry.time) <= NOTICE_SECONDS * 1000
  );
}

function isTurnEnd(mode: string): boolean {
  return /^(?:stop|autoarm|park)\b/.test(mode);
}
