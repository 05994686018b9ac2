// A session's watcher, kept by its extension: armed when a turn ends, its wakes told as prompts.

import process from "node:process";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  callTurnguard,
  guardBanner,
  isForeignSession,
  marked,
  noteFailure,
  TURNGUARD,
} from "./turnguard.js";

/** Milliseconds, and numbers of tries, as a session's environment may change them. */
function setting(name, preset) {
  const value = Number(process.env[name]);
  return process.env[name] && Number.isFinite(value) && value >= 0 ? value : preset;
}

/** Lines with which an arm says that there is something to do. */
const ACTIONABLE = /^(?:signal:|stale:|check:|heartbeat)/;
const READY = /^watcher: (?:started|attached|healthy)\b/;
const FAILED = /^watcher: FAILED/;
const STARTED = /^watcher: started pid=([0-9]+).*\brecovery-generation=([A-Za-z0-9._-]+)/;

/**
 * Keeps one home watched.
 *
 * `deliver(text)` submits a prompt; what it resolves to does not matter, and when it rejects the wake
 * stays queued and is told again.
 */
export function watchBridge({ root, harness, deliver, steps = 8 }) {
  let arm;
  let stopped = false;
  let failures = 0;

  const start = (predecessor) => {
    const env = { ...process.env };
    delete env.FM_WATCH_PREDECESSOR_ARM_PID;
    if (predecessor) env.FM_WATCH_PREDECESSOR_ARM_PID = String(predecessor);
    let child;
    try {
      child = spawn(TURNGUARD, ["arm", "--root", root], {
        cwd: "/",
        env,
        stdio: ["ignore", "pipe", "ignore"],
      });
    } catch {
      return undefined;
    }
    const lines = [];
    let rest = "";
    let settle;
    const ready = new Promise((done) => settle = done);
    child.stdout.on("data", (part) => {
      const parts = (rest + part.toString("utf8")).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        lines.push(line);
        if (READY.test(line)) settle("armed");
        else if (ACTIONABLE.test(line)) settle("wake");
        else if (FAILED.test(line)) settle("retrying");
      }
    });
    child.on("error", () => settle("skipped"));
    const closed = new Promise((done) => {
      child.on("close", (code) => {
        settle("retrying");
        done(code ?? 1);
      });
      child.on("error", () => done(1));
    });
    return { child, lines, ready, closed };
  };

  const within = (promise, ms, otherwise) => {
    let timer;
    const late = new Promise((done) => timer = setTimeout(() => done(otherwise), ms));
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  };

  const follow = async (current) => {
    await current.closed;
    if (arm !== current) return;
    arm = undefined;
    if (stopped) return;
    const wake = current.lines.filter((line) => ACTIONABLE.test(line));
    if (wake.length === 0) {
      await retry();
      return;
    }
    failures = 0;
    // The next watcher first: a session that handles a wake must not be blind meanwhile.
    const next = begin(current.child.pid);
    const readyMs = setting("FM_OPENCODE_ARM_READY_TIMEOUT_MS", 12_000);
    if (next) await within(next.ready, readyMs, "timeout");
    try {
      await deliver(marked("watcher", wakeText(root, wake)));
    } catch (error) {
      noteFailure(root, harness, error);
      return;
    }
    const [, pid, generation] = next?.lines.map((line) => STARTED.exec(line)).find(Boolean) ?? [];
    if (!pid) return;
    await callTurnguard([
      "arm",
      "--root",
      root,
      "--handling-delivered",
      generation,
      "--watcher-pid",
      pid,
    ]);
  };

  const retry = async () => {
    failures += 1;
    if (failures > setting("FM_WATCH_REARM_RETRY_LIMIT", 5)) return;
    const base = setting("FM_WATCH_REARM_RETRY_BASE_MS", 250);
    const most = setting("FM_WATCH_REARM_RETRY_MAX_MS", 4_000);
    await new Promise((done) => {
      setTimeout(done, Math.min(most, base * 2 ** (failures - 1))).unref?.();
    });
    if (!stopped && arm === undefined) begin();
  };

  const begin = (predecessor) => {
    arm = start(predecessor);
    if (arm) void follow(arm);
    return arm;
  };

  return {
    /**
     * Sees to it that the home is watched, and says how that stands: `armed`, `wake`, `existing`,
     * `not-needed`, `read-only`, `retrying`, `timeout` or `skipped`.
     */
    ensureArmed: async () => {
      if (stopped) return "skipped";
      if (isForeignSession(root, steps)) return "read-only";
      if (arm) {
        return await within(
          arm.ready,
          setting("FM_OPENCODE_ARM_READY_TIMEOUT_MS", 12_000),
          "timeout",
        );
      }
      // Nothing to watch, or somebody watches already.
      if (await guardBanner(root) === undefined) return "not-needed";
      failures = 0;
      const started = arm ?? begin();
      if (!started) return "skipped";
      return await within(
        started.ready,
        setting("FM_OPENCODE_ARM_READY_TIMEOUT_MS", 12_000),
        "timeout",
      );
    },
    /** Ends the arm of a session that ends. */
    stop: async () => {
      stopped = true;
      const last = arm;
      arm = undefined;
      if (!last) return;
      last.child.kill("SIGTERM");
      const retire = setting("FM_WATCH_ARM_RETIRE_TIMEOUT_MS", 1_000);
      if (await within(last.closed, retire, "late") === "late") last.child.kill("SIGKILL");
    },
  };
}

function wakeText(root, wake) {
  const script = join(root, "bin", "fm-wake-drain.sh");
  const drain = existsSync(script)
    ? "bin/fm-wake-drain.sh"
    : `${TURNGUARD} wake drain --root ${root}`;
  return `${
    wake.join("\n")
  }\n\nThis home has reports that nobody has handled. Run ${drain} first, ` +
    "handle what it shows, and acknowledge it as it says. The next watcher is armed already.";
}
