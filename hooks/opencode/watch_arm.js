// Watches a home for OpenCode: armed when a turn ends, wakes told as prompts.

import process from "node:process";
import { checkoutOf, realPath } from "../common/turnguard.js";
import { watchBridge } from "../common/watch_bridge.js";

const ID = "fm-primary-watch-arm";

/** Publishes the bridge under the key that the guard asks. */
function publish(root, send) {
  let last;
  const bridge = watchBridge({ root, harness: "opencode", deliver: (text) => send(last, text) });
  globalThis.__firstmateOpenCodeWatchArm = {
    ensureArmed: (sessionID, client) => {
      last = { sessionID, client };
      return bridge.ensureArmed();
    },
  };
  return bridge;
}

/** The bridge of OpenCode 1. */
export function FmPrimaryWatchArm({ client, directory, worktree }) {
  const root = worktree && worktree !== "/" ? realPath(worktree) : checkoutOf(directory);
  const bridge = publish(root, (last, text) =>
    (last.client ?? client).session.promptAsync({
      path: { id: last.sessionID },
      body: { parts: [{ type: "text", text }] },
    }));
  process.once("exit", () => void bridge.stop());
  return Promise.resolve({});
}

/** The bridge of OpenCode 2. */
function setup(ctx) {
  // Some builds of OpenCode 1 call this as well, with nothing to subscribe to.
  if (typeof ctx?.event?.subscribe !== "function") return undefined;
  const bridge = publish(
    checkoutOf(ctx.location?.directory ?? process.cwd()),
    (last, text) => ctx.session.prompt({ sessionID: last.sessionID, text, delivery: "queue" }),
  );
  return () => void bridge.stop();
}

export default { id: ID, setup, server: FmPrimaryWatchArm };
