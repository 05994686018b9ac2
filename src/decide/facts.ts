/** The facts that turn-end rules judge. Whoever observes them fills these shapes and judges nothing. */

import type { FileText } from "../platform/file_text.ts";
import type { MachineClocks } from "../platform/machine_clocks.ts";
import type { Liveness } from "../platform/liveness.ts";
import type { PathKind } from "../platform/path_kind.ts";
import type { Pid } from "../platform/pid.ts";
import type { IdentityReading } from "../platform/process_identity.ts";
import type { GraceVariables } from "./grace.ts";

/** The hook payload, as far as rules read it. */
export type PayloadFact =
  /** Nothing to read: no input, only white space, or a terminal. */
  | { readonly kind: "empty"; readonly because: string }
  /** Not exactly one JSON object. */
  | { readonly kind: "unreadable"; readonly because: string }
  | {
    readonly kind: "object";
    /** Whether `cursor_version` is there and is a string: the payload was made by Cursor. */
    readonly fromCursor: boolean;
    /** Whether `transcript_path` lies below a `.pi` folder: delivered by Pi's hook compatibility. */
    readonly fromPiCode: boolean;
    readonly loopGuard: LoopGuard;
    /** `session_id` when it is a usable string. */
    readonly sessionId: string | undefined;
  };

/** Whether the host says that this stop already follows a continuation that a hook forced. */
export type LoopGuard =
  | { readonly kind: "first-stop" }
  | { readonly kind: "continuation" }
  /** The field is there with a type that cannot be trusted. */
  | { readonly kind: "wrong-type"; readonly field: string };

/** Where the session works, compared with the root that the registration names. */
export type SessionDirectoryFact =
  /** The registration does not tie the hook to a directory. */
  | { readonly kind: "not-anchored" }
  | { readonly kind: "at-root" }
  | { readonly kind: "elsewhere"; readonly because: string }
  /** The directory is gone or unnamed, so nothing can be compared. */
  | { readonly kind: "unknown" };

/** What a root and its state directory look like. */
export interface ScopeFact {
  readonly marker: SecondmateMarker;
  readonly git: GitLayout;
  readonly agentsFile: PathKind;
  readonly bin: PathKind;
  readonly state: PathKind;
}

/** `.fm-secondmate-home`, not yet judged. */
export type SecondmateMarker =
  | { readonly kind: "absent" }
  | { readonly kind: "not-a-plain-file" }
  | { readonly kind: "file"; readonly text: string };

/** What a root is to Git, read from files. */
export type GitLayout =
  /** The root of a checkout whose Git directory is its own. */
  | "primary"
  /** A linked worktree: its Git directory and the common one differ. */
  | "linked-worktree"
  /** Not the root of a checkout that can be read. */
  | "none";

/** Counts of what needs supervision. */
export type NeedFact =
  | {
    readonly kind: "counted";
    /** Task records, `*.meta`. */
    readonly tasks: number;
    /** Process-event sources, `procevent/*.source`. */
    readonly sources: number;
    /** Registered custom checks: `<id>.check.sh` with `<id>.check-trust`. */
    readonly checks: number;
    /** Whether the relay is polled, `x-watch.check.sh`. */
    readonly relay: boolean;
  }
  | { readonly kind: "unknown"; readonly because: string };

/** A pid as a lock records it, and the process that carries it now. */
export type HolderFact =
  /** There is nobody: no lock, no `pid` file, or an empty one. */
  | { readonly kind: "none" }
  /** Something is recorded that names no process. */
  | { readonly kind: "malformed"; readonly because: string }
  | {
    readonly kind: "recorded";
    readonly pid: Pid;
    readonly liveness: Liveness;
    /** Asked for only while the process is alive. */
    readonly identity: IdentityReading;
  };

/** The age of the beacon. */
export type BeaconFact =
  | { readonly kind: "never" }
  | { readonly kind: "unreadable" }
  /** Whole seconds since the watcher's last beat; negative when it lies in the future. */
  | { readonly kind: "beat"; readonly ageSeconds: number };

/** The watch lock and the beacon. */
export interface WatcherFact {
  readonly holder: HolderFact;
  /** `fm-home` as recorded. */
  readonly home: FileText;
  /** `watcher-path` as recorded. */
  readonly path: FileText;
  /** `pid-identity` as recorded. */
  readonly identity: FileText;
  /** The home that is judged. */
  readonly expectedHome: string;
  /** The watcher path that is judged. */
  readonly expectedPath: string;
  readonly beacon: BeaconFact;
  /** The settings that say for how long a beat is fresh. */
  readonly grace: GraceVariables;
  /** The machine's clocks; asked for only when the beat is conspicuously old. */
  readonly clocks?: MachineClocks;
}

/** The away or quiet mode and the daemon that then owns supervision. */
export interface DaemonFact {
  /** Whether `.afk` exists, and which mode its first line declares. */
  readonly mode: "off" | "away" | "quiet";
  readonly holder: HolderFact;
  /** `pid-identity` as recorded. */
  readonly identity: FileText;
  readonly beacon: BeaconFact;
  /** The settings that say for how long a beat is fresh. */
  readonly grace: GraceVariables;
}

/** Every fact that the default and `--cursor` turn-end rules can ask for. */
export interface TurnEndFacts {
  readonly payload: PayloadFact;
  readonly sessionDirectory: SessionDirectoryFact;
  readonly scope: ScopeFact;
  readonly need: NeedFact;
  readonly watcher: WatcherFact;
  readonly daemon: DaemonFact;
}
