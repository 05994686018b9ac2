/**
 * The last decision of an exhausted episode, with what changes between its two looks.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { terminalCheck, type TerminalRequest } from "../../src/act/terminal_check.ts";
import { processEnvironment } from "../../src/platform/environment.ts";
import { systemProcesses } from "../../src/platform/processes.ts";
import { ALARM_NAME, NOTICE_NAME } from "../../src/state/failure_episode.ts";
import { BUDGET_NAME } from "../../src/state/claude_budget.ts";
import { LEDGER_NAME } from "../../src/state/claude_ledger.ts";
import { type Sleeper, startSleeper } from "../support/processes.ts";

/** A state directory in which the next decision is the alarm. */
class Scene implements AsyncDisposable {
  readonly state = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  readonly #sleepers: Sleeper[] = [];

  constructor() {
    this.write(NOTICE_NAME, "");
    this.write(LEDGER_NAME, "epoch=3 owner_pid=999 outcome=failed-suppressed updated_at=1\n");
    this.write(BUDGET_NAME, "session=S1\ncount=4\nepoch=3\n");
  }

  write(name: string, text: string): void {
    Deno.writeTextFileSync(`${this.state}/${name}`, text);
  }

  sleeper(): number {
    const sleeper = startSleeper();
    this.#sleepers.push(sleeper);
    return sleeper.pid;
  }

  lock(name: string, pid: number, role: string): void {
    Deno.mkdirSync(`${this.state}/${name}`);
    this.write(`${name}/pid`, `${pid}\n`);
    if (role !== "") this.write(`${name}/role`, `${role}\n`);
  }

  /** The outcome, and the episode files and locks that stand afterwards. */
  async check(changes: Partial<TerminalRequest> = {}): Promise<string> {
    const outcome = await terminalCheck({
      state: this.state,
      sessionId: "S1",
      budget: 3,
      count: 4,
      chargedElsewhere: undefined,
      graceSeconds: 300,
      look: () => systemProcesses(processEnvironment()),
      isClaimOpen: () => Promise.resolve(false),
      isWatcherHealthy: () => Promise.resolve(false),
      ...changes,
    });
    return [outcome, ...this.files()].join(" ");
  }

  files(): readonly string[] {
    const letters = new Map([[BUDGET_NAME, "B"], [NOTICE_NAME, "N"], [ALARM_NAME, "A"]]);
    return [...Deno.readDirSync(this.state)].map(({ name }) => letters.get(name) ?? name)
      .filter((name) => name !== LEDGER_NAME).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sleepers.map((sleeper) => sleeper.end()));
    Deno.removeSync(this.state, { recursive: true });
  }
}

type Row = readonly [name: string, expected: string, play: (scene: Scene) => Promise<string>];

function table(name: string, rows: readonly Row[]): void {
  Deno.test(`terminalCheck: ${name}`, async () => {
    const seen: (readonly [string, string])[] = [];
    for (const [what, , play] of rows) {
      await using scene = new Scene();
      seen.push([what, await play(scene)]);
    }
    assertEquals(seen, rows.map(([what, expected]) => [what, expected]));
  });
}

/** A question that is answered by its turn, doing something on the way. */
function asked(
  answers: readonly boolean[],
  act: (turn: number) => void = () => {},
): () => Promise<boolean> {
  let turn = 0;
  return () => {
    act(turn);
    return Promise.resolve(answers[turn++] ?? false);
  };
}

table("raises the alarm once, and only with every condition", [
  ["all hold", "alarm A B N", (scene) => scene.check()],
  ["count at the budget", "block B N", (scene) => scene.check({ count: 3 })],
  ["raised before", "block A B N", (scene) => {
    scene.write(ALARM_NAME, "");
    return scene.check();
  }],
  ["away", "block .afk B N", (scene) => {
    scene.write(".afk", "away\n");
    return scene.check();
  }],
  ["a claim is open", "step-aside B N", (scene) => {
    return scene.check({ isClaimOpen: () => Promise.resolve(true) });
  }],
]);

table("looks again under the locks", [
  ["the watcher came up (G38)", "step-aside", (scene) => {
    return scene.check({ isWatcherHealthy: () => Promise.resolve(true) });
  }],
  ["the watcher came up, the episode cannot end", "block B N", async (scene) => {
    // Something that is no plain file has taken the place of the notice.
    Deno.removeSync(`${scene.state}/${NOTICE_NAME}`);
    Deno.mkdirSync(`${scene.state}/${NOTICE_NAME}`);
    return await scene.check({ isWatcherHealthy: () => Promise.resolve(true) });
  }],
  ["a claim opened (G39)", "step-aside B N", (scene) => {
    return scene.check({ isClaimOpen: asked([false, true]) });
  }],
  ["another guard raised the alarm", "block A B N", (scene) => {
    return scene.check({ isClaimOpen: asked([false], () => scene.write(ALARM_NAME, "")) });
  }],
  ["the episode ended", "block B", (scene) => {
    const end = () => Deno.removeSync(`${scene.state}/${NOTICE_NAME}`);
    return scene.check({ isClaimOpen: asked([false], end) });
  }],
  ["the arm came to something else", "block B N", (scene) => {
    const arm = () => scene.write(LEDGER_NAME, "epoch=4 owner_pid=9 outcome=clean updated_at=1\n");
    return scene.check({ isClaimOpen: asked([false], arm) });
  }],
  ["another session was charged", "block B N", (scene) => {
    const charge = () => scene.write(BUDGET_NAME, "session=S2\ncount=9\nepoch=3\n");
    return scene.check({ isClaimOpen: asked([false], charge) });
  }],
  ["the count started over", "block B N", (scene) => {
    const charge = () => scene.write(BUDGET_NAME, "session=S1\ncount=3\nepoch=3\n");
    return scene.check({ isClaimOpen: asked([false], charge) });
  }],
  ["the budget went", "block N", (scene) => {
    const forget = () => Deno.removeSync(`${scene.state}/${BUDGET_NAME}`);
    return scene.check({ isClaimOpen: asked([false], forget) });
  }],
]);

const OWNER_LOCK = ".claude-autoarm.lock";

table("respects the locks of the living", [
  ["owner lock without a role", `block ${OWNER_LOCK} B N`, (scene) => {
    scene.lock(OWNER_LOCK, scene.sleeper(), "");
    return scene.check();
  }],
  ["owner lock of a live legacy claim", `step-aside ${OWNER_LOCK} B N`, (scene) => {
    scene.lock(OWNER_LOCK, scene.sleeper(), "autoarm");
    return scene.check();
  }],
  ["budget lock", `block ${BUDGET_NAME}.lock B N`, (scene) => {
    scene.lock(`${BUDGET_NAME}.lock`, scene.sleeper(), "");
    return scene.check();
  }],
]);

/** A charge of this very stop by another process. */
function elsewhere(pid: number): Pick<TerminalRequest, "chargedElsewhere"> {
  return { chargedElsewhere: { event: "aa", atMs: Date.now(), pid } };
}

table("leaves the alarm to the delivery that charged", [
  ["which raised it", "step-aside A B N", async (scene) => {
    const pid = scene.sleeper();
    const check = scene.check(elsewhere(pid));
    scene.write(ALARM_NAME, "");
    return await check;
  }],
  ["an earlier stop raised it", "block A B N", (scene) => {
    scene.write(ALARM_NAME, "");
    Deno.utimeSync(`${scene.state}/${ALARM_NAME}`, 1, 1);
    return scene.check(elsewhere(scene.sleeper()));
  }],
  ["it died before", "alarm A B N", async (scene) => {
    const sleeper = startSleeper();
    await sleeper.end();
    return await scene.check(elsewhere(sleeper.pid));
  }],
]);
