/** Where the session of a hook works, for registrations that are tied to their root. */

import type { SessionDirectoryFact } from "../decide/facts.ts";
import { isHookBearingRoot } from "../harness/codex.ts";

/** How a registration ties its hook to a directory. */
export interface Anchor {
  /** Harness whose registration must stand in the root. */
  readonly harness: "codex";
  /** The session's working directory as the registration passed it; empty when it had none. */
  readonly sessionDirectory: string;
}

/**
 * Compares the session's directory with `root`, both with their links resolved.
 *
 * A nested project inherits the hooks of the folders above it but must not be stopped for their
 * work, so only a session in the root itself is guarded. A directory that was removed cannot be
 * compared; the registration then still names the root.
 */
export function observeSessionDirectory(
  root: string,
  anchor: Anchor | undefined,
): SessionDirectoryFact {
  if (anchor === undefined) return { kind: "not-anchored" };
  if (!isHookBearingRoot(root)) {
    return { kind: "elsewhere", because: `the root carries no ${anchor.harness} registration` };
  }
  const directory = physical(anchor.sessionDirectory);
  if (directory === undefined) return { kind: "unknown" };
  return directory === physical(root)
    ? { kind: "at-root" }
    : { kind: "elsewhere", because: "the session works in another folder than the root" };
}

function physical(path: string): string | undefined {
  try {
    return path.startsWith("/") ? Deno.realPathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
