/**
 * Child processes that do nothing but live, with their end guaranteed.
 *
 * Each reads a pipe that only this process holds, so it also ends when the test run is killed.
 *
 * @module
 */

import { join } from "@std/path";
import { isFile } from "./files.ts";

/** A living process of this user. */
export interface Sleeper extends AsyncDisposable {
  readonly pid: number;
  /** Kills it and waits until its pid is free again. */
  end(): Promise<void>;
}

/** Starts a process that lives until it is ended. */
export function startSleeper(command = "/bin/cat", args: readonly string[] = []): Sleeper {
  const child = new Deno.Command(command, {
    args: [...args],
    clearEnv: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return sleeperOf(child);
}

/** A process that has ended but is still listed, because its parent does not ask for its status. */
export interface Zombie extends AsyncDisposable {
  readonly pid: number;
}

/** Makes a real zombie, of a program that lives on what it reads. Needs a `/proc`. */
export async function startZombie(program = "/bin/cat"): Promise<Zombie> {
  const parent = new Deno.Command("/bin/sh", {
    // The shell turns into `cat`, which never asks for the status of the child it inherited.
    args: ["-c", 'exec 3<&0; "$0" <&3 & echo $!; exec /bin/cat >/dev/null', program],
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const sleeper = sleeperOf(parent);
  try {
    const reader = parent.stdout.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const pid = Number(new TextDecoder().decode(value).trim());
    await until(() => Deno.readTextFileSync(`/proc/${parent.pid}/cmdline`) === "/bin/cat\0");
    // Until then it would end under the shell's name.
    await until(() => Deno.readTextFileSync(`/proc/${pid}/cmdline`).startsWith(`${program}\0`));
    Deno.kill(pid, "SIGKILL");
    await until(() => stateOf(pid) === "Z");
    return { pid, [Symbol.asyncDispose]: () => sleeper.end() };
  } catch (error) {
    await sleeper.end();
    throw error;
  }
}

/** A pid that no process has: that of a child which was just waited for. */
export async function deadPid(): Promise<number> {
  const child = new Deno.Command("/bin/true", { stdin: "null", stdout: "null", stderr: "null" })
    .spawn();
  await child.status;
  return child.pid;
}

/**
 * The identity of a process, worked out from the published format alone, without the code under
 * test.
 */
export async function identityOf(pid: number): Promise<string> {
  if (Deno.build.os !== "linux") return await identityByPs(pid);
  // A process that was just started shows an empty command line for a moment.
  await until(() => Deno.readFileSync(`/proc/${pid}/cmdline`).length > 0);
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const hex = [...Deno.readFileSync(`/proc/${pid}/cmdline`)]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `linux-starttime=${words[19]} cmdline-hex=${hex}`;
}

async function identityByPs(pid: number): Promise<string> {
  const { stdout } = await new Deno.Command("/bin/ps", {
    args: ["-p", String(pid), "-o", "lstart=", "-o", "command="],
    clearEnv: true,
    env: { LC_ALL: "C", COLUMNS: "10000" },
  }).output();
  return new TextDecoder().decode(stdout).replace(/\n+$/, "").replace(/^ +/gm, "");
}

/**
 * A link to the shell under the name `name`, so that a process started through it carries that name
 * in process lists.
 */
export function namedShell(folder: string, name: string): string {
  const path = join(folder, name);
  Deno.symlinkSync("/bin/sh", path);
  return path;
}

/**
 * A command that runs `command` below a line of shells, the outermost first.
 *
 * The trailing `exit` keeps each shell from being replaced by what it runs.
 */
export function below(shells: readonly string[], command: readonly string[]): readonly string[] {
  return shells.toReversed().reduce<readonly string[]>(
    (inner, shell) => [shell, "-c", '"$@"; exit $?', "-", ...inner],
    command,
  );
}

/** Whether the tests run as the superuser, who can take on another user's id. */
export function isSuperuser(): boolean {
  return Deno.uid() === 0;
}

/** A user that owns nothing: the id that `nobody` has everywhere. */
export const OTHER_USER = 65_534;

/** Words that run a command as {@link OTHER_USER}, or `undefined` where that cannot be done. */
export function asOtherUser(command: readonly string[]): readonly string[] | undefined {
  const setpriv = "/usr/bin/setpriv";
  if (!isSuperuser() || !isFile(setpriv)) return undefined;
  const id = String(OTHER_USER);
  return [setpriv, `--reuid=${id}`, `--regid=${id}`, "--clear-groups", ...command];
}

/** For a test that needs what only Linux has. */
export const ON_LINUX = { ignore: Deno.build.os !== "linux" };

/**
 * For a test that needs {@link asOtherUser}: modes of files mean nothing to the superuser, and only the
 * superuser can become somebody else.
 */
export const AS_OTHER_USER = { ignore: asOtherUser([]) === undefined };

/** Waits for a state of the system that announces itself by no event. */
export async function until(holds: () => boolean, limitMs = 10_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`still not so after ${limitMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function stateOf(pid: number): string | undefined {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[0];
  } catch {
    return undefined;
  }
}

function sleeperOf(child: Deno.ChildProcess): Sleeper {
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => ended ??= endChild(child);
  return { pid: child.pid, end, [Symbol.asyncDispose]: end };
}

async function endChild(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended by itself.
  }
  await child.status;
  await child.stdin.abort().catch(() => {});
}
