/** The harnesses that turnguard knows by name. */

/** A coding-agent harness; `unknown` is any other host. */
export type HarnessName =
  | "claude"
  | "codex"
  | "opencode"
  | "grok"
  | "kimi"
  | "pi"
  | "pi-signed"
  | "omp"
  | "cursor"
  | "gemini"
  | "rovo"
  | "muse"
  | "unknown";
