/**
 * What the executable may do: declared here, and nowhere else.
 *
 * There is no network, no native library and no system information in it. It
 * starts programs and signals processes, which needs the whole `run`
 * permission: this limits damage from a mistake, it is no sandbox.
 *
 * @module
 */

/** The environment variables it may read; a `*` at the end stands for any rest. */
export const READABLE_ENVIRONMENT: readonly string[] = [
  "FM_*",
  "TURNGUARD_*",
  "CLAUDE_*",
  "CLAUDECODE",
  "CURSOR_*",
  "GROK_*",
  "PI_*",
  "GEMINI_CLI",
  "ATLASSIAN_AGENT_TYPE",
  "ROVODEV_CLI",
  "CODEX_*",
  "KIMI_*",
  "HOME",
  "PATH",
  "PWD",
  "TMPDIR",
  "TZ",
  "USER",
  "SHELL",
  "TERM",
  "COLUMNS",
  "NO_COLOR",
  "FORCE_COLOR",
  "LANG",
  "LC_ALL",
  "XDG_*",
  "STATE",
];

/**
 * The flags of `deno compile` that are stored in the executable.
 *
 * `--no-prompt` belongs here, since a hook that asks a question hangs its
 * session. `--no-code-cache` does, since the cache is a file in the temporary
 * folder that any program can plant. With `--ignore-env` a variable outside
 * the list reads as unset instead of throwing. A hook is over before any code
 * of it is hot, and a parked one waits for hours: the engine's lite mode leaves
 * the compilers out, which saves close to 3 MiB and costs no time.
 */
export const BAKED_FLAGS: readonly string[] = [
  "--no-prompt",
  "--no-code-cache",
  "--v8-flags=--lite-mode",
  "--allow-read",
  "--allow-write",
  "--allow-run",
  `--allow-env=${READABLE_ENVIRONMENT.join(",")}`,
  "--ignore-env",
];
