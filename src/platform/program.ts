/** Other programs, started by absolute path from a fixed list and with an environment of our own. */

/** Folders that hold system programs, in the order they are asked. */
const PROGRAM_FOLDERS = ["/bin", "/usr/bin", "/usr/sbin"] as const;

/** Milliseconds after which a helper program is given up. */
const PROGRAM_LIMIT_MS = 2_000;

/** What a helper program answered. */
export type ProgramOutput =
  | { readonly kind: "answered"; readonly success: boolean; readonly stdout: Uint8Array }
  | { readonly kind: "failed"; readonly because: "not found" | "no answer" | "not startable" };

/**
 * Runs the system program `name` and returns what it wrote to standard output.
 *
 * `PATH` is never asked: in a hook it is whatever the session made of it. The child sees only
 * `environment`, because an inherited `LD_PRELOAD` or locale would change what it prints. It is
 * given up after two seconds: reading another process can hang in the kernel, and a helper in that
 * state does not even answer SIGKILL.
 */
export async function runProgram(
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ProgramOutput> {
  for (const folder of PROGRAM_FOLDERS) {
    const answer = await runAt(`${folder}/${name}`, args, environment);
    if (answer.kind === "answered" || answer.because !== "not found") return answer;
  }
  return { kind: "failed", because: "not found" };
}

async function runAt(
  path: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProgramOutput> {
  let timer: number | undefined;
  try {
    const child = new Deno.Command(path, {
      args: [...args],
      clearEnv: true,
      env: { LC_ALL: "C", PATH: PROGRAM_FOLDERS.join(":"), ...environment },
      // The caller's directory may have been removed; the root never is.
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const limit = new Promise<"no answer">((resolve) => {
      timer = setTimeout(() => resolve("no answer"), PROGRAM_LIMIT_MS);
    });
    const output = await Promise.race([child.output(), limit]);
    if (output === "no answer") {
      child.kill("SIGKILL");
      return { kind: "failed", because: output };
    }
    return { kind: "answered", success: output.success, stdout: output.stdout };
  } catch (error) {
    const because = error instanceof Deno.errors.NotFound ? "not found" : "not startable";
    return { kind: "failed", because };
  } finally {
    clearTimeout(timer);
  }
}
