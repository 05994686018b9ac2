/**
 * A person's home folder whose sessions record what they do, and the hook as a harness runs it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { sessionFileName, sessionHash } from "../../src/activity/activity_paths.ts";
import { type Payload, SESSION } from "./activity_session.ts";
import { exists, textOf } from "./files.ts";
import {
  type RunOptions,
  runProgram,
  type RunResult,
  runTurnguard,
  TURNGUARD,
} from "./turnguard.ts";

/** What a session's file says, as far as tests read it. */
export interface StoredActivity {
  readonly last_tool_call_at: number | null;
  readonly tool_call_count: number;
  readonly subagents_in_flight: number;
  readonly generation: number;
  readonly progress_seq: number;
  readonly pid: number | null;
  readonly session_id: string;
  readonly run_id: string | null;
  readonly ended_at: number | null;
  readonly last_event: { readonly name: string } | null;
  readonly tools: Readonly<Record<string, unknown>>;
  readonly agents: Readonly<Record<string, unknown>>;
  readonly nested: Readonly<Record<string, unknown>>;
  readonly counters: Readonly<Record<string, number>>;
}

/** Such a home folder. Bind it with `await using`. */
export class ActivityHome implements AsyncDisposable {
  readonly folder: string;
  readonly home: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.home = join(folder, "user");
    Deno.mkdirSync(this.home);
  }

  /** Makes one. */
  static make(): ActivityHome {
    const folder = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
    return new ActivityHome(Deno.realPathSync(folder));
  }

  /** Where files are by default. */
  get state(): string {
    return join(this.home, ".local/state/turnguard/activity");
  }

  /** The file of a session. */
  async file(session = SESSION): Promise<string> {
    return join(this.state, sessionFileName(await sessionHash(session)));
  }

  /** Runs the hook with a payload, or with bytes that are none. */
  async run(
    payload: Payload | string | Uint8Array | { readonly open: string } | null,
    options: { readonly args?: readonly string[] } & Pick<RunOptions, "env" | "limitMs"> = {},
  ): Promise<RunResult> {
    const isText = typeof payload === "string" || payload === null ||
      payload instanceof Uint8Array || "open" in payload;
    const stdin = isText
      ? payload as string | Uint8Array | { readonly open: string } | null
      : JSON.stringify({ session_id: SESSION, ...payload });
    return await runTurnguard(["activity", ...(options.args ?? ["--host", "claude"])], {
      stdin,
      env: { HOME: this.home, ...options.env },
      ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }),
    });
  }

  /** Runs the hook, which must say nothing. */
  async send(...args: Parameters<ActivityHome["run"]>): Promise<void> {
    assertEquals(await this.run(...args), { status: 0, stdout: "", stderr: "" });
  }

  /**
   * Runs many hooks at once; each row's payloads follow each other. All must end with status 0 and
   * say nothing.
   */
  async crowd(rows: readonly (readonly Payload[])[]): Promise<void> {
    const folder = Deno.makeTempDirSync({ dir: this.folder, prefix: "crowd-" });
    for (const [row, payloads] of rows.entries()) {
      for (const [index, payload] of payloads.entries()) {
        const text = JSON.stringify({ session_id: SESSION, ...payload });
        Deno.writeTextFileSync(join(folder, `${row}.${index}`), text);
      }
    }
    const script = [
      "folder=$1 rows=$2 each=$3 program=$4",
      "for ((row = 0; row < rows; row++)); do",
      "  (for ((i = 0; i < each; i++)); do",
      '    "$program" activity --host claude <"$folder/$row.$i" || echo "status $?"',
      "  done) &",
      "done",
      "wait",
    ].join("\n");
    const counts = [String(rows.length), String(rows[0]?.length ?? 0)];
    const result = await runProgram(
      ["/bin/bash", "-c", script, "crowd", folder, ...counts, TURNGUARD],
      { env: { HOME: this.home }, stdin: null, limitMs: 600_000 },
    );
    assertEquals(result, { status: 0, stdout: "", stderr: "" });
  }

  /** What a session's file says; `undefined` when it has none. */
  async stored(session = SESSION): Promise<StoredActivity | undefined> {
    const path = await this.file(session);
    if (!exists(path)) return undefined;
    const value: StoredActivity = JSON.parse(textOf(path));
    return value;
  }

  /** What `activity show --json` says of a session. */
  async shown(session = SESSION): Promise<StoredActivity> {
    const { status, stdout, stderr } = await runTurnguard(
      ["activity", "show", "--json", "--session", session],
      { env: { HOME: this.home }, stdin: null },
    );
    assertEquals([status, stderr], [0, ""]);
    const value: StoredActivity = JSON.parse(stdout);
    return value;
  }

  /** Files below the home folder, but the lock, whose only use is to be there. */
  files(folder = this.home): readonly string[] {
    return [...Deno.readDirSync(folder)].flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory ? this.files(path) : [path.slice(this.home.length + 1)];
    }).filter((path) => !path.endsWith(".lock")).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
