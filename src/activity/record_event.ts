/** From a payload to the file that its event belongs in. */

import { dirname, join } from "@std/path";
import type { ActivityEvent } from "../decide/activity/activity_event.ts";
import { type Fields, textOf } from "../decide/activity/fields.ts";
import { expiryLimits } from "../decide/activity/limits.ts";
import { type NormalisedEvent, normaliseEvent } from "../decide/activity/normalise_event.ts";
import { parseActivity } from "../decide/activity/parse_activity.ts";
import type { ActivityHost } from "../decide/activity/recognise_host.ts";
import { recogniseHost } from "../decide/activity/recognise_host.ts";
import type { HarnessProcess } from "../decide/activity/activity_state.ts";
import type { Environment } from "../platform/environment.ts";
import { parsePid } from "../platform/pid.ts";
import {
  activityFolders,
  type ActivityPlace,
  sessionFileName,
  sessionHash,
  sha256,
} from "./activity_paths.ts";
import { ownUid } from "./own_uid.ts";
import type { ProcessChain } from "./process_chain.ts";
import type { RunScope } from "./run_scope.ts";
import { readSafely } from "./safe_file.ts";
import { ensureOwnFolder, ensureTemporaryFolder, mayHoldFiles } from "./safe_folder.ts";
import { aliasTarget, writeAlias } from "./session_alias.ts";
import { writeEvent, type WriteOutcome } from "./write_event.ts";

/**
 * What looks at processes. It is loaded when it is needed, since nearly every event can do without and
 * each of them waits for what is loaded.
 */
export interface ProcessTools {
  readonly chain: ProcessChain;
  readonly runScope: () => Promise<RunScope | undefined>;
}

/** What a hook's command line says about recording. */
export interface RecordOptions {
  readonly host: ActivityHost | "auto";
  /** File to write, `{hash}` standing for the session's digits. */
  readonly file: string | undefined;
  /** Name of the event when the payload has none. */
  readonly event: string | undefined;
}

/** What became of a payload, for the debugging log. */
export interface Recorded {
  readonly outcome:
    | WriteOutcome
    | "stood down"
    | "no session"
    | "nowhere";
  readonly file?: string;
  readonly event?: string;
}

/**
 * Records what a payload tells. Never throws what a payload or a file could cause.
 *
 * Needs permission to read, to write, to read the environment and to start `cat`.
 */
export async function recordEvent(
  payload: Fields,
  options: RecordOptions,
  environment: Environment,
  tools: () => Promise<ProcessTools>,
): Promise<Recorded> {
  const hasGrokEvent = environment.get("GROK_HOOK_EVENT") !== undefined;
  const host = recogniseHost(payload, options.host, hasGrokEvent);
  if (host === undefined) return { outcome: "stood down" };
  const normalised = await normaliseEvent(payload, {
    host,
    at: Date.now() / 1000,
    event: options.event,
    session: host === "claude" ? environment.get("CLAUDE_CODE_SESSION_ID") : undefined,
    launchTools: (environment.get("TURNGUARD_LAUNCH_TOOLS") ?? "").split(",")
      .map((name) => name.trim()).filter((name) => name !== ""),
    hash: async (text) => (await sha256(text)).slice(0, 32),
  });
  if (normalised === undefined) return { outcome: "no session" };
  return await fileEvent(normalised, options.file, environment, tools);
}

/** Puts an event where it belongs. */
export async function fileEvent(
  normalised: NormalisedEvent,
  named: string | undefined,
  environment: Environment,
  tools: () => Promise<ProcessTools>,
): Promise<Recorded> {
  const uid = ownUid();
  if (uid === undefined) return { outcome: "nowhere" };
  const hash = await sessionHash(normalised.event.session);
  const writer = new EventWriter(environment, uid, tools);
  const event: ActivityEvent = { ...normalised.event, sessionKey: hash };
  if (named !== undefined) {
    return await writer.explicit(named.replaceAll("{hash}", hash), event);
  }
  const file = environment.get("TURNGUARD_ACTIVITY_FILE");
  if (file?.startsWith("/") === true) {
    // An operator's own choice; with a run beside it, it is only believed below that run's runner.
    if (environment.get("TURNGUARD_RUN_ID") === undefined) {
      return await writer.explicit(file.replaceAll("{hash}", hash), event);
    }
    const scope = await (await tools()).runScope();
    if (scope !== undefined) {
      const rest = await writer.ofRun(scope.file, scope.runId, scope.harness, event);
      if (rest === undefined) return { outcome: "written", file: scope.file, event: event.name };
    }
  }
  return await writer.ofSession(event, normalised.childSession);
}

/** Hosts whose subagents come under a session id of their own. */
const CHILDREN_WITH_SESSIONS = ["grok", "opencode", "cursor", "other"];

class EventWriter {
  readonly #environment: Environment;
  readonly #uid: number;
  readonly #tools: () => Promise<ProcessTools>;

  constructor(environment: Environment, uid: number, tools: () => Promise<ProcessTools>) {
    this.#environment = environment;
    this.#uid = uid;
    this.#tools = tools;
  }

  /** Writes to a file that somebody named. */
  async explicit(file: string, event: ActivityEvent): Promise<Recorded> {
    if (!file.startsWith("/") || !mayHoldFiles(dirname(file), this.#uid)) {
      return { outcome: "nowhere" };
    }
    return await this.#writeWithProcess(file, event);
  }

  /** Writes to a run's file; returns the event when it belongs to a session of its own. */
  async ofRun(
    file: string,
    runId: string,
    harness: HarnessProcess | undefined,
    event: ActivityEvent,
  ): Promise<ActivityEvent | undefined> {
    if (!mayHoldFiles(dirname(file), this.#uid)) return event;
    const root = this.#processIn(file);
    const isRoot = root === undefined || harness === undefined ||
      (root.pid === harness.pid && root.identity === harness.identity) ||
      !(await this.#isRunning(root));
    if (isRoot) {
      const process = harness === undefined ? {} : { process: harness };
      this.#write(file, { ...event, ...process, runId });
      return undefined;
    }
    this.#write(file, { ...event, nested: event.sessionKey });
    return event;
  }

  /** Writes to the first folder that may be used. */
  async ofSession(event: ActivityEvent, child: string | undefined): Promise<Recorded> {
    for (const place of activityFolders(this.#environment, this.#uid)) {
      if (!this.#mayUse(place)) continue;
      const parent = CHILDREN_WITH_SESSIONS.includes(event.host)
        ? aliasTarget(place.file, event.sessionKey, this.#uid)
        : undefined;
      const file = parent ?? join(place.file, sessionFileName(event.sessionKey));
      const filed = parent === undefined ? event : ofChild(event);
      const written = await this.#writeWithProcess(file, filed);
      if (written.outcome === "unusable") continue;
      if (child !== undefined) writeAlias(file, await sessionHash(child));
      return written;
    }
    return { outcome: "nowhere" };
  }

  #mayUse({ file, kind }: ActivityPlace): boolean {
    return kind === "temporary"
      ? ensureTemporaryFolder(file, this.#uid)
      : ensureOwnFolder(file, this.#uid);
  }

  #write(file: string, event: ActivityEvent): Recorded {
    const limits = expiryLimits(this.#environment);
    return { outcome: writeEvent(file, this.#uid, limits, event), file, event: event.name };
  }

  /**
   * Writes, and looks up the harness's process where a new one may have come or the file knows none:
   * that costs a program, and nearly every event can do without.
   */
  async #writeWithProcess(file: string, event: ActivityEvent): Promise<Recorded> {
    const look = async (): Promise<HarnessProcess | undefined> =>
      (await this.#tools()).chain.harness(parsePid(String(Deno.ppid)));
    const process = event.name === "SessionStart" ? await look() : undefined;
    const written = this.#write(file, process === undefined ? event : { ...event, process });
    if (written.outcome !== "written without process") return written;
    const found = await look();
    if (found !== undefined) {
      const limits = expiryLimits(this.#environment);
      writeEvent(file, this.#uid, limits, {
        name: "Other",
        at: event.at,
        host: event.host,
        session: "",
        sessionKey: event.sessionKey,
        process: found,
        isOnlyProcess: true,
      });
    }
    return { ...written, outcome: "written" };
  }

  #processIn(file: string): HarnessProcess | undefined {
    const content = readSafely(file, this.#uid);
    if (content.kind !== "text") return undefined;
    const parsed = parseActivity(content.text, 0);
    return parsed.kind === "state" ? parsed.state.process ?? undefined : undefined;
  }

  async #isRunning({ pid, identity }: HarnessProcess): Promise<boolean> {
    const known = parsePid(String(pid));
    return known !== undefined &&
      (await (await this.#tools()).chain.link(known))?.identity === identity;
  }
}

/** An event of a child's own session, in the file of its parent. */
function ofChild(event: ActivityEvent): ActivityEvent {
  const agent = /^[A-Za-z0-9._:-]{1,128}$/.test(event.session)
    ? event.session
    : event.agent ?? `h:${event.sessionKey}`;
  return { ...event, session: "", agent };
}

/** The session that an environment names, for input that is too large to be read. */
export function sessionOfEnvironment(environment: Environment): string | undefined {
  return textOf(environment.get("CLAUDE_CODE_SESSION_ID"));
}
