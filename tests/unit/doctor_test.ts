/**
 * The checks of `doctor`, each over the facts that it judges.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { WatcherFact } from "../../src/decide/facts.ts";
import { type Check, ok, statusOf, undetermined, wrong } from "../../src/modes/doctor/check.ts";
import { checkClock } from "../../src/modes/doctor/clock.ts";
import {
  checkExecutable,
  checkName,
  checkTemporaryFolder,
  type ExecutableFacts,
} from "../../src/modes/doctor/executable.ts";
import { checkScope } from "../../src/modes/doctor/home.ts";
import { checkPermissions, type Grants } from "../../src/modes/doctor/permissions.ts";
import { checkProcesses } from "../../src/modes/doctor/processes.ts";
import { checkSettings } from "../../src/modes/doctor/settings.ts";
import { checkState, type StateFacts } from "../../src/modes/doctor/state_directory.ts";
import { checkWatcher } from "../../src/modes/doctor/watcher.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { procIdentity } from "../../src/platform/process_identity.ts";
import { pidOf } from "../support/facts.ts";

const OK = ok("a", "");
const WRONG = wrong("b", "", "");
const UNKNOWN = undetermined("c", "");

function outcomes(checks: readonly Check[]): Readonly<Record<string, string>> {
  return Object.fromEntries(checks.map((check) => [check.id, check.outcome]));
}

Deno.test("statusOf: 1 beats 3, and 3 beats 0", () => {
  const cases: ReadonlyArray<readonly [readonly Check[], number]> = [
    [[], 0],
    [[OK], 0],
    [[OK, UNKNOWN], 3],
    [[UNKNOWN, WRONG, OK], 1],
  ];
  for (const [checks, status] of cases) assertEquals(statusOf(checks), status);
});

const EXECUTABLE: ExecutableFacts = {
  build: { version: "1.2.3", commit: null, target: "x86_64-unknown-linux-gnu", deno: "2.7.11" },
  compiled: true,
  path: "/opt/bin/turnguard",
  mode: 0o100755,
};

Deno.test("checkExecutable: an installed build is well", () => {
  assertEquals(outcomes(checkExecutable(EXECUTABLE, environmentOf({ TMPDIR: "/tmp" }))), {
    "build": "ok",
    "executable": "ok",
    "name": "ok",
    "temporary-folder": "ok",
  });
});

Deno.test("checkExecutable: unreadable, gone and uncompiled executables are told apart", () => {
  const none = environmentOf({});
  assertEquals(
    outcomes(checkExecutable({ ...EXECUTABLE, mode: 0o100711 }, none))["executable"],
    "wrong",
  );
  assertEquals(
    outcomes(checkExecutable({ ...EXECUTABLE, mode: undefined }, none))["executable"],
    "wrong",
  );
  assertEquals(
    outcomes(checkExecutable({ ...EXECUTABLE, compiled: false }, none))["build"],
    "undetermined",
  );
});

Deno.test("checkName: names that other tools take for a harness are wrong", () => {
  const cases: ReadonlyArray<readonly [string, Check["outcome"]]> = [
    ["/usr/bin/turnguard", "ok"],
    ["/home/claude/bin/turnguard", "ok"],
    ["/home/pip/turnguard", "ok"],
    ["/usr/bin/claude-guard", "wrong"],
    ["/usr/bin/Codex", "wrong"],
    ["/usr/bin/my-opencode", "wrong"],
    ["/usr/bin/grokguard", "wrong"],
    ["/usr/bin/kimi", "wrong"],
    ["/usr/bin/precursor", "wrong"],
    ["/home/pi/bin/turnguard", "wrong"],
  ];
  for (const [path, outcome] of cases) assertEquals(checkName(path).outcome, outcome, path);
});

Deno.test("checkTemporaryFolder: only a relative TMPDIR is wrong", () => {
  assertEquals(
    [undefined, "/tmp", "/not/there", "tmp", "."].map((folder) =>
      checkTemporaryFolder(folder).outcome
    ),
    ["ok", "ok", "ok", "wrong", "wrong"],
  );
});

const BAKED: Grants = { net: false, ffi: false, sys: false, read: true, run: true };

Deno.test("checkPermissions: too many and too few are wrong, sources say nothing", () => {
  assertEquals(checkPermissions(BAKED, true).outcome, "ok");
  assertStringIncludes(checkPermissions({ ...BAKED, net: true, sys: true }, true).what, "net, sys");
  assertStringIncludes(checkPermissions({ ...BAKED, run: false }, true).what, "run");
  assertEquals(checkPermissions({ ...BAKED, ffi: true }, true).outcome, "wrong");
  assertEquals(checkPermissions({ ...BAKED, ffi: true }, false).outcome, "undetermined");
});

Deno.test("checkScope: a task worktree is well, a home that lacks something is wrong", () => {
  const home = { root: "/h", state: "/h/state" };
  assertEquals(checkScope({ kind: "in", because: "primary checkout" }, home).outcome, "ok");
  assertEquals(checkScope({ kind: "out", because: "linked worktree" }, home).outcome, "ok");
  for (const because of ["not a checkout root", "no AGENTS.md", "no bin/"] as const) {
    assertEquals(checkScope({ kind: "out", because }, home).outcome, "wrong", because);
  }
});

const STATE: StateFacts = {
  path: "/h/state",
  kind: "directory",
  ownKind: "directory",
  mode: 0o40700,
  owner: 1000,
  user: 1000,
  writable: "yes",
};

/** What differs from a state directory in order, and the outcomes that are not `ok`. */
const STATE_CASES: ReadonlyArray<readonly [Partial<StateFacts>, Readonly<Record<string, string>>]> =
  [
    [{}, {}],
    [{ ownKind: "link" }, {}],
    [{ mode: 0o40755 }, {}],
    [{ mode: 0o40770 }, { "state-access": "wrong" }],
    [{ mode: 0o40702 }, { "state-access": "wrong" }],
    [{ writable: "no" }, { "state-access": "wrong" }],
    [{ writable: "unknown" }, { "state-access": "undetermined" }],
    [{ mode: undefined }, { "state-access": "undetermined" }],
    [{ owner: 0 }, { "state-owner": "wrong" }],
    [{ user: undefined }, { "state-owner": "undetermined" }],
    [{ kind: "absent", ownKind: "absent" }, { "state-directory": "wrong" }],
    [{ kind: "absent", ownKind: "link" }, { "state-directory": "wrong" }],
    [{ kind: "file", ownKind: "file" }, { "state-directory": "wrong" }],
    [{ kind: "unknown", ownKind: "unknown" }, { "state-directory": "undetermined" }],
  ];

Deno.test("checkState: each fault is named by the check that it belongs to", () => {
  for (const [change, expected] of STATE_CASES) {
    const checks = checkState({ ...STATE, ...change });
    const faults = outcomes(checks.filter((check) => check.outcome !== "ok"));
    assertEquals(faults, expected, JSON.stringify(change));
  }
});

Deno.test("checkClock: only files beyond the allowed skew are from the future", () => {
  assertEquals(checkClock(undefined).outcome, "undetermined");
  assertEquals(checkClock([]).outcome, "ok");
  assertEquals(checkClock([{ name: "a", ageSeconds: -60 }]).outcome, "ok");
  const check = checkClock([{ name: "a", ageSeconds: -61 }, { name: "b", ageSeconds: -90_000 }]);
  assertEquals(check.outcome, "wrong");
  assertMatch(check.what, /2 state files.* b by 25 h$/);
});

/** `FM_GUARD_GRACE`, `FM_POLL`, and how many things are wrong with them. */
const SETTINGS: ReadonlyArray<readonly [string | undefined, string | undefined, number]> = [
  [undefined, undefined, 0],
  ["600", "30", 0],
  ["abc", undefined, 1],
  [undefined, "1.5", 1],
  ["abc", "-1", 2],
  ["0", undefined, 1],
  ["-5", undefined, 1],
  ["15", undefined, 1],
  ["16", undefined, 0],
];

Deno.test("checkSettings: malformed numbers and graces that never hold are wrong", () => {
  for (const [FM_GUARD_GRACE, FM_POLL, faults] of SETTINGS) {
    const checks = checkSettings({ FM_GUARD_GRACE, FM_POLL });
    const wrongs = checks.filter((check) => check.outcome === "wrong");
    assertEquals(wrongs.length, faults, JSON.stringify([FM_GUARD_GRACE, FM_POLL]));
    assertEquals(checks.length, Math.max(1, faults));
  }
});

Deno.test("checkSettings: names the text that is no number and the value that is used", () => {
  const [check] = checkSettings({ FM_GUARD_GRACE: "abc", FM_POLL: undefined });
  assertMatch(check?.what ?? "", /FM_GUARD_GRACE.*abc.*300 s/);
});

const IDENTITY = procIdentity("42", new TextEncoder().encode("cat\0"));
const KNOWN = { kind: "known", identity: IDENTITY } as const;
const NOT_KNOWN = { kind: "unknown", because: "no command line" } as const;

Deno.test("checkProcesses: an identity that is unknown is never shown as well or wrong", () => {
  assertEquals(checkProcesses({ method: "proc", own: KNOWN, child: KNOWN }).outcome, "ok");
  for (
    const facts of [
      { method: "proc", own: NOT_KNOWN, child: KNOWN },
      { method: "ps", own: KNOWN, child: NOT_KNOWN },
    ] as const
  ) {
    assertEquals(checkProcesses(facts).outcome, "undetermined");
  }
});

const WATCHER: WatcherFact = {
  holder: { kind: "recorded", pid: pidOf(4242), liveness: "alive", identity: KNOWN },
  home: { kind: "text", text: "/h" },
  path: { kind: "text", text: "/h/bin/fm-watch.sh" },
  identity: { kind: "text", text: IDENTITY },
  expectedHome: "/h",
  expectedPath: "/h/bin/fm-watch.sh",
  beacon: { kind: "beat", ageSeconds: 5 },
  grace: { FM_GUARD_GRACE: undefined, FM_POLL: undefined },
};

/** What differs from a healthy watcher, and the outcome. */
const WATCHER_CASES: ReadonlyArray<readonly [Partial<WatcherFact>, Check["outcome"]]> = [
  [{}, "ok"],
  [{ holder: { kind: "none" } }, "ok"],
  [{ beacon: { kind: "never" } }, "ok"],
  [{ home: { kind: "text", text: "/other" } }, "wrong"],
  [{ path: { kind: "text", text: "/h//bin/fm-watch.sh" } }, "wrong"],
  [{ holder: { kind: "malformed", because: "text" } }, "wrong"],
  [
    { holder: { kind: "recorded", pid: pidOf(4242), liveness: "alive", identity: NOT_KNOWN } },
    "undetermined",
  ],
];

Deno.test("checkWatcher: a watcher of another home or path is wrong, none is not", () => {
  for (const [change, outcome] of WATCHER_CASES) {
    const check = checkWatcher({ ...WATCHER, ...change });
    assertEquals(check.outcome, outcome, JSON.stringify(change));
  }
});
