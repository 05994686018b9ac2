/** Signs of progress, told once each. */

import { join } from "@std/path";
import type { ActivityState } from "../../decide/activity/activity_state.ts";
import type { ProgressSources } from "../../decide/watchdog/watchdog_options.ts";
import type { ActivityReading } from "../read_activity.ts";

/** Where progress was seen, how often. */
export type ProgressCounts = Readonly<Record<string, number>>;

/** Transcripts of subagents that are looked at. */
const TRANSCRIPT_LIMIT = 200;

/** Remembers what it saw; what differs the next time is progress. */
export class ProgressWatch {
  readonly #sources: ProgressSources;
  readonly #counts: Record<string, number> = {};
  readonly #files = new Map<string, string>();
  #activity: string | undefined;
  #modifiedMs = 0;
  #wasThere = false;
  #outputAt: number | undefined;

  constructor(sources: ProgressSources) {
    this.#sources = sources;
  }

  get counts(): ProgressCounts {
    return this.#counts;
  }

  /** A byte of the command's output has passed. */
  output(): void {
    this.#outputAt = Date.now() / 1000;
  }

  /**
   * When the newest progress since the look before happened, in seconds since the epoch and no later
   * than `now`; `undefined` without any.
   */
  newest(reading: ActivityReading, now: number): number | undefined {
    const times = [
      this.#sources.activity ? this.#ofActivity(reading, now) : undefined,
      this.#sources.transcript && reading.kind === "state"
        ? this.#ofTranscripts(reading.state)
        : undefined,
      this.#counted("output", this.#outputAt),
      ...this.#sources.files.map((path) => this.#counted(`file:${path}`, this.#changed(path))),
    ].filter((time) => time !== undefined);
    this.#outputAt = undefined;
    return times.length === 0 ? undefined : Math.min(now, Math.max(...times));
  }

  #counted(name: string, time: number | undefined): number | undefined {
    if (time !== undefined) this.#counts[name] = (this.#counts[name] ?? 0) + 1;
    return time;
  }

  #ofActivity(reading: ActivityReading, now: number): number | undefined {
    if (reading.kind === "absent" && this.#wasThere) {
      // Whoever removed it has not ended the session; the time begins anew, once.
      this.#wasThere = false;
      this.#activity = undefined;
      return this.#counted("activity", now);
    }
    if (reading.kind !== "state") return undefined;
    const { state, modifiedMs } = reading;
    const mark = `${state.progress_seq} ${state.last_tool_call_at} ${state.tool_call_count}`;
    const isFirst = !this.#wasThere;
    this.#wasThere = true;
    const isNew = mark !== this.#activity;
    const isTouched = modifiedMs > this.#modifiedMs && reading.isDegraded;
    this.#activity = mark;
    this.#modifiedMs = modifiedMs;
    if (isNew && (!isFirst || state.progress_at !== null || state.last_tool_call_at !== null)) {
      const time = state.progress_at ?? state.last_tool_call_at ?? now;
      return this.#counted("activity", Math.max(time, state.last_tool_call_at ?? 0));
    }
    return isTouched ? this.#counted("degraded", modifiedMs / 1000) : undefined;
  }

  #ofTranscripts(state: ActivityState): number | undefined {
    const path = state.transcript_path;
    if (path === null) return undefined;
    const folder = path.endsWith(".jsonl") ? join(path.slice(0, -6), "subagents") : undefined;
    const paths = folder === undefined ? [path] : [path, ...newestFiles(folder)];
    const times = paths.map((file) => this.#changed(file)).filter((time) => time !== undefined);
    return this.#counted("transcript", times.length === 0 ? undefined : Math.max(...times));
  }

  /** When a file that differs from the last look was changed. */
  #changed(path: string): number | undefined {
    try {
      const info = Deno.statSync(path);
      const time = (info.mtime?.getTime() ?? 0) / 1000;
      const mark = `${info.size} ${time}`;
      const before = this.#files.get(path);
      this.#files.set(path, mark);
      return before === mark ? undefined : time;
    } catch {
      return undefined;
    }
  }
}

/** The file of a folder that was changed last. */
function newestFiles(folder: string): readonly string[] {
  try {
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name)
      .filter((name) => name.endsWith(".jsonl")).slice(0, TRANSCRIPT_LIMIT);
    const timed = names.map((name) => {
      const path = join(folder, name);
      return { path, time: Deno.lstatSync(path).mtime?.getTime() ?? 0 };
    });
    return timed.toSorted((one, other) => other.time - one.time).slice(0, 1)
      .map(({ path }) => path);
  } catch {
    return [];
  }
}
