/** What a watchdog was told: limits, holds, and how it ends what is idle. */

import { parseDuration } from "../activity/duration.ts";
import { DEFAULT_LIMITS, type ExpiryLimits } from "../activity/limits.ts";

/** Reasons not to count idle time. */
export const HOLD_NAMES = ["subagents", "tools", "human", "crons", "shells", "supervised"] as const;

/** The name of a hold. */
export type HoldName = typeof HOLD_NAMES[number];

/** Signals that may come first. */
export const FIRST_SIGNALS = ["TERM", "INT", "HUP", "QUIT"] as const;

/** The name of a first signal. */
export type FirstSignal = typeof FIRST_SIGNALS[number];

/** Which processes are ended. */
export type Sweep = "tree" | "group" | "marked";

/** Where progress is looked for; `files` are watched besides. */
export interface ProgressSources {
  readonly activity: boolean;
  readonly transcript: boolean;
  readonly output: boolean;
  readonly files: readonly string[];
}

/** Everything that does not depend on the target. Seconds; 0 switches a limit off. */
export interface WatchdogOptions {
  readonly idleTimeout: number;
  readonly poll: number;
  readonly wallTimeout: number;
  readonly grace: number;
  readonly signal: FirstSignal;
  readonly startupGrace: number;
  readonly noSignal: "hold" | "kill";
  readonly progress: ProgressSources;
  readonly holds: readonly HoldName[];
  readonly waiting: "auto" | "hold" | "count";
  readonly limits: ExpiryLimits;
  readonly holdMax: Readonly<Record<HoldName, number>>;
  /** Idle limit once the turn has ended with nothing pending. */
  readonly postStopTimeout: number;
  readonly sweep: Sweep;
  readonly idleExitCode: number;
  readonly wallExitCode: number;
  readonly preserveStatus: boolean;
  readonly quiet: boolean;
  readonly dryRun: boolean;
}

/** The options of a command line, or what is wrong with it. */
export type ParsedOptions =
  | {
    readonly kind: "options";
    readonly options: WatchdogOptions;
    /** Variables that hold no value of their kind and were ignored. */
    readonly ignored: readonly string[];
    /** Whether the poll was shortened to fit the limits. */
    readonly shortened: boolean;
  }
  | { readonly kind: "usage"; readonly message: string };

/** How values are asked for. */
export interface OptionSource {
  /** Value of a flag. */
  readonly flag: (name: string) => string | undefined;
  readonly has: (name: string) => boolean;
  readonly variable: (name: string) => string | undefined;
  /** Runner or sidecar: a sidecar has no wall clock of its own by default. */
  readonly mode: "runner" | "sidecar";
}

class Usage extends Error {}

/** Flags of durations, their variables and their defaults in seconds. */
const DURATIONS = {
  "idle-timeout": ["TURNGUARD_IDLE_TIMEOUT", 600],
  "poll": ["TURNGUARD_POLL", 30],
  "wall-timeout": ["TURNGUARD_WALL_TIMEOUT", 14_400],
  "grace": ["TURNGUARD_GRACE", 10],
  "startup-grace": ["TURNGUARD_STARTUP_GRACE", 120],
  "subagent-max-silence": ["TURNGUARD_SUBAGENT_MAX_SILENCE", DEFAULT_LIMITS.maxSilence],
  "subagent-max-age": ["TURNGUARD_SUBAGENT_MAX_AGE", DEFAULT_LIMITS.maxAge],
  "tool-max": ["TURNGUARD_TOOL_MAX", DEFAULT_LIMITS.toolMax],
} as const;

const DEFAULT_HOLDS: readonly HoldName[] = ["subagents", "tools", "human", "crons", "supervised"];
const DEFAULT_HOLD_MAX: Readonly<Record<HoldName, number>> = {
  subagents: 0,
  tools: 0,
  human: 0,
  crons: 7_200,
  shells: 7_200,
  supervised: 0,
};

/** What the earliest tool of this kind did: a bare counter, and nothing else that holds. */
const CLASSIC: Readonly<Record<string, string>> = {
  "hold": "subagents",
  "subagent-max-silence": "0",
  "subagent-max-age": "0",
  "progress": "activity",
  "startup-grace": "0",
  "no-signal": "kill",
};

/** Reads the options; an option wins over its variable, and what a flag names must be right. */
export function parseWatchdogOptions(source: OptionSource): ParsedOptions {
  try {
    const reader = new Reader(source);
    const options = reader.options();
    const shortest = Math.min(...[options.idleTimeout, options.wallTimeout].filter((s) => s > 0));
    const fitting = Number.isFinite(shortest) ? Math.max(1, shortest / 4) : Infinity;
    return {
      kind: "options",
      options: { ...options, poll: Math.min(options.poll, fitting) },
      ignored: reader.ignored,
      shortened: options.poll > fitting,
    };
  } catch (error) {
    if (error instanceof Usage) return { kind: "usage", message: error.message };
    throw error;
  }
}

class Reader {
  readonly ignored: string[] = [];
  readonly #source: OptionSource;

  constructor(source: OptionSource) {
    this.#source = source;
  }

  options(): WatchdogOptions {
    const idleTimeout = this.#duration("idle-timeout");
    return {
      idleTimeout,
      poll: this.#positive("poll"),
      wallTimeout: this.#duration("wall-timeout"),
      grace: this.#duration("grace"),
      signal: this.#word("signal", FIRST_SIGNALS, "TERM"),
      startupGrace: this.#duration("startup-grace"),
      noSignal: this.#word("no-signal", ["hold", "kill"], "hold"),
      progress: this.#progress(),
      holds: this.#holds(),
      waiting: this.#word("waiting", ["auto", "hold", "count"], "auto"),
      limits: {
        launchTtl: this.#launchTtl(),
        maxSilence: this.#duration("subagent-max-silence"),
        maxAge: this.#duration("subagent-max-age"),
        toolMax: this.#duration("tool-max"),
      },
      holdMax: this.#holdMax(),
      postStopTimeout: this.#own("post-stop-timeout") ?? idleTimeout,
      sweep: this.#word("sweep", ["tree", "group", "marked"], "tree"),
      idleExitCode: this.#code("idle-exit-code", 123),
      wallExitCode: this.#code("wall-exit-code", 124),
      preserveStatus: this.#source.has("preserve-status"),
      quiet: this.#source.has("quiet"),
      dryRun: this.#source.has("dry-run"),
    };
  }

  #given(name: string): string | undefined {
    return this.#source.flag(name) ??
      (this.#source.has("classic") ? CLASSIC[name] : undefined);
  }

  #own(name: string): number | undefined {
    const text = this.#given(name);
    if (text === undefined) return undefined;
    const seconds = parseDuration(text);
    if (seconds === undefined) {
      throw new Usage(`--${name} wants a duration such as 90, 15m or 2h`);
    }
    return seconds;
  }

  #duration(name: keyof typeof DURATIONS): number {
    const given = this.#own(name);
    if (given !== undefined) return given;
    const [variable, preset] = DURATIONS[name];
    const fallback = name === "wall-timeout" && this.#source.mode === "sidecar" ? 0 : preset;
    return this.#variable(variable) ?? fallback;
  }

  #positive(name: keyof typeof DURATIONS): number {
    const seconds = this.#duration(name);
    if (seconds === 0) throw new Usage(`--${name} wants more than nothing`);
    return seconds;
  }

  #launchTtl(): number {
    return this.#variable("TURNGUARD_LAUNCH_TTL") ?? DEFAULT_LIMITS.launchTtl;
  }

  #variable(name: string): number | undefined {
    const text = this.#source.variable(name);
    if (text === undefined) return undefined;
    const seconds = parseDuration(text);
    if (seconds === undefined) this.ignored.push(name);
    return seconds;
  }

  #word<T extends string>(name: string, words: readonly T[], fallback: T): T {
    const text = this.#given(name);
    if (text === undefined) return fallback;
    const found = words.find((word) => word === text);
    if (found === undefined) throw new Usage(`--${name} is one of ${words.join(", ")}`);
    return found;
  }

  #code(name: string, fallback: number): number {
    const text = this.#given(name);
    if (text === undefined) return fallback;
    if (!/^[0-9]{1,3}$/.test(text) || Number(text) > 255) {
      throw new Usage(`--${name} wants a status from 0 to 255`);
    }
    return Number(text);
  }

  #progress(): ProgressSources {
    const words = (this.#given("progress") ?? "activity,transcript").split(",");
    const files = words.filter((word) => word.startsWith("file:")).map((word) => word.slice(5));
    const known = ["activity", "transcript", "output"];
    const wrong = words.find((word) => !known.includes(word) && !word.startsWith("file:/"));
    if (wrong !== undefined) {
      throw new Usage("--progress lists activity, transcript, output, file:/ABSOLUTE/PATH");
    }
    return {
      activity: words.includes("activity"),
      transcript: words.includes("transcript"),
      output: words.includes("output"),
      files,
    };
  }

  #holds(): readonly HoldName[] {
    const text = this.#given("hold");
    if (text === undefined) return DEFAULT_HOLDS;
    if (text === "none") return [];
    return text.split(",").map((word) => this.#holdName("hold", word));
  }

  #holdName(flag: string, word: string): HoldName {
    const found = HOLD_NAMES.find((name) => name === word);
    if (found === undefined) throw new Usage(`--${flag} knows ${HOLD_NAMES.join(", ")}`);
    return found;
  }

  #holdMax(): Readonly<Record<HoldName, number>> {
    const maxima = { ...DEFAULT_HOLD_MAX };
    for (const part of (this.#given("hold-max") ?? "").split(",").filter((text) => text !== "")) {
      const [name = "", value = ""] = part.split("=");
      const seconds = parseDuration(value);
      if (seconds === undefined) throw new Usage("--hold-max wants NAME=DURATION, with commas");
      maxima[this.#holdName("hold-max", name)] = seconds;
    }
    return maxima;
  }
}
