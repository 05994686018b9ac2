/** An event as a spool keeps it. */

import {
  type ActivityEvent,
  EVENT_NAMES,
  type EventName,
  type LaunchCall,
  type LaunchOutcome,
  type TaskReport,
} from "./activity_event.ts";
import type { AgentKind, HarnessProcess, LaunchMode } from "./activity_state.ts";
import { countOf, fieldsOf, isFields, numberOf, parseJson, textOf, wordOf } from "./fields.ts";

/** Parses one spooled event, a line of JSON; `undefined` when it is none. */
export function parseEvent(text: string): ActivityEvent | undefined {
  const fields = parseJson(text);
  if (!isFields(fields)) return undefined;
  const name = EVENT_NAMES.find((known) => known === fields["name"]);
  const at = numberOf(fields["at"]);
  const { session, sessionKey } = fields;
  if (name === undefined || at === undefined) return undefined;
  if (typeof session !== "string" || typeof sessionKey !== "string") return undefined;
  const launch = launchOf(fields["launch"]);
  const report = reportOf(fields["report"]);
  const process = processOf(fields["process"]);
  const crons = numberOf(fields["crons"]);
  return {
    name: name satisfies EventName,
    at,
    host: textOf(fields["host"]) ?? "other",
    session,
    sessionKey,
    ...texts(fields),
    ...(launch === undefined ? {} : { launch }),
    ...(report === undefined ? {} : { report }),
    ...(process === undefined ? {} : { process }),
    ...(crons === undefined ? {} : { crons: countOf(crons) }),
    ...(fields["isOnlyProcess"] === true ? { isOnlyProcess: true } : {}),
    ...(fields["asks"] === true ? { asks: true } : {}),
    ...(Array.isArray(fields["stops"]) ? { stops: textsOf(fields["stops"]) } : {}),
  };
}

const TEXTS = [
  "agent",
  "agentType",
  "tool",
  "call",
  "source",
  "reason",
  "notification",
  "teammate",
  "cwd",
  "transcript",
  "runId",
  "nested",
] as const;

function texts(fields: Readonly<Record<string, unknown>>): Pick<
  Partial<Record<typeof TEXTS[number], string>>,
  typeof TEXTS[number]
> {
  const found: Partial<Record<typeof TEXTS[number], string>> = {};
  for (const name of TEXTS) {
    const text = textOf(fields[name]);
    if (text !== undefined) found[name] = text;
  }
  return found;
}

function textsOf(value: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((item) => textOf(item) ?? []);
}

const KINDS: readonly AgentKind[] = ["subagent", "teammate", "workflow", "cloud", "other"];
const MODES: readonly LaunchMode[] = ["unknown", "foreground", "background"];

function launchOf(value: unknown): LaunchCall | undefined {
  if (!isFields(value)) return undefined;
  return {
    kind: wordOf(value["kind"], KINDS, "subagent"),
    mode: wordOf(value["mode"], MODES, "unknown"),
    type: textOf(value["type"]) ?? "",
    outcome: outcomeOf(value["outcome"]),
  };
}

function outcomeOf(value: unknown): LaunchOutcome {
  const fields = fieldsOf(value);
  const kind = wordOf(fields["kind"], ["unknown", "finished", "background"], "unknown");
  const agent = textOf(fields["agent"]);
  if (kind === "unknown") return { kind };
  return agent === undefined ? { kind } : { kind, agent };
}

function reportOf(value: unknown): TaskReport | undefined {
  const live: unknown = fieldsOf(value)["live"];
  if (!Array.isArray(live)) return undefined;
  const items: readonly unknown[] = live;
  return {
    live: items.flatMap((item) => {
      const fields = fieldsOf(item);
      const key = textOf(fields["key"]);
      if (key === undefined) return [];
      return [{
        key,
        type: textOf(fields["type"]) ?? "other",
        agentType: textOf(fields["agentType"]) ?? "",
      }];
    }),
  };
}

function processOf(value: unknown): HarnessProcess | undefined {
  const fields = fieldsOf(value);
  const pid = countOf(fields["pid"]);
  const identity = textOf(fields["identity"]);
  if (pid <= 1 || identity === undefined) return undefined;
  return {
    pid,
    identity,
    hostname: textOf(fields["hostname"]) ?? null,
    bootId: textOf(fields["bootId"]) ?? null,
  };
}
