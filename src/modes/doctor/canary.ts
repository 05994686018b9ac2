/** `doctor --canary HARNESS`: one real turn in a home that is thrown away, and whether it was blocked. */

import { isAbsolute, join } from "@std/path";
import { fieldsOf, parseJson } from "../../decide/activity/fields.ts";
import type { Environment } from "../../platform/environment.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { type GroupEnd, runGroup } from "../../platform/process_group.ts";
import { firstStopSignal } from "../../platform/stop_signal.ts";
import { readJournal } from "../../state/journal.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";

/** How one turn of a harness is run without a person. */
interface Driver {
  /** The program, as it is found in `PATH`. */
  readonly program: string;
  readonly args: (root: string) => readonly string[];
}

const WORDS = "Reply with the single word done.";

const DRIVERS: Readonly<Record<string, Driver>> = {
  claude: { program: "claude", args: () => ["-p", WORDS] },
  codex: {
    program: "codex",
    args: (root) => [
      "exec",
      "--dangerously-bypass-hook-trust",
      "--skip-git-repo-check",
      "-c",
      // As a table: Codex does not take a path apart that stands in quotes.
      `projects={${JSON.stringify(root)}={trust_level="trusted"}}`,
      WORDS,
    ],
  },
  opencode: { program: "opencode", args: () => ["run", WORDS] },
  omp: { program: "omp", args: () => ["-p", WORDS] },
};

/** Why the others cannot be driven. */
const UNDRIVEN: Readonly<Record<string, string>> = {
  cursor: "its agent wants a person's login",
  grok: "its hooks run only once a person has trusted the folder",
  kimi: "its hook only tells a home that a worker's turn has ended",
  pi: "without a terminal it leaves before a run has settled",
};

/** Names that can be asked for. */
export const CANARY_HARNESSES: readonly string[] = [
  ...Object.keys(DRIVERS),
  ...Object.keys(UNDRIVEN),
];

/** Milliseconds for the whole turn, continuations included. */
const TURN_LIMIT_MS = 180_000;

/** Runs the canary. The user's own configuration is read by the harness and never changed by this. */
export async function runCanary(harness: string, environment: Environment): Promise<Check> {
  const id = `canary-${harness}`;
  const because = UNDRIVEN[harness];
  if (because !== undefined) {
    return undetermined(id, `${harness} cannot be driven: ${because}`, "end a turn there by hand");
  }
  const driver = DRIVERS[harness];
  if (driver === undefined) {
    return wrong(id, `${harness} is no harness`, `one of: ${CANARY_HARNESSES.join(", ")}`);
  }
  const path = programPath(driver.program, environment);
  if (path === undefined) {
    return undetermined(id, `there is no ${driver.program} in PATH`, "install it, or fix PATH");
  }
  const folder = Deno.makeTempDirSync({ prefix: "turnguard-canary-" });
  try {
    return await drive(id, harness, { ...driver, program: path }, Deno.realPathSync(folder));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function drive(id: string, harness: string, driver: Driver, folder: string): Promise<Check> {
  const root = join(folder, "home");
  const own = (...args: readonly string[]): Promise<GroupEnd> =>
    start(Deno.execPath(), args, folder);
  const prepared = [
    await own("init", root),
    await own("task", "add", "canary", "--root", root),
    await own("install", harness, "--root", root),
  ];
  if (prepared.some((end) => end.kind !== "ended" || end.status !== 0)) {
    return undetermined(id, "a home to throw away could not be made", "see: turnguard doctor");
  }
  if (harness === "claude") withoutAutoarm(join(root, ".claude", "settings.json"));
  const turn = await start(driver.program, driver.args(root), root);
  const verdicts = readJournal(join(root, "state")).map(({ mode, verdict }) =>
    `${mode} ${verdict}`
  );
  if (verdicts.some((verdict) => verdict.endsWith(" block"))) {
    return ok(id, `a blind turn of ${driver.program} was blocked (${verdicts.join(", ")})`);
  }
  if (turn.kind === "not-started") return undetermined(id, `it cannot be started: ${turn.because}`);
  if (turn.kind === "timed-out") {
    return undetermined(id, `no turn has ended within ${TURN_LIMIT_MS / 1000} s`, "try it by hand");
  }
  const status = turn.kind === "ended" ? String(turn.status) : turn.kind;
  if (verdicts.length === 0) {
    return wrong(
      id,
      `the turn ended (status ${status}) and no hook of ours ran`,
      "run a turn by hand and see why: not logged in, hooks switched off, or an old version",
    );
  }
  return wrong(
    id,
    `the hook ran and did not block: ${verdicts.join(", ")}`,
    "turnguard explain stop",
  );
}

async function start(path: string, args: readonly string[], cwd: string): Promise<GroupEnd> {
  return await runGroup({ path, args, workingDirectory: cwd }, {
    deadlineMs: TURN_LIMIT_MS,
    outputLimitBytes: 0,
    tick: () => {},
    stop: firstStopSignal(),
  });
}

/** Beside the auto-arm the guard waits for it, and a home that is watched in time proves no block. */
function withoutAutoarm(path: string): void {
  const settings = fieldsOf(parseJson(Deno.readTextFileSync(path)));
  const events = fieldsOf(settings["hooks"]);
  const groups: unknown = events["Stop"];
  const kept = (Array.isArray(groups) ? groups : []).map((group: unknown) => {
    const hooks: unknown = fieldsOf(group)["hooks"];
    const items: readonly unknown[] = Array.isArray(hooks) ? hooks : [];
    return {
      hooks: items.filter((hook) => !String(fieldsOf(hook)["command"]).includes("autoarm")),
    };
  });
  Deno.writeTextFileSync(path, JSON.stringify({ hooks: { Stop: kept } }));
}

function programPath(name: string, environment: Environment): string | undefined {
  for (const folder of (environment.get("PATH") ?? "").split(":")) {
    const path = join(folder, name);
    if (isAbsolute(folder) && targetKind(path) === "file") return path;
  }
  return undefined;
}
