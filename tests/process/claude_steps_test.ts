/**
 * Claim, commit, charge, alarm, reset and session lock when their writer is killed at any step: what
 * the next firing makes of what was left.
 *
 * Each row is one kind of change. Its writer is a process of its own below a Claude session; the next
 * firing is the built executable, and beside it a second delivery of the same stop where that matters.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Accountant } from "../../src/act/accountant.ts";
import { claimNext, OwnClaim } from "../../src/act/claim.ts";
import { processEnvironment } from "../../src/platform/environment.ts";
import { systemProcesses } from "../../src/platform/processes.ts";
import {
  ALARM,
  BUDGET_LOCK,
  type GuardHome,
  makeGuardHome,
  NOTICE,
  SESSION,
} from "../support/claude_home.ts";
import {
  type ClaudeSession,
  ledgerOf,
  openSession,
  says,
  writeArm,
} from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { childCommand, childEnvironment, KILLED, killPoints } from "../support/killed_at_step.ts";
import { deadPid, identityOf } from "../support/processes.ts";
import { inBatches, type RunResult, TURNGUARD } from "../support/turnguard.ts";

const CHILD = fromFileUrl(new URL("./claude_steps_child.ts", import.meta.url));

const SESSION_LOCK = "state/.lock";
const SIDECAR = "state/.lock-session";
const MARKER = "state/.watcher-down";

/** What the killed stop is charged as. */
const EVENT = "abc123";

/** Guards that do not wait, and to which what a killed writer left is new however slow the machine. */
const GUARD = { waitMs: 0, env: { FM_CLAUDE_AUTOARM_EPOCH_FRESH: "3600" } } as const;

/** One kind of change. */
interface Row {
  readonly name: string;
  /** Words of the child. */
  readonly change: (scene: Scene) => readonly string[];
  /** What the change comes to when nobody kills it. */
  readonly outcome: string;
  readonly prepare?: (scene: Scene) => Promise<unknown> | unknown;
  /** What must hold of whatever is left, and of what the next firing makes of it. */
  readonly inspect: (scene: Scene) => Promise<void>;
}

/** One home with its killed writer. */
class Scene {
  readonly home: GuardHome;
  /** Before the writer was started. */
  readonly startedAtMs = Date.now();
  readonly complaints: string[] = [];
  where = "not killed";

  constructor(home: GuardHome) {
    this.home = home;
  }

  /** Complains unless `seen` is one of the values that are right. */
  expect(what: string, seen: unknown, ...right: readonly unknown[]): void {
    if (right.includes(seen)) return;
    this.complaints.push(`${this.where}: ${what}: ${seen}, not ${right.join(" or ")}`);
  }

  /** Epoch and outcome of the ledger; the whole of it where it is not well-formed. */
  get ledger(): string {
    const { epoch, outcome } = ledgerOf(this.home.home);
    const text = textOf(this.home.path("state/.claude-autoarm-epoch"));
    return text === "" || text.endsWith("\n") ? `${epoch} ${outcome}` : JSON.stringify(text);
  }

  get epoch(): number {
    return Number(ledgerOf(this.home.home)["epoch"] ?? "0");
  }

  /** One guard; its verdict and what it left. */
  async guard(): Promise<string> {
    return `${await this.home.stop(GUARD)}, ${this.home.left()}`;
  }

  /** One firing whose arm fails, or prints what it is given; its status and what it recorded. */
  async fire(...lines: readonly string[]): Promise<string> {
    if (lines.length > 0) writeArm(this.home.home, says(...lines));
    else writeArm(this.home.home, says("watcher: FAILED - x"), "exit 1");
    const { status, stderr } = await this.home.session.fire({
      env: { FM_CLAUDE_AUTOARM_ATTEMPTS: "1" },
    });
    const text = /^firstmate watcher (?:auto-arm )?([A-Za-z ]+)/.exec(stderr)?.[1]?.trim() ?? "";
    return `${status} ${text}: ${this.ledger}`;
  }

  /** One firing as far as its claim, made here; the generation and how its end was recorded. */
  async claim(): Promise<string> {
    const attempt = await claimNext({
      state: this.home.home.state,
      graceSeconds: 300,
      look: () => systemProcesses(processEnvironment()),
      trustedSessionId: undefined,
    });
    if (attempt.kind !== "claimed") return attempt.kind;
    return `${attempt.claim.epoch} ${await attempt.claim.commit("clean")}`;
  }

  /** Everything that was held has been let go of. */
  expectUnlocked(): void {
    const locks = [...Deno.readDirSync(this.home.home.state)]
      .filter(({ isSymlink }) => isSymlink)
      .map(({ name }) => name)
      .filter((name) => name !== ".watch.lock");
    this.expect("locks left", locks.join(), "");
  }

  /** A second delivery of the killed stop; the count that it comes to. */
  async secondDelivery(): Promise<number | undefined> {
    const accountant = new Accountant({
      state: this.home.home.state,
      sessionId: SESSION,
      event: EVENT,
      startedAtMs: this.startedAtMs,
    });
    return (await accountant.account("block"))?.budget.count;
  }
}

/** Runs the writer of a row over a home of its own, and complains about what follows. */
async function play(
  row: Row,
  where: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly run: RunResult; readonly complaints: readonly string[] }> {
  await using home = await makeGuardHome();
  const scene = new Scene(home);
  scene.where = where;
  await row.prepare?.(scene);
  const command = childCommand(CHILD, [home.home.state, ...row.change(scene)]);
  const variables = { ...childEnvironment(), ...sessionVariables(home.session, "C1"), ...env };
  const hook = await home.session.start(command, { env: variables });
  const run = await hook.ended();
  await row.inspect(scene);
  scene.expectUnlocked();
  return { run, complaints: scene.complaints };
}

/** The undisturbed run first, then one for each point at which it could have been killed. */
async function complaintsOf(row: Row): Promise<readonly string[]> {
  const unharmed = await play(row, "not killed", {});
  const outcome = /^outcome (.*)$/m.exec(unharmed.run.stdout)?.[1];
  if (outcome !== row.outcome) return [`the change came to ${outcome}: ${unharmed.run.stderr}`];
  const killed = await inBatches(killPoints(unharmed.run), async ({ where, env }) => {
    const { run, complaints } = await play(row, where, env);
    return run.status === KILLED ? complaints : [`${where}: not killed, status ${run.status}`];
  });
  return [...unharmed.complaints, ...killed.flat()];
}

function sessionVariables(session: ClaudeSession, id: string): Readonly<Record<string, string>> {
  return { CLAUDE_CODE_SESSION_ID: id, CLAUDE_PID: String(session.pid) };
}

/** The guard blocks and charges, and the next firing takes the generation after the one that is left. */
async function firesNext(scene: Scene): Promise<void> {
  const { epoch } = scene;
  scene.expect("guard", await scene.guard(), `block, B(1,${epoch || ""})`);
  const next = `${epoch + 1}`;
  scene.expect("firing", await scene.fire(), `2 FAILED: ${next} failed`);
  scene.expect("episode", scene.home.left(), `B(1,${epoch || ""}) N`);
}

/** A failure after a reset that was cut short is told, and its blocks end in an alarm. */
async function isHeardAgain(scene: Scene): Promise<void> {
  const told = exists(scene.home.path(NOTICE));
  const text = told ? "STILL FAILING: 4 failed-suppressed" : "FAILED: 4 failed";
  scene.expect("firing", await scene.fire(), `2 ${text}`);
  const env = { ...GUARD.env, FM_CLAUDE_TURNEND_BLOCK_BUDGET: "1" };
  const verdicts = (await scene.home.stops(3, { ...GUARD, env })).split(" ");
  scene.expect("alarms", verdicts.filter((verdict) => verdict === "alarm").length, 1);
}

const ROWS: readonly Row[] = [
  {
    name: "claim: no claim of a dead owner stands, and the next one is a generation further",
    change: () => ["claim"],
    outcome: "claimed 1",
    inspect: async (scene) => {
      scene.expect("ledger", scene.ledger, "undefined undefined", "1 arming");
      await firesNext(scene);
    },
  },
  {
    name: "claim: superseded or not, the previous owner is told the truth",
    prepare: async ({ home }) => {
      // This process, which no session can be woken by.
      await home.open(3, { owner: Deno.pid, identity: await identityOf(Deno.pid), age: 400 });
    },
    change: () => ["claim"],
    outcome: "claimed 4",
    inspect: async (scene) => {
      scene.expect("ledger", scene.ledger, "3 arming", "4 arming");
      const told = await new OwnClaim(scene.home.home.state, 3).commit("clean");
      const superseded = scene.epoch === 4;
      scene.expect("previous owner", told, superseded ? "refused" : "committed");
      scene.expect("ledger after it", scene.ledger, superseded ? "4 arming" : "3 clean");
      scene.expect("next claim", await scene.claim(), superseded ? "5 committed" : "4 committed");
    },
  },
  {
    name: "commit clean: the claim has ended, or its owner is known to be dead",
    change: () => ["commit", "clean"],
    outcome: "committed",
    inspect: async (scene) => {
      scene.expect("ledger", scene.ledger, "1 arming", "1 clean");
      scene.expect("firing", await scene.fire(), "2 FAILED: 2 failed");
    },
  },
  {
    name: "commit failed: the notice never comes before its failure, and is given once",
    change: () => ["commit", "failed", "notice"],
    outcome: "committed",
    inspect: async (scene) => {
      const noticed = exists(scene.home.path(NOTICE));
      scene.expect("ledger", scene.ledger, "1 failed", ...(noticed ? [] : ["1 arming"]));
      if (!noticed) return await firesNext(scene);
      scene.expect("guard", await scene.guard(), "allow, B(0,1) N");
      scene.expect("firing", await scene.fire(), "2 STILL FAILING: 2 failed-suppressed");
      scene.expect("next guard", await scene.guard(), "block, B(1,2) N");
    },
  },
  {
    name: "commit rewake: handed over whole, or handed over by the next firing",
    prepare: ({ home }) => home.home.write(MARKER, "pending:downtime:g1\n"),
    change: () => ["rewake"],
    outcome: "committed",
    inspect: async (scene) => {
      const { home } = scene;
      scene.expect("ledger", scene.ledger, "1 arming", "1 rewake");
      const words = ledgerOf(home.home);
      const handedOver = words["outcome"] === "rewake";
      const bound = `${words["session_pid"]} ${words["recovery_generation"]}`;
      const whole = handedOver ? `${home.session.pid} g1` : "undefined undefined";
      scene.expect("handover", bound, whole);
      scene.expect("guard", await scene.guard(), handedOver ? "allow, -" : "block, B(1,1)");
      const fired = await scene.fire("watcher: started pid=1 (beacon fresh)", "stale: w x");
      scene.expect("firing", fired, "2 wake: 2 rewake");
      scene.expect("marker", textOf(home.path(MARKER)), "pending:downtime:g1\n");
    },
  },
  {
    name: "charge: a stop is charged once, and no earlier charge is lost",
    prepare: ({ home }) => home.ledger("clean", 3, { age: 100 }).budget(2, 3),
    change: ({ startedAtMs }) => ["charge", SESSION, EVENT, String(startedAtMs)],
    outcome: "charged 3",
    inspect: async (scene) => {
      scene.expect("count", scene.home.left(), "B(2,3)", "B(3,3)");
      scene.expect("second delivery", await scene.secondDelivery(), 3);
      scene.expect("next stop", await scene.guard(), "block, B(4,3)");
    },
  },
  {
    name: "charge: a stop of another session opens its own count, over the lock of a dead guard",
    prepare: async ({ home }) => {
      home.ledger("clean", 3, { age: 100 }).budget(3, 3, "S0").lock(BUDGET_LOCK, await deadPid());
    },
    change: ({ startedAtMs }) => ["charge", SESSION, EVENT, String(startedAtMs)],
    outcome: "charged 1",
    inspect: async (scene) => {
      scene.expect("count", scene.home.left(), "B(3,3) of S0", "B(1,3)");
      scene.expect("second delivery", await scene.secondDelivery(), 1);
      scene.expect("next stop", await scene.guard(), "block, B(2,3)");
    },
  },
  {
    name: "alarm: raised once, and after it every stop is blocked",
    prepare: ({ home }) => home.exhausted().budget(4, 3),
    change: () => ["terminal-check", SESSION, "4", "down"],
    outcome: "alarm",
    inspect: async (scene) => {
      const raised = exists(scene.home.path(ALARM));
      scene.expect("episode", scene.home.left(), `B(4,3) N${raised ? " A" : ""}`);
      scene.expect("next stop", await scene.guard(), `${raised ? "block" : "alarm"}, B(5,3) N A`);
      if (!raised) scene.expect("the one after it", await scene.guard(), "block, B(6,3) N A");
      scene.expect("next claim", await scene.claim(), "4 committed");
    },
  },
  {
    name: "terminal check: supervision that is back ends the episode, now or at the next stop",
    prepare: ({ home }) => home.exhausted().budget(4, 3),
    change: () => ["terminal-check", SESSION, "4", "healthy"],
    outcome: "step-aside",
    inspect: async (scene) => {
      scene.expect("episode", scene.home.left(), "B(4,3) N", "- N", "-");
      await scene.home.home.watcher();
      scene.expect("healthy stop", await scene.guard(), "allow, -");
      scene.expect("next claim", await scene.claim(), "4 committed");
    },
  },
  {
    name: "reset: it has happened, or it happens at the next healthy stop",
    prepare: ({ home }) => home.episode().ledger("clean", 3, { age: 100 }),
    change: () => ["end-episode"],
    outcome: "true",
    inspect: async (scene) => {
      const left = scene.home.left();
      scene.expect("episode", left, "B(2,3) N A", "B(2,3) N", "- N", "-");
      if (left !== "B(2,3) N A") await isHeardAgain(scene);
      await scene.home.home.watcher();
      scene.expect("healthy stop", await scene.guard(), "allow, -");
    },
  },
  {
    name: "reset of a claim's owner: it has happened, or the next firing does it",
    prepare: ({ home }) => home.episode(),
    change: () => ["end-owned"],
    outcome: "ended",
    inspect: async (scene) => {
      scene.expect("ledger", scene.ledger, "1 arming");
      await scene.home.home.watcher();
      const fired = await scene.fire("watcher: attached pid=9 (beacon 1s)");
      scene.expect("firing", fired, "0 : 2 clean");
      scene.expect("episode", scene.home.left(), "-");
    },
  },
  {
    name: "forgotten count: gone, or forgotten by the next stop without a need",
    prepare: ({ home }) => home.budget(2, 3).home.remove("state/task1.meta"),
    change: () => ["forget-count"],
    outcome: "done",
    inspect: async (scene) => {
      scene.expect("count", scene.home.left(), "B(2,3)", "-");
      scene.expect("next stop", await scene.guard(), "allow, -");
    },
  },
  {
    name: "session lock: a free one is taken by one session",
    prepare: ({ home }) => home.home.remove(SESSION_LOCK),
    change: () => ["acquire"],
    outcome: "acquired",
    inspect: isTakenByOne,
  },
  {
    name: "session lock: that of a dead holder is taken by one session",
    prepare: async ({ home }) => {
      home.home.write(SESSION_LOCK, `${await deadPid()}\n`).write(SIDECAR, "C0\n");
    },
    change: () => ["acquire"],
    outcome: "acquired",
    inspect: isTakenByOne,
  },
  {
    name: "session lock: released, it is taken by the next session",
    prepare: ({ home }) => home.home.write(SIDECAR, "C1\n"),
    change: () => ["release"],
    outcome: "released",
    inspect: isTakenByOne,
  },
];

/**
 * Another session takes the lock, unless the writer's own one has it and so has it confirmed; and the
 * conversation beside the lock is always that of its holder.
 */
async function isTakenByOne(scene: Scene): Promise<void> {
  const { home } = scene;
  const ownHeld = textOf(home.path(SESSION_LOCK)) === `${home.session.pid}\n`;
  if (ownHeld) scene.expect("conversation that is left", textOf(home.path(SIDECAR)), "C1\n");
  await using other = await openSession(home.home);
  scene.expect("another session", await acquire(home, other, "C2"), ownHeld ? 1 : 0);
  if (ownHeld) scene.expect("own session", await acquire(home, home.session, "C1"), 0);
  const [holder, conversation] = ownHeld ? [home.session, "C1"] : [other, "C2"];
  scene.expect("holder", textOf(home.path(SESSION_LOCK)), `${holder.pid}\n`);
  scene.expect("conversation", textOf(home.path(SIDECAR)), `${conversation}\n`);
}

async function acquire({ home }: GuardHome, session: ClaudeSession, id: string): Promise<number> {
  const hook = await session.start([TURNGUARD, "lock", "acquire", ...home.args], {
    env: sessionVariables(session, id),
  });
  return (await hook.ended()).status;
}

for (const row of ROWS) {
  Deno.test(`killed at any step: ${row.name}`, async () => {
    assertEquals(await complaintsOf(row), []);
  });
}
