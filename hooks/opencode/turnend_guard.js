// Guards the ends of OpenCode's turns: a turn that would end blind gets one follow-up.

import process from "node:process";
import {
  blindTurn,
  checkoutOf,
  guardBanner,
  marked,
  noteFailure,
  realPath,
} from "../common/turnguard.js";

const ID = "fm-primary-turnend-guard";

/** Results of the watch bridge after which there is nothing left to say. */
const SETTLED = ["armed", "wake", "failed"];

function rootOf(worktree, directory) {
  // Outside of a checkout, OpenCode 1 names the root of the file system.
  if (worktree && worktree !== "/") return realPath(worktree);
  return checkoutOf(directory ?? process.cwd());
}

/** Whether the watch bridge has dealt with this end. */
async function isArmed(...words) {
  const bridge = globalThis.__firstmateOpenCodeWatchArm;
  if (typeof bridge?.ensureArmed !== "function") return false;
  try {
    return SETTLED.includes(await bridge.ensureArmed(...words));
  } catch {
    return false;
  }
}

/** The prompt for a turn that must not end, else nothing. */
async function followUp(root) {
  const banner = await guardBanner(root);
  return banner === undefined ? undefined : marked("turn-end-guard", blindTurn(banner));
}

/** The guard of OpenCode 1. */
export function FmPrimaryTurnendGuard({ client, directory, worktree }) {
  const root = rootOf(worktree, directory);
  let skipNextIdle = false;
  return Promise.resolve({
    event: async ({ event }) => {
      if (event?.type !== "session.idle") return;
      // The end of the turn that the follow-up itself has made.
      if (skipNextIdle) {
        skipNextIdle = false;
        return;
      }
      const id = event.properties?.sessionID;
      if (!id) return;
      if (await isArmed(id, client)) return;
      const text = await followUp(root);
      if (text === undefined) return;
      try {
        await client.session.promptAsync({
          path: { id },
          body: { parts: [{ type: "text", text }] },
        });
        skipNextIdle = true;
      } catch (error) {
        skipNextIdle = false;
        noteFailure(root, "opencode", error);
      }
    },
  });
}

const TERMINAL = [
  "session.execution.succeeded",
  "session.execution.failed",
  "session.execution.interrupted",
];

/** The guard of OpenCode 2. */
function setup(ctx) {
  // Some builds of OpenCode 1 call this as well, with nothing to subscribe to.
  if (typeof ctx?.event?.subscribe !== "function") return undefined;
  const directory = ctx.location?.directory;
  const root = rootOf(undefined, directory);
  const controller = new AbortController();
  const settled = new Set();
  const skip = new Set();
  let bound;

  const binds = async (sessionID) => {
    if (bound !== undefined) return bound === sessionID;
    const session = await ctx.session.get({ sessionID });
    const place = session?.location?.directory ?? session?.directory;
    if (!session || session.parentID || (place !== undefined && place !== directory)) return false;
    bound = sessionID;
    return true;
  };

  const handle = async ({ type, data, location }) => {
    const sessionID = data?.sessionID ?? data?.session?.id ?? data?.info?.id;
    if (type === "session.execution.started") return void settled.delete(sessionID);
    if (type === "session.deleted" && sessionID === bound) {
      bound = undefined;
      return;
    }
    if (type === "session.created") {
      const info = data?.session ?? data?.info ?? data;
      const place = location?.directory ?? info?.location?.directory;
      if (bound === undefined && !info?.parentID && place === directory) bound = sessionID;
      return;
    }
    if (!TERMINAL.includes(type) || !sessionID || settled.has(sessionID)) return;
    settled.add(sessionID);
    // A child's turn must not trip the guard of the session that waits for it.
    if (!await binds(sessionID)) return;
    if (skip.delete(sessionID)) return;
    if (await isArmed(sessionID)) return;
    const text = await followUp(root);
    if (text === undefined) return;
    try {
      await ctx.session.prompt({ sessionID, text, delivery: "queue" });
      skip.add(sessionID);
    } catch (error) {
      skip.delete(sessionID);
      noteFailure(root, "opencode", error);
    }
  };

  const consume = async () => {
    try {
      for await (const event of ctx.event.subscribe({ signal: controller.signal })) {
        try {
          await handle(event);
        } catch (error) {
          console.error(`${ID}: one event was left: ${error?.message ?? error}`);
        }
      }
    } catch (error) {
      if (!controller.signal.aborted) {
        console.error(`${ID}: no more events: ${error?.message ?? error}`);
      }
    }
  };
  void consume();
  return () => controller.abort();
}

export default { id: ID, setup, server: FmPrimaryTurnendGuard };
