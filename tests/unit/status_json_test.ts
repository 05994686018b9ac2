/**
 * `status --json`: what is documented and what is printed are the same keys, and nothing is guessed.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { describeMode } from "../../src/modes/help.ts";
import { statusMode } from "../../src/modes/status.ts";
import {
  homeAsJson,
  HOMES_SCHEMA,
  homesAsJson,
  STATUS_KEYS,
  STATUS_SCHEMA,
} from "../../src/modes/status_json.ts";
import type { HomeStatus, StateReport } from "../../src/modes/status_report.ts";
import type { JournalEntry } from "../../src/state/journal.ts";
import { pidOf } from "../support/facts.ts";
import { QUIET_STATE, told, untold } from "../support/status.ts";

const ENTRY: JournalEntry = {
  time: "2026-01-01T00:00:00.000Z",
  mode: "stop",
  harness: "claude",
  session: null,
  verdict: "block",
  code: "unsupervised",
  facts: { watcher: "down" },
  ms: 12,
};

const FULL: HomeStatus = told("/a", {
  need: { kind: "counted", tasks: 2, sources: 1, checks: 0, relay: false },
  session: { kind: "recorded", pid: pidOf(7), liveness: "alive" },
  recent: [{ ...ENTRY, ...{ future: "a key of a later version" } }],
});

/** Paths of all keys, as the documentation writes them. */
function pathsOf(value: object, prefix = ""): readonly string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const path = `${prefix}${key}`;
    if (path === "recent[].facts" || typeof inner !== "object" || inner === null) return [path];
    if (!Array.isArray(inner)) return pathsOf(inner, `${path}.`);
    const first: unknown = inner[0];
    return typeof first === "object" && first !== null
      ? [path, ...pathsOf(first, `${path}[].`)]
      : [path];
  });
}

Deno.test("status --json: the documented keys are the printed keys", () => {
  const documented = STATUS_KEYS.rows.map(([path]) => path);
  assertEquals(pathsOf(homeAsJson(FULL)), documented);
  assertEquals(new Set(documented).size, documented.length);
});

Deno.test("status --json: help shows every key, with its type", () => {
  const help = describeMode(statusMode, []).split("\n");
  for (const line of help) assert(line.length <= 80, line);
  const lines = help.map((line) => line.trim());
  for (const [path, meaning] of STATUS_KEYS.rows) {
    const [type = ""] = meaning.split(":");
    const line = lines.find((text) => text.startsWith(`${path} `)) ?? "";
    assertEquals(line.slice(path.length).trim().split(":")[0], type, path);
  }
});

Deno.test("status --json: every value is of its documented type", () => {
  const types = new Map(STATUS_KEYS.rows.map(([path, meaning]) => [path, meaning.split(":")[0]]));
  for (const status of [FULL, told("/quiet"), untold("/x", "no such folder")]) {
    const object: Record<string, unknown> = { ...homeAsJson(status) };
    for (const [path, type = ""] of types) {
      if (path.includes("[]")) continue;
      const value = path.split(".").reduce<unknown>(
        (inner, key) =>
          typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined,
        object,
      );
      assertEquals(isOfType(value, type), true, `${path} (${type}): ${JSON.stringify(value)}`);
    }
  }
});

function isOfType(value: unknown, type: string): boolean {
  if (value === null) return type.endsWith("?");
  const plain = type.replace(/\?$/, "");
  if (plain.includes("|")) return typeof value === "string" && plain.split("|").includes(value);
  switch (plain) {
    case "count":
    case "pid":
    case "number":
    case "seconds":
      return Number.isInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "texts":
    case "array":
      return Array.isArray(value);
    default:
      return typeof value === "string";
  }
}

Deno.test("status --json: a home that cannot be read has every key, null, and the reason", () => {
  const object = homeAsJson(untold("/gone", "no such folder"));
  const documented = STATUS_KEYS.rows.map(([path]) => path).filter((path) => !path.includes("[]"));
  assertEquals(pathsOf(object), documented);
  const { schema, home: _, problem, need, ...rest } = object;
  assertEquals([schema, problem], [STATUS_SCHEMA, "no such folder"]);
  assertEquals(need, {
    kind: "unknown",
    because: "no such folder",
    tasks: null,
    sources: null,
    checks: null,
    relay: null,
  });
  for (const [name, part] of Object.entries(rest)) {
    const values = typeof part === "object" && part !== null ? Object.values(part) : [part];
    assertEquals(values.filter((value) => value !== null), [], name);
  }
});

/** A part of the state that cannot be told, and what its keys then are. */
const UNTOLD_PARTS: readonly (readonly [string, Partial<StateReport>, unknown])[] = [
  [
    "wakes",
    {
      queue: {
        pending: null,
        reserved: null,
        unusable: null,
        oldestSeconds: null,
        because: "it is a folder",
        recovery: { kind: "directory" },
      },
    },
    {
      pending: null,
      reserved: null,
      unusable: null,
      oldestSeconds: null,
      because: "it is a folder",
      recovery: "invalid",
    },
  ],
  [
    "checks",
    { checks: { counts: null, because: "denied" } },
    {
      trusted: null,
      relay: null,
      changed: null,
      rejected: null,
      missing: null,
      leftOut: null,
      because: "denied",
    },
  ],
  [
    "digest",
    { digest: { items: null, oldestSeconds: null, because: "denied", wedged: false } },
    { items: null, oldestSeconds: null, wedged: false, because: "denied" },
  ],
  [
    "sources",
    { sources: { ...QUIET_STATE.sources, running: null, doubtful: null, because: "no HOME" } },
    {
      registered: 0,
      rejected: 0,
      running: null,
      doubtful: null,
      unhandled: 0,
      because: "no HOME",
    },
  ],
  [
    "session",
    { session: { kind: "unreadable", because: "no pid" } },
    { kind: "unreadable", pid: null, liveness: null, because: "no pid" },
  ],
  [
    "autoarm",
    { claim: { ...QUIET_STATE.claim, kind: "unknown", because: "denied" } },
    {
      kind: "unknown",
      epoch: null,
      ownerPid: null,
      outcome: null,
      ageSeconds: null,
      because: "denied",
    },
  ],
  [
    "beacon",
    { beacon: { kind: "unreadable" }, beat: { kind: "unreadable" } },
    { kind: "unreadable", ageSeconds: null, graceSeconds: 300 },
  ],
];

Deno.test("status --json: what cannot be told is null, with a reason beside it", () => {
  for (const [name, state, expected] of UNTOLD_PARTS) {
    assertEquals(homeAsJson(told("/a", state))[name], expected, name);
  }
});

Deno.test("status --all --json: one object around the homes, in the order in which they came", () => {
  const statuses = [told("/b"), untold("/a", "denied")];
  assertEquals(homesAsJson(statuses), { schema: HOMES_SCHEMA, homes: statuses.map(homeAsJson) });
  assertEquals(homesAsJson([]), { schema: HOMES_SCHEMA, homes: [] });
});
