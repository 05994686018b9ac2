// What every extension needs of turnguard: calling it, and marking what a program says.

import { Buffer } from "node:buffer";
import process from "node:process";
import { spawn } from "node:child_process";
import {
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Absolute path of the executable; put in when the extension is installed. */
export const TURNGUARD = "turnguard";

/** A call that takes longer than that is given up: a turn must not wait for it. */
const CALL_LIMIT_MS = 15_000;

/**
 * Calls the executable. Never throws and never rejects: a call that cannot be made allows.
 *
 * @param {readonly string[]} args
 * @param {string} input
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
export function callTurnguard(args, input = "") {
  return new Promise((done) => {
    const allow = { code: 0, stdout: "", stderr: "" };
    const out = [];
    const err = [];
    let child;
    try {
      // The session's directory may have been removed; the root never is.
      child = spawn(TURNGUARD, [...args], { cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
    } catch {
      done(allow);
      return;
    }
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      done(allow);
    }, CALL_LIMIT_MS);
    child.on("error", () => {
      clearTimeout(timer);
      done(allow);
    });
    child.stdin.on("error", () => {});
    child.stdout.on("data", (part) => out.push(part));
    child.stderr.on("data", (part) => err.push(part));
    child.on("close", (code) => {
      clearTimeout(timer);
      const text = (parts) => Buffer.concat(parts).toString("utf8");
      done({ code: code ?? 0, stdout: text(out), stderr: text(err) });
    });
    child.stdin.end(input);
  });
}

/** A prompt that a program submits; the mark tells the session that no person typed it. */
export function marked(kind, body) {
  return `\u2063FIRSTMATE_OP: v1 ${kind}: ${body}`;
}

/** What a session is told about a turn that must not end, the guard's own words unchanged. */
export function blindTurn(banner) {
  return "TURN WOULD END BLIND - supervision is off. The watcher cycle is missing, failed, or " +
    `unhealthy; do what the recovery instruction below says first.\n\n${banner}`;
}

/** The guard's banner when the turn must not end, else nothing. */
export async function guardBanner(root, active = false) {
  const input = JSON.stringify({ stop_hook_active: active });
  const { code, stderr } = await callTurnguard(["stop", "--root", root], input);
  return code === 2 ? stderr : undefined;
}

/** The state directory of the home at `root`. */
export function stateOf(root) {
  const { FM_STATE_OVERRIDE, FM_HOME, FM_ROOT_OVERRIDE } = process.env;
  return FM_STATE_OVERRIDE || join(FM_HOME || FM_ROOT_OVERRIDE || root, "state");
}

/** Leaves word of a turn end that could not be told; the next warning says so. Never throws. */
export function noteFailure(root, harness, error) {
  const cause = String(error?.message ?? error).replace(/\s+/g, " ").slice(0, 200);
  const seconds = Math.floor(Date.now() / 1000);
  writeQuietly(
    join(stateOf(root), ".turnguard-adapter-failure"),
    `${seconds}\t${harness}\t${cause}\n`,
  );
}

/** Replaces a file whose folder is there. Never throws. */
export function writeQuietly(path, text) {
  try {
    if (!statSync(dirname(path)).isDirectory()) return false;
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, path);
    return true;
  } catch {
    return false;
  }
}

/** A path with its links resolved, or made absolute where that is not possible. */
export function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** The nearest folder from `path` upwards that is a checkout, or else `path` itself. */
export function checkoutOf(path) {
  for (let folder = realPath(path);; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return realPath(path);
  }
}

/** This process and those above it, as far as they can be told. */
export function ancestry(most) {
  const pids = [process.pid];
  while (pids.length <= most) {
    const parent = parentOf(pids[pids.length - 1]);
    if (!parent || parent <= 1) break;
    pids.push(parent);
  }
  return pids;
}

function parentOf(pid) {
  if (pid === process.pid) return process.ppid;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

/** Line 1 of the session lock of `root`; empty without one. */
export function sessionLine(root) {
  try {
    return readFileSync(join(stateOf(root), ".lock"), "utf8").split("\n")[0] ?? "";
  } catch {
    return "";
  }
}

/** Whether another live process holds the session lock of `root`. */
export function isForeignSession(root, steps) {
  const line = sessionLine(root);
  if (line === "") return false;
  if (!/^[0-9]+$/.test(line) || line === "1") return true;
  const pid = Number(line);
  return !ancestry(steps).includes(pid) && isAlive(pid);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error?.code === "EPERM";
  }
}
