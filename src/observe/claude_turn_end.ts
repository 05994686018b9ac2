/** The facts of one Claude turn end: those of every turn end, the host and the session lock. */

import type { ClaudeFacts } from "../decide/claude_turn_end.ts";
import type { ClaudeVariables } from "../decide/claude_settings.ts";
import type { Ask } from "../decide/rule.ts";
import type { Environment } from "../platform/environment.ts";
import { observeSession } from "./session.ts";
import { graceVariables, observeTurnEnd, type TurnEndSources } from "./turn_end.ts";
import { once } from "./once.ts";

/** Where the facts of a Claude turn end are looked for. */
export interface ClaudeSources extends TurnEndSources {
  /** Whether `--cursor` was given too. */
  readonly acceptCursor: boolean;
}

/** Returns the function that Claude's rules ask for their facts. */
export function observeClaudeTurnEnd(sources: ClaudeSources): Ask<ClaudeFacts> {
  const { home, environment, processes, acceptCursor } = sources;
  const turnEnd = observeTurnEnd(sources);
  const observers: { readonly [Name in keyof ClaudeFacts]: () => Promise<ClaudeFacts[Name]> } = {
    payload: () => turnEnd("payload"),
    sessionDirectory: () => turnEnd("sessionDirectory"),
    scope: () => turnEnd("scope"),
    need: () => turnEnd("need"),
    watcher: () => turnEnd("watcher"),
    daemon: () => turnEnd("daemon"),
    acceptCursor: () => Promise.resolve(acceptCursor),
    grokHost: once(() => isGrokHost(environment)),
    session: once(() => observeSession(home.state, environment, processes)),
  };
  return (name) => observers[name]();
}

/**
 * Whether Grok runs this hook, by either of its two variables.
 *
 * `GROK_SESSION_ID` says nothing: Grok leaves it to every child, a Claude session included.
 */
export function isGrokHost(environment: Environment): boolean {
  return environment.get("GROK_AGENT") !== undefined ||
    environment.get("GROK_HOOK_EVENT") !== undefined;
}

/** The variables that Claude's hooks are tuned with. */
export function claudeVariables(environment: Environment): ClaudeVariables {
  return {
    ...graceVariables(environment),
    FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: environment.get("FM_CLAUDE_AUTOARM_SYNC_WAIT_MS"),
    FM_CLAUDE_AUTOARM_EPOCH_FRESH: environment.get("FM_CLAUDE_AUTOARM_EPOCH_FRESH"),
    FM_CLAUDE_TURNEND_BLOCK_BUDGET: environment.get("FM_CLAUDE_TURNEND_BLOCK_BUDGET"),
    FM_CLAUDE_AUTOARM_ATTEMPTS: environment.get("FM_CLAUDE_AUTOARM_ATTEMPTS"),
    CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: environment.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
  };
}
