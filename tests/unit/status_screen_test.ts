/**
 * `status` for people: what each part says, a line a home, and lines that fit.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { asLines, asScreen } from "../../src/modes/status_screen.ts";
import { styleFor } from "../../src/modes/person_output.ts";
import type { Judged, StateReport } from "../../src/modes/status_report.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { printable } from "../../src/platform/printable.ts";
import { pidOf } from "../support/facts.ts";
import { QUIET_STATE, told, untold } from "../support/status.ts";

const PLAIN = styleFor(false, environmentOf({}));

/** The lines of one label, as one. */
function saidOf(label: string, state: Partial<StateReport>): string | undefined {
  const lines = asScreen(told("/a", state), PLAIN);
  const start = lines.findIndex((line) => line.startsWith(`${label} `));
  if (start < 0) return undefined;
  const more = lines.slice(start + 1).findIndex((line) => !line.startsWith(" "));
  return lines.slice(start, more < 0 ? undefined : start + 1 + more)
    .map((line) => line.slice(9)).join(" ");
}

const CLAIM = { ...QUIET_STATE.claim, epoch: 7, ownerPid: pidOf(12) };

/** What the state says, and what the screen makes of it. */
const PARTS: readonly (readonly [string, Partial<StateReport>, string | undefined])[] = [
  ["need", {}, "none: no task, source, check or relay"],
  [
    "need",
    { need: { kind: "counted", tasks: 1, sources: 2, checks: 0, relay: true } },
    "1 task, 2 sources, 0 checks, relay",
  ],
  ["watcher", {}, "down (unheld): nobody holds the lock"],
  ["beacon", {}, "never (fresh below 300 s)"],
  ["away", {}, "off"],
  [
    "away",
    {
      awayMode: "quiet",
      daemon: { kind: "owns", saw: "quiet mode: daemon pid 5" },
    },
    "quiet; its daemon supervises: quiet mode: daemon pid 5",
  ],
  ["digest", {}, undefined],
  [
    "digest",
    { digest: { items: 2, oldestSeconds: 60, because: null, wedged: true } },
    "2 items not delivered, the first for 60 s; somebody was alarmed",
  ],
  [
    "digest",
    { digest: { items: null, oldestSeconds: null, because: "denied", wedged: false } },
    "unknown: denied",
  ],
  ["session", {}, "no owner recorded"],
  [
    "session",
    { session: { kind: "recorded", pid: pidOf(8), liveness: "dead" } },
    "recorded pid 8, gone",
  ],
  [
    "session",
    { session: { kind: "unreadable", because: "its first line is no pid" } },
    "state/.lock names no process: its first line is no pid",
  ],
  ["autoarm", {}, "no claim yet"],
  ["autoarm", { claim: { ...CLAIM, kind: "open" } }, "epoch 7 is armed by pid 12"],
  [
    "autoarm",
    { claim: { ...CLAIM, kind: "closed", because: "finished", outcome: "clean" } },
    "epoch 7 ended: clean",
  ],
  [
    "autoarm",
    { claim: { ...CLAIM, kind: "closed", because: "owner-dead", outcome: "arming" } },
    "epoch 7 does not hold (owner-dead)",
  ],
  ["autoarm", { claim: { ...CLAIM, kind: "unknown", because: "denied" } }, "unknown: denied"],
  ["failure", {}, undefined],
  [
    "failure",
    { episode: { blocks: 1, budget: 3, noticed: false, alarmed: false } },
    "none; 1 block counted, the budget is 3",
  ],
  [
    "failure",
    { episode: { blocks: 2, budget: 3, noticed: true, alarmed: false } },
    "supervision failed; the session was told; 2 blocks counted, the budget is 3",
  ],
  [
    "failure",
    { episode: { blocks: null, budget: 3, noticed: true, alarmed: true } },
    "supervision failed; the alarm was raised; 0 blocks counted, the budget is 3",
  ],
  ["wakes", {}, "none queued; no downtime is recorded"],
  [
    "wakes",
    {
      queue: {
        pending: 2,
        reserved: 1,
        unusable: 1,
        oldestSeconds: 7200,
        because: null,
        recovery: {
          kind: "valid",
          marker: { status: "pending", kind: "downtime", generation: "g" },
        },
      },
    },
    "2 wakes to handle, 1 taken on by a branch, 1 that no wake wrote, the oldest for 2 h; " +
    "downtime waits to be handled, pending (g)",
  ],
  [
    "wakes",
    { queue: { ...QUIET_STATE.queue, pending: null, reserved: null, because: "a folder" } },
    "unknown: a folder; no downtime is recorded",
  ],
  ["checks", {}, "none"],
  [
    "checks",
    {
      checks: {
        counts: {
          "trusted": 1,
          "relay": 0,
          "changed": 2,
          "rejected": 3,
          "missing": 0,
          "left-out": 0,
        },
        because: null,
      },
    },
    "1 trusted, 2 changed since, 3 refused",
  ],
  ["checks", { checks: { counts: null, because: "denied" } }, "unknown: denied"],
  ["sources", {}, "none"],
  [
    "sources",
    {
      sources: {
        registered: 3,
        rejected: 1,
        running: 1,
        doubtful: 1,
        unhandled: 1,
        because: null,
      },
    },
    "3 registered, 1 running, 1 with an unknown owner, 1 that cannot run, 1 result to handle",
  ],
  [
    "sources",
    {
      sources: {
        ...QUIET_STATE.sources,
        registered: 1,
        running: null,
        doubtful: null,
        because: "no HOME",
      },
    },
    "1 registered, runners unknown (no HOME)",
  ],
];

Deno.test("status: each part of a home in words", () => {
  for (const [label, state, expected] of PARTS) assertEquals(saidOf(label, state), expected);
});

Deno.test("status: a home whose state cannot be read says why and guesses nothing", () => {
  const lines = asScreen(untold("/gone", "no such folder"), PLAIN);
  assertEquals(lines, [
    "home     /gone",
    "         found by: --root",
    "state    unknown: no such folder",
  ]);
});

Deno.test("status: lines fit a screen and carry no control characters", () => {
  const nasty = "evil\u001b[31m\u202e ".repeat(12);
  const status = told(
    "/a",
    {
      watcher: { health: { kind: "down", because: "other-home", saw: nasty }, pid: null },
      session: { kind: "unreadable", because: nasty },
      claim: { ...CLAIM, kind: "closed", because: "finished", outcome: nasty },
      queue: { ...QUIET_STATE.queue, pending: null, because: nasty },
      checks: { counts: null, because: nasty },
    },
    { notices: [nasty] },
  );
  const all = [...asScreen(status, PLAIN), ...asLines([status, untold("/b", nasty)], PLAIN)];
  for (const line of all) {
    assert([...line].length <= 80, line);
    assertEquals(line, printable(line));
  }
});

const BLOCK: Partial<Judged> = { verdict: { kind: "block", code: "unsupervised" } };

Deno.test("status --all: a line a home, the worst first, each in one word", () => {
  const healthy: Partial<StateReport> = {
    watcher: { health: { kind: "healthy", pid: pidOf(9), saw: "" }, pid: pidOf(9) },
    beacon: { kind: "beat", ageSeconds: 5 },
  };
  const lines = asLines([
    told("/idle"),
    told("/watched", healthy, { verdict: { kind: "allow", code: "watcher-healthy" } }),
    told("/daemon", { daemon: { kind: "owns", saw: "" } }, {
      verdict: { kind: "allow", code: "daemon-owns" },
    }),
    told("/other", {}, {
      scope: { kind: "out", because: "linked worktree" },
      verdict: { kind: "allow", code: "out-of-scope" },
    }),
    untold("/gone", "no such folder"),
    told("/blind", {
      queue: { ...QUIET_STATE.queue, pending: 2 },
      episode: { blocks: 4, budget: 3, noticed: true, alarmed: true },
    }, BLOCK),
  ], PLAIN);
  assertEquals(lines, [
    "BLIND    /blind  unsupervised, beat never, alarm raised, 2 wakes",
    "UNKNOWN  /gone  no such folder",
    "outside  /other  out-of-scope, beat never",
    "watched  /watched  watcher-healthy, beat 5s ago",
    "watched  /daemon  daemon-owns, beat never",
    "idle     /idle  no-need, beat never",
  ]);
});

Deno.test("status --all: what does not fit goes on below, and nothing is cut off", () => {
  const path = `/${"long/".repeat(20)}home`;
  const text = asLines([told(path, {}, BLOCK)], PLAIN).join("\n");
  assertStringIncludes(text, path);
  assertStringIncludes(text, "\n         unsupervised, beat never");
});

Deno.test("status --all: colour marks the first word alone", () => {
  const coloured = styleFor(false, environmentOf({ FORCE_COLOR: "1" }));
  const [line = ""] = asLines([told("/blind", {}, BLOCK)], coloured);
  assertEquals(line, `${coloured.bad("BLIND")}    /blind  unsupervised, beat never`);
});
