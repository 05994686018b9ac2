/** The programs by which schedules are made: found in fixed places, started with little around them. */

import type { Environment } from "../../platform/environment.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { targetKind } from "../../platform/path_kind.ts";

/** Where each program may be; `PATH` is never asked, since it is whatever the session made of it. */
const PLACES = {
  systemctl: ["/usr/bin/systemctl", "/bin/systemctl", "/run/current-system/sw/bin/systemctl"],
  crontab: ["/usr/bin/crontab", "/bin/crontab", "/run/wrappers/bin/crontab"],
  launchctl: ["/bin/launchctl"],
} as const;

/** A program that may be started. */
export type ProgramName = keyof typeof PLACES;

/** What a program came to. */
export type ProgramAnswer =
  | {
    readonly kind: "ended";
    readonly status: number;
    readonly stdout: Uint8Array<ArrayBuffer>;
    readonly stderr: string;
  }
  | { readonly kind: "failed"; readonly because: string };

/** Starts the programs that schedules are made with. */
export interface Programs {
  has(name: ProgramName): boolean;
  run(
    name: ProgramName,
    args: readonly string[],
    input?: Uint8Array<ArrayBuffer>,
  ): Promise<ProgramAnswer>;
}

/** Milliseconds after which a program is given up: a service manager may be busy for a while. */
const LIMIT_MS = 20_000;

/** The programs of this host. `places` is for tests, which bring programs of their own. */
export function hostPrograms(
  environment: Environment,
  places: Readonly<Record<ProgramName, readonly string[]>> = PLACES,
): Programs {
  const find = (name: ProgramName) => places[name].find((path) => targetKind(path) === "file");
  const variables = minimalEnvironment(environment);
  return {
    has: (name) => find(name) !== undefined,
    run: async (name, args, input) => {
      const path = find(name);
      if (path === undefined) return { kind: "failed", because: `there is no ${name}` };
      return await runAt(path, args, variables, input);
    },
  };
}

/** What a user's own service manager is found by. Anything inherited could change what is printed. */
function minimalEnvironment(environment: Environment): Record<string, string> {
  const home = environment.get("HOME");
  const user = environment.get("USER");
  const runtime = environment.get("XDG_RUNTIME_DIR") ?? usualRuntimeFolder(home);
  return {
    LC_ALL: "C",
    PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
    ...(home === undefined ? {} : { HOME: home }),
    ...(user === undefined ? {} : { USER: user, LOGNAME: user }),
    ...(runtime === undefined ? {} : { XDG_RUNTIME_DIR: runtime }),
  };
}

/** Sessions that were not made by a login (`su`, a harness) lack the variable, not the folder. */
function usualRuntimeFolder(home: string | undefined): string | undefined {
  const user = home === undefined ? undefined : ownerOf(home);
  return user === undefined ? undefined : `/run/user/${user}`;
}

/** The user that a file belongs to, or `undefined` when it cannot be told. */
export function ownerOf(path: string): number | undefined {
  try {
    return Deno.statSync(path).uid ?? undefined;
  } catch {
    return undefined;
  }
}

async function runAt(
  path: string,
  args: readonly string[],
  environment: Record<string, string>,
  input: Uint8Array<ArrayBuffer> | undefined,
): Promise<ProgramAnswer> {
  let timer: number | undefined;
  try {
    const child = new Deno.Command(path, {
      args: [...args],
      clearEnv: true,
      env: environment,
      cwd: "/",
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const fed = input === undefined ? undefined : feed(child.stdin, input);
    const limit = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), LIMIT_MS);
    });
    const output = await Promise.race([child.output(), limit]);
    if (output === "late") {
      child.kill("SIGKILL");
      return { kind: "failed", because: `${path} did not end within ${LIMIT_MS / 1_000} s` };
    }
    await fed;
    const stderr = new TextDecoder().decode(output.stderr).trim();
    return { kind: "ended", status: output.code, stdout: output.stdout, stderr };
  } catch (error) {
    return { kind: "failed", because: `${path} cannot be started: ${errorMessage(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

async function feed(
  stdin: WritableStream<Uint8Array<ArrayBuffer>>,
  input: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(input);
    await writer.close();
  } catch {
    // A program that refuses need not read; its status tells.
  }
}

/** Why an answer is no success, in one line; `undefined` when it is one. */
export function failureOf(what: string, answer: ProgramAnswer): string | undefined {
  if (answer.kind === "failed") return answer.because;
  if (answer.status === 0) return undefined;
  const said = answer.stderr.split("\n")[0] ?? "";
  return `${what} ended with status ${answer.status}${said === "" ? "" : `: ${said}`}`;
}
