/** `check`: custom checks of a home, which must be registered before the watcher runs them. */

import type { Home } from "../observe/home.ts";
import { errorMessage } from "../platform/file_text.ts";
import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { type CheckId, checkPath, parseCheckId, readPlainFile } from "../state/check_trust.ts";
import { checkSettings } from "../watch/checks/cadence.ts";
import { judgeCandidate } from "../watch/checks/candidates.ts";
import {
  copyInCheck,
  registerCheck,
  type Registration,
  unregisterCheck,
  type Unregistration,
} from "../watch/checks/registration.ts";
import { RELAY_ID } from "../watch/checks/relay_shim.ts";
import { runCheck } from "../watch/checks/run_check.ts";
import { personHome } from "./call_home.ts";
import { aboutCandidate, listChecks, type Listed } from "./check_list.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import {
  complain,
  complainUsage,
  counted,
  labelled,
  pasteable,
  say,
  sayJson,
  screenStyle,
  type Style,
} from "./person_output.ts";

/** The mode. */
export const checkMode: ModeSpec = {
  name: "check",
  kind: "person",
  summary: "Custom checks: register, remove, list them, or run one.",
  operands: "add ID | remove ID | list | run ID",
  maximumOperands: 2,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "file", value: "SCRIPT", summary: "With add: copy this script in first." },
    { name: "json", summary: "With list: one JSON array." },
  ],
  details: [
    "A check is a bash script state/<ID>.check.sh (mode 700). The watcher runs it every " +
    "FM_CHECK_INTERVAL seconds (300), for at most FM_CHECK_TIMEOUT seconds (30). Silence means that " +
    "there is nothing to report; whatever it prints wakes the session. Its exit status means nothing.",
    "add registers the script's bytes as they are. After an edit the watcher refuses the script and " +
    "reports it until it is registered again. ID holds letters, digits and . _ - (no leading dot).",
    "remove takes the registration away, and the script too when add --file put it there and nobody " +
    "edited it since. run does what the watcher would do with one check, and queues nothing.",
    "list --json prints objects with the keys id, path, state (trusted, changed, rejected, relay, " +
    "left-out or missing) and because (null where there is nothing to say).",
  ],
  startsPrograms: true,
  run: check,
};

/** The mode under the words and with the answers of the home's own script. */
export const checkRegisterMode: ModeSpec = {
  name: "check-register",
  kind: "person",
  summary: "Register a custom check, for scripts (people: check add).",
  operands: "ID",
  // Too many words are this mode's own error, with a text that scripts know.
  maximumOperands: 100,
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  startsPrograms: false,
  run: checkRegister,
};

async function check(call: Call): Promise<ExitStatus> {
  const [action, name] = call.operands;
  const misplaced = misplacedFlag(call, action);
  if (misplaced !== undefined) return await complainUsage("check", misplaced);
  switch (action) {
    case "list":
      if (name !== undefined) return await complainUsage("check", "list takes no ID");
      return await inHome(call, (home) => list(call, home));
    case "add":
    case "remove":
    case "run":
      return await withId(call, action, name);
    case undefined:
      return await complainUsage("check", "say what to do: add ID, remove ID, list or run ID");
    default:
      return await complainUsage(
        "check",
        `${JSON.stringify(action)} is not add, remove, list or run`,
      );
  }
}

/** A flag that does nothing would pass for one that worked. */
function misplacedFlag(call: Call, action: string | undefined): string | undefined {
  if (hasFlag(call, "file") && action !== "add") return "--file belongs to add";
  return hasFlag(call, "json") && action !== "list" ? "--json belongs to list" : undefined;
}

async function withId(
  call: Call,
  action: "add" | "remove" | "run",
  name: string | undefined,
): Promise<ExitStatus> {
  if (name === undefined) return await complainUsage("check", `${action} needs an ID`);
  const id = parseCheckId(name);
  if (id === undefined) {
    const form = "letters, digits and . _ - with no leading dot";
    return await complainUsage("check", `${JSON.stringify(name)} is not an ID: ${form}`);
  }
  if (id === RELAY_ID && action !== "run") {
    return await complainUsage("check", `${RELAY_ID} is the relay's; it is not registered`);
  }
  return await inHome(call, (home) => {
    if (action === "run") return run(call, home, id);
    return action === "add" ? add(call, home, id) : remove(home, id);
  });
}

/** Runs `act` on a home that has a state directory; it is never created by the way. */
async function inHome(
  call: Call,
  act: (home: Home) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const home = personHome(call);
  if (targetKind(home.state) === "directory") return await act(home);
  return await complain({
    mode: "check",
    wrong: `there is no state directory at ${home.state} (${home.foundBy})`,
    untouched: "nothing was changed",
    todo: "name a home with --root DIR, or make one with: turnguard init",
  });
}

/** Bytes of the largest script that is copied in. */
const SCRIPT_LIMIT_BYTES = 1024 * 1024;

async function add(call: Call, home: Home, id: CheckId): Promise<ExitStatus> {
  const file = flagValue(call, "file");
  if (file === undefined) {
    return await reportAdded(home, id, await registerCheck(home.state, id), "it was left as it is");
  }
  const script = readPlainFile(file, SCRIPT_LIMIT_BYTES);
  if (script === undefined) {
    return await complain({
      mode: "check",
      wrong: `${file} cannot be read as a script`,
      untouched: "nothing was registered",
      todo: "name a regular file (no link) of at most 1 MiB",
    });
  }
  const outcome = await copyInCheck(home.state, id, script);
  if (outcome.kind !== "exists") {
    return await reportAdded(home, id, outcome, "nothing was put in place");
  }
  return await complain({
    mode: "check",
    wrong: `there is a check already: ${checkPath(home.state, id)}`,
    untouched: "it was left as it is",
    todo: `take another ID, or end that check first with: turnguard check remove ${id}`,
  });
}

async function reportAdded(
  home: Home,
  id: CheckId,
  outcome: Registration,
  untouched: string,
): Promise<ExitStatus> {
  const path = checkPath(home.state, id);
  if (outcome.kind === "registered") {
    await say([
      `registered ${id}: ${printable(path)}`,
      `sha256 ${outcome.hash}; register again after an edit`,
    ]);
    return EXIT.ok;
  }
  const { what, because } = outcome;
  return await complain({ mode: "check", untouched, ...complaintAbout(home, path, what, because) });
}

type Obstacle = Extract<Registration, { kind: "refused" }>["what"];

function complaintAbout(
  home: Home,
  path: string,
  what: Obstacle,
  because: string,
): { readonly wrong: string; readonly todo: string } {
  switch (what) {
    case "state":
      return {
        wrong: `the state directory ${home.state} ${because}`,
        todo: "name the home by its real path with --root DIR",
      };
    case "check":
      return {
        wrong: `${path} ${because}`,
        todo: `a check is one regular file of mode 700; see: chmod 700 ${pasteable(path)}`,
      };
    case "trust":
      return {
        wrong: `the place of its trust record is taken: what is there ${because}`,
        todo: "look at it, remove it, and try again",
      };
    case "hash":
      return { wrong: because, todo: "look at its owner, mode and size, then try again" };
    case "record":
      return {
        wrong: `the registration does not hold: ${because}`,
        todo: "make sure that nothing else writes there, then try again",
      };
  }
}

async function remove(home: Home, id: CheckId): Promise<ExitStatus> {
  try {
    const outcome = await unregisterCheck(home.state, id);
    if (outcome.kind === "removed") {
      await say(removalLines(checkPath(home.state, id), id, outcome.script));
      return EXIT.ok;
    }
  } catch (error) {
    return await complain({
      mode: "check",
      wrong: `${id} cannot be removed: ${errorMessage(error)}`,
      untouched: "what could not be removed was left as it is",
      todo: "look at it, and see: turnguard check list",
    });
  }
  return await complain({
    mode: "check",
    wrong: `${id} is not registered`,
    untouched: "nothing was changed",
    todo: "see: turnguard check list",
  });
}

function removalLines(
  path: string,
  id: CheckId,
  script: Extract<Unregistration, { kind: "removed" }>["script"],
): readonly string[] {
  const first = `removed ${id}: it is no longer registered`;
  const shown = printable(path);
  switch (script) {
    case "removed":
      return [first, `${shown} was the copy that add --file made; it is removed too`];
    case "absent":
      return [first, "its script was gone already"];
    case "edited":
    case "kept":
      return [
        first,
        script === "kept"
          ? `${shown} was not put there by turnguard; it stays`
          : `${shown} was edited since it was copied; it stays`,
        ...labelled("", "While it is there, the watcher reports it at every sweep. To end that:"),
        `  rm -- ${pasteable(path)}`,
      ];
  }
}

async function list(call: Call, home: Home): Promise<ExitStatus> {
  let listed: readonly Listed[];
  try {
    listed = await listChecks(home);
  } catch (error) {
    return await complain({
      mode: "check",
      wrong: `the state directory cannot be listed: ${errorMessage(error)}`,
      untouched: "nothing was changed",
      todo: "see: turnguard doctor",
    });
  }
  if (hasFlag(call, "json")) await sayJson(listed);
  else await say(listing(listed, screenStyle(call.environment)));
  return EXIT.ok;
}

const STATE_COLUMNS = "left-out".length;

function listing(listed: readonly Listed[], style: Style): readonly string[] {
  if (listed.length === 0) return ["no checks"];
  const columns = Math.min(32, Math.max(...listed.map(({ id }) => printable(id).length)));
  const rows = listed.flatMap(({ id, state, because }) => {
    const start = `${printable(id).padEnd(columns)}  ${state.padEnd(STATE_COLUMNS)}  `;
    return labelled(start, printable(because ?? "")).map((line) => line.trimEnd());
  });
  const refused = listed.filter(({ state }) => state === "changed" || state === "rejected").length;
  const count = counted(listed.length, "check");
  return [...rows, refused === 0 ? style.quiet(count) : style.bad(`${count}, ${refused} refused`)];
}

async function run(call: Call, home: Home, id: CheckId): Promise<ExitStatus> {
  const path = checkPath(home.state, id);
  const name = `${id}.check.sh`;
  if (targetKind(path) === "absent") return await notRun(path, "there is no such check");
  const candidate = await judgeCandidate(home, name);
  if (candidate.kind !== "trusted" && candidate.kind !== "relay") {
    return await notRun(path, aboutCandidate(candidate) ?? "it may not run");
  }
  const { timeoutSeconds } = checkSettings(call.environment);
  const stop = firstStopSignal();
  const outcome = await runCheck(home, candidate, { timeoutSeconds, tick: () => {}, stop });
  switch (outcome.kind) {
    case "stopped":
      return (await stop).status;
    case "rejected":
    case "unable":
      return await notRun(path, outcome.because);
    case "group-not-gone":
      return await complain({
        mode: "check",
        wrong: `something that ${path} started cannot be ended`,
        untouched: "it may still be running",
        todo: "look for it and end it; the watcher would stop here",
      });
    case "ran":
      if (outcome.output !== "") await writeTo("stdout", `${outcome.output}\n`);
      return outcome.how === "ended" ? EXIT.ok : await timedOut(path, timeoutSeconds);
  }
}

async function notRun(path: string, because: string): Promise<ExitStatus> {
  return await complain({
    mode: "check",
    wrong: `${path} is not run: ${because}`,
    untouched: "nothing was started",
    todo: "see: turnguard check list",
  });
}

async function timedOut(path: string, timeoutSeconds: number): Promise<ExitStatus> {
  return await complain({
    mode: "check",
    wrong: `${path} took longer than ${timeoutSeconds} s`,
    untouched: "it was ended with all that it had started, and what it had printed counts",
    todo: "make it faster, or set FM_CHECK_TIMEOUT for the watcher",
  });
}

/** Fixed texts that scripts look for. */
const REGISTER_ERRORS: Readonly<Record<Obstacle, string>> = {
  state: "state directory is unavailable",
  check: "custom check is unavailable",
  trust: "custom check trust path is unavailable",
  hash: "custom check hash is unavailable",
  record: "custom check registration could not be verified",
};

async function checkRegister(call: Call): Promise<ExitStatus> {
  const words = [...call.operands, ...call.rest];
  const id = parseCheckId(words[0] ?? "");
  if (words.length !== 1 || id === undefined) {
    await writeTo("stderr", "error: invalid custom check registration\n");
    return EXIT.usage;
  }
  const outcome = await registerCheck(personHome(call).state, id);
  if (outcome.kind === "refused") {
    await writeTo("stderr", `error: ${REGISTER_ERRORS[outcome.what]}\n`);
    return EXIT.failure;
  }
  await say([`registered: state/${id}.check.sh`]);
  return EXIT.ok;
}
