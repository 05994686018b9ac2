// deno-lint-ignore-file explicit-function-return-type -- plain JavaScript, which Node runs as it is
// A host of extensions that does what a test says: started with a JSON object of the module's path, the
// kind of host and the steps; prints a JSON array of what came of each step.

import process from "node:process";
import { pathToFileURL } from "node:url";

const { module, kind, directory, worktree, steps } = JSON.parse(process.argv[2]);
const told = [];
let failing = false;
let sent = [];

function deliver(entry) {
  if (failing) throw new Error("the host takes no prompt");
  sent.push(entry);
}

async function openCode1(exports) {
  const client = {
    session: {
      promptAsync: ({ path, body }) => {
        deliver([path.id, body.parts[0].text]);
        return Promise.resolve();
      },
    },
  };
  const entry = exports.default?.server ??
    Object.values(exports).find((each) => typeof each === "function");
  const hooks = await entry({ client, directory, worktree });
  return { event: (event) => hooks.event?.({ event }), client };
}

function openCode2(exports) {
  const waiting = [];
  let wake;
  let drained;
  const events = {
    async *[Symbol.asyncIterator]() {
      while (true) {
        if (waiting.length === 0) {
          drained?.();
          await new Promise((next) => wake = next);
        }
        const next = waiting.shift();
        if (next === "end") return;
        if (next === "break") throw new Error("the stream broke");
        yield next;
      }
    },
  };
  const sessions = new Map();
  const stop = exports.default.setup({
    location: { directory },
    event: { subscribe: () => events },
    session: {
      get: ({ sessionID }) => Promise.resolve(sessions.get(sessionID)),
      prompt: ({ sessionID, text, delivery }) => {
        deliver([sessionID, text, delivery]);
        return Promise.resolve();
      },
    },
  });
  return {
    session: (id, info) => void sessions.set(id, info),
    event: async (event) => {
      waiting.push(event);
      const idle = new Promise((done) => drained = done);
      wake?.();
      if (event !== "end" && event !== "break") await idle;
    },
    stop,
  };
}

function extension(exports) {
  const handlers = new Map();
  exports.default({
    on: (name, handler) => handlers.set(name, [...handlers.get(name) ?? [], handler]),
    sendUserMessage: async (text, options) => {
      deliver([options.deliverAs, text]);
      // A host may run into the end of the follow-up before it returns.
      if (steps.reenter) {
        for (const handler of handlers.get("agent_settled") ?? []) await handler({});
      }
    },
    registerTool: (tool) => handlers.set(`tool:${tool.name}`, [() => tool.execute()]),
  });
  return {
    emit: async (name, payload) => {
      const results = [];
      for (const handler of handlers.get(name) ?? []) {
        results.push(await handler(payload ?? {}, {}));
      }
      return results;
    },
  };
}

const exports = await import(pathToFileURL(module).href);
const host = kind === "opencode1"
  ? await openCode1(exports)
  : kind === "opencode2"
  ? openCode2(exports)
  : extension(exports);
for (const step of steps) {
  sent = [];
  const result = {};
  if (step.event) await host.event(step.event);
  if (step.session) host.session(step.session, step.info);
  if (step.emit) {
    result.returned = (await host.emit(step.emit, step.payload)).filter((each) => each);
  }
  if ("failing" in step) failing = step.failing;
  if ("coordinator" in step) {
    globalThis.__firstmateOpenCodeWatchArm = step.coordinator === null
      ? undefined
      : { ensureArmed: () => Promise.resolve(step.coordinator) };
  }
  if (step.arm) {
    const bridge = globalThis[step.arm];
    result.status = await bridge.ensureArmed("S1", host.client);
  }
  if (step.until) {
    const end = Date.now() + 30_000;
    while (sent.length < step.until && Date.now() < end) {
      await new Promise((next) => setTimeout(next, 20));
    }
  }
  told.push({ ...result, sent });
}
console.log(JSON.stringify(told));
process.exit(0);
