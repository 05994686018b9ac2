/**
 * The strict proof of a watcher, and the daemon's in away mode.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { judgeDaemon } from "../../src/decide/away_daemon.ts";
import type { DaemonFact, HolderFact, WatcherFact } from "../../src/decide/facts.ts";
import type { FileText } from "../../src/platform/file_text.ts";
import type { Liveness } from "../../src/platform/liveness.ts";
import { judgeWatcher } from "../../src/decide/watcher_health.ts";
import { identityNamed, pidOf } from "../support/facts.ts";

const HOME = "/h";
const PATH = "/h/bin/fm-watch.sh";
const IDENTITY = identityNamed("linux-starttime=1 cmdline-hex=61");
const ABSENT: FileText = { kind: "absent" };
const UNREADABLE: FileText = { kind: "unreadable", because: "permission denied" };

const ALIVE: HolderFact = recorded("alive", { kind: "known", identity: IDENTITY });
const UNKNOWN_IDENTITY = { kind: "unknown", because: "no command line" } as const;

const HEALTHY: WatcherFact = {
  holder: ALIVE,
  home: text(HOME),
  path: text(PATH),
  identity: text(IDENTITY),
  expectedHome: HOME,
  expectedPath: PATH,
  beacon: { kind: "beat", ageSeconds: 5 },
  grace: grace(undefined),
};

/** What differs from a healthy watcher, and the verdict: `healthy`, `unknown` or a fault. */
const WATCHERS: ReadonlyArray<readonly [what: string, Partial<WatcherFact>, verdict: string]> = [
  ["everything right", {}, "healthy"],
  ["nobody holds the lock", { holder: { kind: "none" } }, "unheld"],
  ["pid malformed", { holder: { kind: "malformed", because: "x" } }, "malformed-pid"],
  ["dead", { holder: recorded("dead", UNKNOWN_IDENTITY) }, "dead"],
  ["another user's", { holder: recorded("foreign", UNKNOWN_IDENTITY) }, "not-ours-to-signal"],
  ["liveness unknown", { holder: recorded("unknown", UNKNOWN_IDENTITY) }, "identity-unknown"],
  ["a zombie", { holder: recorded("alive", UNKNOWN_IDENTITY) }, "identity-unknown"],
  ["reused pid", { identity: text("linux-starttime=2 cmdline-hex=61") }, "pid-reused"],
  ["identity cut short", { identity: text(IDENTITY.slice(0, -1)) }, "pid-reused"],
  ["identity with a line more", { identity: text(`${IDENTITY}\nx`) }, "pid-reused"],
  ["identity not recorded", { identity: ABSENT }, "identity-not-recorded"],
  ["identity empty", { identity: text("") }, "identity-not-recorded"],
  ["identity closed", { identity: UNREADABLE }, "identity-unknown"],
  ["other home", { home: text("/other") }, "other-home"],
  ["home with a slash more", { home: text(`${HOME}/`) }, "other-home"],
  ["home not recorded", { home: ABSENT }, "other-home"],
  ["home closed", { home: UNREADABLE }, "other-home"],
  ["other path", { path: text("/other") }, "other-path"],
  ["path not recorded", { path: ABSENT }, "other-path"],
  ["no beat", { beacon: { kind: "never" } }, "beacon-never"],
  ["beat unreadable", { beacon: { kind: "unreadable" } }, "beacon-unreadable"],
  ["beat at the grace", beat(300), "beacon-stale"],
  ["beat below the grace", beat(299), "healthy"],
  ["beat in the near future", beat(-60), "healthy"],
  ["beat far in the future", beat(-61), "clock-skew"],
  ["poll longer than the grace", {
    ...beat(400),
    grace: grace(undefined, "600"),
  }, "beacon-stale"],
  ["no grace", { grace: grace("0") }, "beacon-stale"],
  ["no grace, beat in the future", {
    ...beat(-1),
    grace: grace("0"),
  }, "healthy"],
  ["malformed grace", { grace: grace("abc") }, "healthy"],
  ["other home and a zombie", {
    holder: recorded("alive", UNKNOWN_IDENTITY),
    home: text("/other"),
  }, "other-home"],
];

Deno.test("judgeWatcher: only a proven process of this home with a fresh beat is healthy", () => {
  for (const [what, change, verdict] of WATCHERS) {
    const health = judgeWatcher({ ...HEALTHY, ...change });
    assertEquals<string>(health.kind === "healthy" ? "healthy" : health.because, verdict, what);
  }
});

Deno.test("judgeWatcher: what could not be found out is unknown, never down", () => {
  for (
    const holder of [recorded("alive", UNKNOWN_IDENTITY), recorded("unknown", UNKNOWN_IDENTITY)]
  ) {
    assertEquals(judgeWatcher({ ...HEALTHY, holder }).kind, "unknown");
  }
});

const OWNING: DaemonFact = {
  mode: "away",
  holder: ALIVE,
  identity: text(IDENTITY),
  beacon: { kind: "beat", ageSeconds: 200 },
  grace: grace(undefined),
};

/** What differs from an owning daemon, and the verdict: `owns`, `unknown` or a fault. */
const DAEMONS: ReadonlyArray<readonly [what: string, Partial<DaemonFact>, verdict: string]> = [
  ["away", {}, "owns"],
  ["quiet", { mode: "quiet" }, "owns"],
  ["off", { mode: "off" }, "mode-off"],
  ["nobody", { holder: { kind: "none" } }, "unheld"],
  ["dead", { holder: recorded("dead", UNKNOWN_IDENTITY) }, "dead"],
  ["another user's", { holder: recorded("foreign", UNKNOWN_IDENTITY) }, "not-ours-to-signal"],
  ["a zombie", { holder: recorded("alive", UNKNOWN_IDENTITY) }, "identity-unknown"],
  ["reused pid", { identity: text("x") }, "pid-reused"],
  ["no identity", { identity: ABSENT }, "identity-not-recorded"],
  ["stale", { beacon: { kind: "beat", ageSeconds: 300 } }, "beacon-not-fresh"],
  ["no beat", { beacon: { kind: "never" } }, "beacon-not-fresh"],
  ["clock skew", { beacon: { kind: "beat", ageSeconds: -61 } }, "beacon-not-fresh"],
  ["longer grace", {
    beacon: { kind: "beat", ageSeconds: 400 },
    grace: grace(undefined, "600"),
  }, "owns"],
];

Deno.test("judgeDaemon: owns only with the flag, a proven process and a fresh beat", () => {
  for (const [what, change, verdict] of DAEMONS) {
    const ownership = judgeDaemon({ ...OWNING, ...change });
    assertEquals<string>(ownership.kind === "owns" ? "owns" : ownership.because, verdict, what);
  }
});

function recorded(
  liveness: Liveness,
  identity: Extract<HolderFact, { kind: "recorded" }>["identity"],
): HolderFact {
  return { kind: "recorded", pid: pidOf(4242), liveness, identity };
}

function beat(ageSeconds: number): Partial<WatcherFact> {
  return { beacon: { kind: "beat", ageSeconds } };
}

function grace(seconds: string | undefined, poll?: string): WatcherFact["grace"] {
  return { FM_GUARD_GRACE: seconds, FM_POLL: poll };
}

function text(value: string): FileText {
  return { kind: "text", text: value };
}
