/** The recovery marker's transition table: what each event makes of each marker. */

import type { RecoveryMarker, RecoveryReading } from "../state/recovery_marker.ts";

type Status = RecoveryMarker["status"];
type Kind = RecoveryMarker["kind"];

/** What may stand at the marker's path when an event comes. */
export type Standing = Exclude<RecoveryReading["kind"], "valid"> | `${Status}:${Kind}`;

/** What may happen to a stretch of downtime. */
export type MarkerEvent =
  /** A watcher goes, or a dead one's lock is taken. */
  | "close"
  /** A wake is about to be queued. */
  | "append"
  /** A session was shown what is queued. */
  | "begin"
  /** A session has handled what it was shown. */
  | "acknowledge"
  /** A watcher starts that continues nobody's cycle, and wakes are queued. */
  | "reopen";

/** A marker to be written; a `new` generation opens another stretch of downtime. */
interface Write {
  readonly kind: "write";
  readonly status: Status;
  readonly about: Kind;
  readonly generation: "same" | "new";
}

type Step =
  | Write
  | { readonly kind: "unchanged" }
  /** As `unchanged` for the one that names this very generation, else `refused`. */
  | { readonly kind: "unchanged-if-named" }
  /** The event cannot happen to what is there. */
  | { readonly kind: "refused" }
  /** The event is about a stretch of downtime that is not the current one. */
  | { readonly kind: "other-generation" };

/** What an event comes to. */
export type Transition =
  | {
    readonly kind: "write";
    /** Without a generation, a new one is to be made. */
    readonly marker: Omit<RecoveryMarker, "generation"> & {
      readonly generation: string | undefined;
    };
  }
  | { readonly kind: "unchanged" | "refused" | "other-generation" };

const KEEP: Step = { kind: "unchanged" };
const NAMED: Step = { kind: "unchanged-if-named" };
const REFUSE: Step = { kind: "refused" };
const OTHER: Step = { kind: "other-generation" };
const REOPENED: Step = write("pending", "downtime", "new");
const DOWN_AGAIN: Step = write("pending", "downtime", "same");
const PENDING_HANDLING: Step = write("pending", "handling", "same");
const ANNOUNCED_HANDLING: Step = write("announced", "handling", "same");
const ACKED_DOWNTIME: Step = write("acked", "downtime", "same");
const ACKED_HANDLING: Step = write("acked", "handling", "same");

function write(status: Status, about: Kind, generation: "same" | "new"): Write {
  return { kind: "write", status, about, generation };
}

/**
 * The table.
 *
 * A row that is queued after an announcement opens a new stretch, because the announcement has told
 * nobody about it; a watcher that merely closes has nothing new to tell.
 */
const TABLE: Readonly<Record<MarkerEvent, Readonly<Record<Standing, Step>>>> = {
  close: {
    "none": REOPENED,
    "invalid": REOPENED,
    "directory": REFUSE,
    "pending:downtime": KEEP,
    "pending:handling": DOWN_AGAIN,
    "announced:downtime": KEEP,
    "announced:handling": DOWN_AGAIN,
    "acked:downtime": REOPENED,
    "acked:handling": REOPENED,
  },
  append: {
    "none": REOPENED,
    "invalid": REOPENED,
    "directory": REFUSE,
    "pending:downtime": KEEP,
    "pending:handling": DOWN_AGAIN,
    "announced:downtime": REOPENED,
    "announced:handling": DOWN_AGAIN,
    "acked:downtime": REOPENED,
    "acked:handling": REOPENED,
  },
  begin: {
    "none": REFUSE,
    "invalid": REFUSE,
    "directory": REFUSE,
    "pending:downtime": PENDING_HANDLING,
    "pending:handling": KEEP,
    "announced:downtime": ANNOUNCED_HANDLING,
    "announced:handling": KEEP,
    "acked:downtime": NAMED,
    "acked:handling": NAMED,
  },
  acknowledge: {
    "none": OTHER,
    "invalid": OTHER,
    "directory": OTHER,
    "pending:downtime": ACKED_DOWNTIME,
    "pending:handling": ACKED_HANDLING,
    "announced:downtime": ACKED_DOWNTIME,
    "announced:handling": ACKED_HANDLING,
    "acked:downtime": KEEP,
    "acked:handling": KEEP,
  },
  reopen: {
    "none": KEEP,
    "invalid": KEEP,
    "directory": KEEP,
    "pending:downtime": KEEP,
    "pending:handling": KEEP,
    "announced:downtime": REOPENED,
    "announced:handling": REOPENED,
    "acked:downtime": KEEP,
    "acked:handling": KEEP,
  },
};

/** What `event` makes of the marker that was found; `named` is the generation the caller speaks of. */
export function nextMarker(
  found: RecoveryReading,
  event: MarkerEvent,
  named?: string,
): Transition {
  const current = found.kind === "valid" ? found.marker.generation : undefined;
  if (named !== undefined && current !== undefined && named !== current) {
    return { kind: "other-generation" };
  }
  const step = TABLE[event][standingOf(found)];
  switch (step.kind) {
    case "write":
      return {
        kind: "write",
        marker: {
          status: step.status,
          kind: step.about,
          generation: step.generation === "same" ? current : undefined,
        },
      };
    case "unchanged-if-named":
      return { kind: named === undefined ? "refused" : "unchanged" };
    default:
      return { kind: step.kind };
  }
}

/** What a watcher that arms is told. */
export type ArmAnswer =
  /** Nothing is open. */
  | { readonly kind: "none" }
  /** Somebody was told already, or is handling it. */
  | { readonly kind: "wait" }
  /** It has to be announced, by the marker `announced:downtime`, before the session is told. */
  | {
    readonly kind: "recover";
    /** Generation to keep; without one, a new one is to be made. */
    readonly generation: string | undefined;
    /** Whether what is there has to be kept as evidence somewhere else. */
    readonly setAside: boolean;
  };

/**
 * What an arming watcher makes of the marker.
 *
 * Wakes without an open stretch are those of an acknowledgement that was cut short, or of a program
 * that records no downtime: either way nobody was told.
 */
export function judgeArm(found: RecoveryReading, queue: "empty" | "wakes"): ArmAnswer {
  const unannounced: ArmAnswer = queue === "empty"
    ? { kind: "none" }
    : { kind: "recover", generation: undefined, setAside: false };
  switch (found.kind) {
    case "none":
      return unannounced;
    case "invalid":
    case "directory":
      return { kind: "recover", generation: undefined, setAside: true };
    case "valid":
      break;
  }
  const { status, kind, generation } = found.marker;
  if (status === "acked") return unannounced;
  if (status === "announced" || kind === "handling") return { kind: "wait" };
  return { kind: "recover", generation, setAside: false };
}

function standingOf(found: RecoveryReading): Standing {
  return found.kind === "valid" ? `${found.marker.status}:${found.marker.kind}` : found.kind;
}
