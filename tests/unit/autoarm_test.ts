/**
 * The auto-arm without processes: its tables, and whole firings whose owners, arms and ends are played.
 *
 * All owners of a test share this process and its pid, and are told apart by the identity that the
 * injected process reader gives it: an owner that is played dead has another identity by then.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import {
  type AdmissionFacts,
  type ArmedCycle,
  decideAdmission,
  hookLifeSeconds,
  isEvidenceLine,
  translate,
  translateInterruption,
} from "../../src/decide/autoarm.ts";
import { isWakeLine } from "../../src/decide/wake_line.ts";
import type { Home } from "../../src/observe/home.ts";
import { type ProcessIdentity, procIdentity } from "../../src/platform/process_identity.ts";
import type { Processes } from "../../src/platform/processes.ts";
import { parseLedger } from "../../src/state/claude_ledger.ts";
import { fire, type FiringEnd, type Interruption } from "../../src/watch/autoarm.ts";
import { ArmOutput } from "../../src/watch/arm_output.ts";
import { pidOf, PRIMARY_HOME } from "../support/facts.ts";

const OURS: AdmissionFacts["session"] = {
  lockKind: "file",
  holder: pidOf(7),
  holderIsHarness: true,
  ancestry: [pidOf(7)],
  trustedSessionId: undefined,
  recordedSessionId: undefined,
};

const ADMITTED: AdmissionFacts = {
  payload: { kind: "empty", because: "nothing" },
  grokHost: false,
  scope: PRIMARY_HOME,
  session: OURS,
  awayMode: "off",
  need: { kind: "counted", tasks: 1, sources: 0, checks: 0, relay: false },
};

const FROM_CURSOR: AdmissionFacts["payload"] = {
  kind: "object",
  fromCursor: true,
  fromPiCode: false,
  loopGuard: { kind: "first-stop" },
  sessionId: undefined,
};

async function admitted(changes: Partial<AdmissionFacts>): Promise<string> {
  const facts = { ...ADMITTED, ...changes };
  const { kind, code } = await decideAdmission((name) => Promise.resolve(facts[name]));
  return `${kind}: ${code}`;
}

Deno.test("decideAdmission: each doubt stands down, and a lock without a live holder is taken over", async () => {
  const nobody = { kind: "counted", tasks: 0, sources: 0, checks: 0, relay: false } as const;
  const rows: readonly (readonly [Partial<AdmissionFacts>, string])[] = [
    [{}, "arm: session-ours"],
    [{ payload: { kind: "unreadable", because: "{" } }, "arm: session-ours"],
    [{ grokHost: true }, "stand-down: foreign-host"],
    [{ payload: FROM_CURSOR }, "stand-down: foreign-host"],
    [{ payload: { ...FROM_CURSOR, fromCursor: false, fromPiCode: true } }, "stand-down: pi-code"],
    [{ scope: { ...ADMITTED.scope, git: "linked-worktree" } }, "stand-down: out-of-scope"],
    [{ session: { ...OURS, holder: undefined } }, "stand-down: not-our-session"],
    [{ session: { ...OURS, ancestry: [pidOf(8)] } }, "stand-down: not-our-session"],
    [{ session: { ...OURS, ancestry: [] } }, "stand-down: not-our-session"],
    [{ awayMode: "away" }, "stand-down: away"],
    [{ awayMode: "quiet" }, "stand-down: away"],
    [{ need: nobody }, "stand-down: no-need"],
    [{ need: { kind: "unknown", because: "x" } }, "stand-down: need-unknown"],
    [
      { session: { ...OURS, holderIsHarness: false, ancestry: [pidOf(8)] } },
      "arm: session-stale",
    ],
    [
      { session: { ...OURS, holderIsHarness: false, ancestry: [pidOf(8)] }, awayMode: "away" },
      "stand-down: away",
    ],
    [
      { session: { ...OURS, holderIsHarness: false, ancestry: [pidOf(8)] }, need: nobody },
      "stand-down: no-need",
    ],
    [
      {
        session: {
          ...OURS,
          ancestry: [pidOf(8)],
          trustedSessionId: "a",
          recordedSessionId: "a",
        },
      },
      "arm: session-ours",
    ],
  ];
  assertEquals(
    await Promise.all(rows.map(([changes]) => admitted(changes))),
    rows.map(([, expected]) => expected),
  );
});

const BOTH = [false, true] as const;

/** Every cycle there is. */
const CYCLES: readonly ArmedCycle[] = BOTH.flatMap((needed) =>
  BOTH.flatMap((actionable) =>
    BOTH.flatMap((healthy) =>
      BOTH.flatMap((alarmed) =>
        BOTH.map((noticed) => ({ needed, actionable, healthy, alarmed, noticed }))
      )
    )
  )
);

Deno.test("translate: the first of the written conditions decides", () => {
  const expected = CYCLES.map(({ needed, actionable, healthy, alarmed, noticed }) => {
    if (!needed) return "clean";
    if (healthy) return "recovered";
    if (alarmed) return "silenced";
    if (actionable) return "rewake";
    return noticed ? "later-failure" : "first-failure";
  });
  assertEquals(CYCLES.map(translate), expected);
});

Deno.test("translateInterruption: silence after the alarm, one notice before it", () => {
  assertEquals(
    BOTH.flatMap((alarmed) => BOTH.map((noticed) => translateInterruption({ alarmed, noticed }))),
    ["first-failure", "later-failure", "silenced", "silenced"],
  );
});

Deno.test("isWakeLine, isEvidenceLine: what a line may start with", () => {
  const lines = ["signal: a", "stale:", "check: b", "heartbeat", "heartbeat: c", "heartbeats"];
  assertEquals(lines.map(isWakeLine), [true, true, true, true, true, false]);
  assertEquals([...lines, "watcher: x"].map(isEvidenceLine), Array(7).fill(true));
  assertEquals(["", "watcher", " signal:", "x signal:"].map(isEvidenceLine), Array(4).fill(false));
  assertFalse(isWakeLine("watcher: x"));
});

Deno.test("hookLifeSeconds: always before the host's own end", () => {
  assertEquals([28_800, 600, 2].map(hookLifeSeconds), [28_740, 540, 1.8]);
  fc.assert(fc.property(fc.integer({ min: 1, max: 10 ** 9 }), (timeout) => {
    const life = hookLifeSeconds(timeout);
    assert(life > 0 && life < timeout);
  }));
});

/** What an arm that is played comes to. */
interface Play {
  readonly wakes?: boolean;
  /** What happens while it runs. */
  readonly meanwhile?: () => void;
  readonly interruption?: Interruption;
}

const NAMES = {
  ledger: ".claude-autoarm-epoch",
  notice: ".claude-autoarm-failure-notified",
  alarm: ".claude-autoarm-failure-alarmed",
  budget: ".turnend-claude-blocks",
} as const;

const BEACON = ".last-watcher-beat";

/** The identity of one owner. */
function own(owner: number): ProcessIdentity {
  return procIdentity(String(owner), new Uint8Array([0]));
}

/** The identity that a watcher is played with. */
const WATCHER = own(1);

/** A home whose owners are played. */
class Stage implements Disposable {
  readonly root = Deno.realPathSync(Deno.makeTempDirSync());
  readonly state = `${this.root}/state`;
  readonly home: Home = {
    root: this.root,
    home: this.root,
    state: this.state,
    config: `${this.root}/config`,
    watcherPath: `${this.root}/bin/fm-watch.sh`,
    foundBy: "--root",
  };
  /** Texts that were printed, delivered or not. */
  readonly printed: string[] = [];

  constructor() {
    Deno.mkdirSync(this.state);
    this.write("task1.meta");
    this.write(".lock", `${Deno.pid}\n`);
    this.write(".watcher-down", "pending:downtime:g1\n");
  }

  write(name: string, text = ""): void {
    Deno.writeTextFileSync(`${this.state}/${name}`, text);
  }

  has(name: string): boolean {
    try {
      Deno.lstatSync(`${this.state}/${name}`);
      return true;
    } catch {
      return false;
    }
  }

  remove(name: string): void {
    if (this.has(name)) Deno.removeSync(`${this.state}/${name}`, { recursive: true });
  }

  /** A healthy watcher. */
  watcher(): void {
    Deno.mkdirSync(`${this.state}/.watch.lock`, { recursive: true });
    this.write(".watch.lock/pid", `${Deno.pid}\n`);
    this.write(".watch.lock/fm-home", `${this.root}\n`);
    this.write(".watch.lock/watcher-path", `${this.home.watcherPath}\n`);
    this.write(".watch.lock/pid-identity", `${WATCHER}\n`);
    this.write(BEACON);
  }

  get text(): string {
    return this.has(NAMES.ledger) ? Deno.readTextFileSync(`${this.state}/${NAMES.ledger}`) : "";
  }

  get outcome(): string | undefined {
    return parseLedger(this.text)?.outcome;
  }

  fire(
    arm: (stop: Promise<void>) => Promise<ArmOutput>,
    interruption: Promise<Interruption>,
    identity: () => ProcessIdentity,
  ): Promise<FiringEnd> {
    return fire({
      home: this.home,
      variables: { FM_GUARD_GRACE: undefined, FM_POLL: undefined },
      look: () => processesNamed(identity),
      trustedSessionId: undefined,
      ownsSession: () => Promise.resolve(true),
      arm,
      interruption,
      print: (text) => {
        this.printed.push(text);
        return Promise.resolve();
      },
    });
  }

  /** One firing whose arms all go the same way. */
  async play({ wakes, meanwhile, interruption }: Play): Promise<FiringEnd> {
    const arm = (): Promise<ArmOutput> => {
      meanwhile?.();
      return Promise.resolve(armOutput(wakes === true));
    };
    const ended = interruption === undefined
      ? Promise.withResolvers<Interruption>().promise
      : Promise.resolve(interruption);
    return await this.fire(arm, ended, () => WATCHER);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

function armOutput(wakes: boolean): ArmOutput {
  const output = new ArmOutput();
  output.add(wakes ? "signal: a" : "watcher: FAILED - x");
  return output;
}

function processesNamed(identity: () => ProcessIdentity): Processes {
  return {
    method: "proc-override",
    identity: () => Promise.resolve({ kind: "known", identity: identity() }),
    isZombie: () => Promise.resolve(false),
    clocksWith: () => Promise.resolve({ kind: "unknown" }),
    info: () => Promise.resolve(undefined),
  };
}

/** How an arm closes in one row of the table, and what follows. */
interface Row {
  readonly name: string;
  readonly arrange?: (stage: Stage) => void;
  readonly play: (stage: Stage) => Play;
  readonly outcome: string;
  /** The start of what is delivered; nothing is when absent. */
  readonly delivers?: string;
  readonly check?: (stage: Stage) => void;
}

const NEWER = "epoch=99 owner_pid=1 outcome=arming updated_at=1\n";

const episodeIsOver = (stage: Stage): void =>
  assertEquals([NAMES.budget, NAMES.notice, NAMES.alarm].map((name) => stage.has(name)), [
    false,
    false,
    false,
  ]);

const ROWS: readonly Row[] = [
  {
    name: "away mode comes first",
    play: (stage) => ({ wakes: true, meanwhile: () => stage.write(".afk") }),
    outcome: "afk",
  },
  {
    name: "a need that is gone, even with a wake",
    play: (stage) => ({ wakes: true, meanwhile: () => stage.remove("task1.meta") }),
    outcome: "clean",
  },
  {
    name: "a healthy watcher ends the episode",
    arrange: (stage) => {
      stage.watcher();
      for (const name of [NAMES.budget, NAMES.notice, NAMES.alarm]) stage.write(name);
    },
    play: () => ({}),
    outcome: "clean",
    check: episodeIsOver,
  },
  {
    name: "an episode that cannot be ended is told",
    arrange: (stage) => {
      stage.watcher();
      Deno.mkdirSync(`${stage.state}/${NAMES.budget}`);
    },
    play: () => ({}),
    outcome: "failed-suppressed",
    delivers: "firstmate watcher auto-arm HELD THIS TURN OPEN",
  },
  {
    name: "an episode that cannot be ended is silent after the alarm",
    arrange: (stage) => {
      stage.watcher();
      Deno.mkdirSync(`${stage.state}/${NAMES.budget}`);
      stage.write(NAMES.alarm);
    },
    play: () => ({}),
    outcome: "failed-suppressed",
  },
  {
    name: "a wake after the alarm",
    arrange: (stage) => stage.write(NAMES.alarm),
    play: () => ({ wakes: true }),
    outcome: "failed-suppressed",
  },
  {
    name: "a failure after the alarm",
    arrange: (stage) => stage.write(NAMES.alarm),
    play: () => ({}),
    outcome: "failed-suppressed",
  },
  {
    name: "a wake",
    play: () => ({ wakes: true }),
    outcome: "rewake",
    delivers: "firstmate watcher wake - ",
  },
  {
    name: "a wake with a healthy successor is still a wake",
    arrange: (stage) => stage.watcher(),
    play: () => ({ wakes: true }),
    outcome: "rewake",
    delivers: "firstmate watcher wake - ",
  },
  {
    name: "a wake that belongs to no open downtime",
    arrange: (stage) => stage.write(".watcher-down", "acked:downtime:g\n"),
    play: () => ({ wakes: true }),
    outcome: "arming",
  },
  {
    name: "the first failure",
    play: () => ({}),
    outcome: "failed",
    delivers: "firstmate watcher auto-arm FAILED - ",
    check: (stage) => assert(stage.has(NAMES.notice)),
  },
  {
    name: "a first failure whose notice cannot be left",
    arrange: (stage) => Deno.symlinkSync("missing/file", `${stage.state}/${NAMES.notice}`),
    play: () => ({}),
    outcome: "failed",
  },
  {
    name: "a later failure",
    arrange: (stage) => stage.write(NAMES.notice),
    play: () => ({}),
    outcome: "failed-suppressed",
    delivers: "firstmate watcher auto-arm STILL FAILING - ",
  },
  ...[{}, { wakes: true }].map((play): Row => ({
    name: `superseded, ${play.wakes === true ? "with a wake" : "with a failure"}`,
    play: (stage) => ({ ...play, meanwhile: () => stage.write(NAMES.ledger, NEWER) }),
    outcome: "arming",
    check: (stage) => {
      assertEquals(stage.text, NEWER);
      assertFalse(stage.has(NAMES.notice));
    },
  })),
  {
    name: "a signal",
    play: () => ({ interruption: { kind: "signal", name: "HUP" } }),
    outcome: "failed",
    delivers: "firstmate watcher auto-arm INTERRUPTED by HUP - ",
    check: (stage) => assert(stage.has(NAMES.notice)),
  },
  {
    name: "a signal in an episode",
    arrange: (stage) => stage.write(NAMES.notice),
    play: () => ({ interruption: { kind: "signal", name: "TERM" } }),
    outcome: "failed-suppressed",
    delivers: "firstmate watcher auto-arm STILL FAILING - ",
  },
  {
    name: "a signal after the alarm",
    arrange: (stage) => stage.write(NAMES.alarm),
    play: () => ({ interruption: { kind: "signal", name: "TERM" } }),
    outcome: "failed-suppressed",
  },
  {
    name: "the time limit",
    play: () => ({ interruption: { kind: "time-limit" } }),
    outcome: "rewake",
    delivers: "firstmate watcher wake - the hook reached its time limit",
  },
  {
    name: "the time limit after the alarm",
    arrange: (stage) => stage.write(NAMES.alarm),
    play: () => ({ interruption: { kind: "time-limit" } }),
    outcome: "failed-suppressed",
  },
];

for (const { name, arrange, play, outcome, delivers, check } of ROWS) {
  Deno.test(`fire: ${name}`, async () => {
    using stage = new Stage();
    arrange?.(stage);
    const end = await stage.play(play(stage));
    assertEquals([end.delivered, stage.outcome], [delivers !== undefined, outcome], end.code);
    if (delivers !== undefined) assertStringIncludes(stage.printed.join(""), delivers);
    check?.(stage);
  });
}

/** Something that happens to a home between two looks. */
type Event =
  | { readonly kind: "fire" }
  /** The arm of one firing that still runs closes. */
  | { readonly kind: "close"; readonly which: number; readonly wakes: boolean }
  /** A firing that still runs is told to end. */
  | { readonly kind: "interrupt"; readonly which: number; readonly limit: boolean }
  /** The owner of the open claim dies without a word. */
  | { readonly kind: "kill" }
  /** Ledger and beacon stand still for longer than any grace. */
  | { readonly kind: "age" }
  | { readonly kind: "alarm" }
  | { readonly kind: "watcher"; readonly up: boolean };

const EVENT: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Event>({ kind: "fire" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("close"),
      which: fc.nat(3),
      wakes: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("interrupt"),
      which: fc.nat(3),
      limit: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Event>({ kind: "kill" }) },
  { weight: 1, arbitrary: fc.constant<Event>({ kind: "age" }) },
  { weight: 1, arbitrary: fc.constant<Event>({ kind: "alarm" }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("watcher"), up: fc.boolean() }) },
);

/** How a running firing is made to go on. */
type Push =
  | { readonly kind: "close"; readonly wakes: boolean }
  | { readonly kind: "interrupt"; readonly how: Interruption };

const TERM: Push = { kind: "interrupt", how: { kind: "signal", name: "TERM" } };

/** A firing whose arm runs. */
class Running {
  readonly owner: number;
  readonly ended: Promise<FiringEnd>;
  /** Its generation, once it has one. */
  epoch: string | undefined;
  readonly #interruption = Promise.withResolvers<Interruption>();
  #armed = Promise.withResolvers<undefined>();
  #arm = Promise.withResolvers<ArmOutput>();
  #looks = 0;

  /** `openOwner` is the owner of the claim that stands, if it is alive. */
  constructor(owner: number, stage: Stage, openOwner: () => number | undefined) {
    this.owner = owner;
    this.ended = stage.fire(
      (stop) => {
        this.#arm = Promise.withResolvers<ArmOutput>();
        stop.then(() => this.#arm.resolve(armOutput(false)));
        this.#armed.resolve(undefined);
        return this.#arm.promise;
      },
      this.#interruption.promise,
      () => {
        if (this.epoch !== undefined) return WATCHER;
        // The first look is for itself, the next for whoever holds the claim.
        return own(++this.#looks === 1 ? owner : openOwner() ?? owner);
      },
    );
  }

  /** Resolves with how it ended, or with nothing as soon as its arm runs. */
  async next(push?: Push): Promise<FiringEnd | undefined> {
    if (push !== undefined) this.#armed = Promise.withResolvers<undefined>();
    if (push?.kind === "close") this.#arm.resolve(armOutput(push.wakes));
    if (push?.kind === "interrupt") this.#interruption.resolve(push.how);
    return await Promise.race([this.ended, this.#armed.promise]);
  }
}

/** Plays events over one home, and holds it to what must be true of any order of them. */
class Interleaving {
  readonly #stage: Stage;
  #running: readonly Running[] = [];
  /** The first number is the watcher's. */
  #owners = 1;
  #epoch = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async play(event: Event): Promise<void> {
    switch (event.kind) {
      case "fire":
        return await this.#fire();
      case "close":
        return await this.#push(event.which, event);
      case "interrupt":
        return await this.#push(
          event.which,
          event.limit ? { kind: "interrupt", how: { kind: "time-limit" } } : TERM,
        );
      case "kill": {
        // What is dead does nothing any more: nobody will close its arm.
        const owner = this.#openOwner();
        this.#running = this.#running.filter((running) => running !== owner);
        return;
      }
      case "age":
        for (const name of [NAMES.ledger, BEACON]) {
          if (this.#stage.has(name)) Deno.utimeSync(`${this.#stage.state}/${name}`, 1, 1);
        }
        return;
      case "alarm":
        return this.#stage.write(NAMES.alarm);
      case "watcher":
        return event.up ? this.#stage.watcher() : this.#stage.remove(".watch.lock");
    }
  }

  /** Ends every firing that still runs. */
  async finish(): Promise<void> {
    while (this.#running.length > 0) await this.#push(0, TERM);
  }

  /** The owner of the claim that is open, if it is alive. */
  #openOwner(): Running | undefined {
    const entry = parseLedger(this.#stage.text);
    if (entry?.outcome !== "arming") return undefined;
    return this.#running.find((running) => running.epoch === entry.epoch);
  }

  #isOld(name: string): boolean {
    return !this.#stage.has(name) ||
      Deno.statSync(`${this.#stage.state}/${name}`).mtime?.getTime() === 1_000;
  }

  async #fire(): Promise<void> {
    const stage = this.#stage;
    const before = stage.text;
    const isOpen = this.#openOwner() !== undefined &&
      !(this.#isOld(NAMES.ledger) && this.#isOld(BEACON));
    const running = new Running(++this.#owners, stage, () => this.#openOwner()?.owner);
    const end = await running.next();
    assertEquals(end !== undefined, isOpen, "a claim is taken exactly where none is open");
    if (end !== undefined) {
      assertFalse(end.delivered, "a firing without a claim says nothing");
      assertEquals(stage.text, before, "and writes nothing");
      return;
    }
    this.#expectEpoch(this.#epoch + 1);
    running.epoch = String(this.#epoch);
    this.#running = [...this.#running, running];
  }

  /** Makes one firing go on until it ends or arms again, and looks at what it did. */
  async #push(which: number, push: Push): Promise<void> {
    const stage = this.#stage;
    const running = this.#running[which % this.#running.length];
    if (running === undefined) return;
    const owned = this.#openOwner() === running;
    const alarmed = stage.has(NAMES.alarm);
    const before = this.#traces();
    const end = await running.next(push);
    if (end !== undefined) this.#running = this.#running.filter((other) => other !== running);
    this.#expectEpoch(this.#epoch);
    if (!owned) {
      assertEquals(this.#traces(), before, "a superseded owner changes nothing");
      assert(end !== undefined && !end.delivered, "and ends in silence");
    }
    if (alarmed) {
      assertFalse(end?.delivered ?? false, "after an alarm nothing is delivered before a recovery");
    }
    if (end?.delivered === true) {
      assert(["rewake", "failed", "failed-suppressed"].includes(stage.outcome ?? ""));
    }
  }

  /** Everything that an owner may change. */
  #traces(): readonly string[] {
    const files = [NAMES.notice, NAMES.alarm, NAMES.budget].map((name) =>
      String(this.#stage.has(name))
    );
    return [this.#stage.text, ...files];
  }

  #expectEpoch(epoch: number): void {
    assertEquals(Number(parseLedger(this.#stage.text)?.epoch ?? 0), epoch, "the generation");
    this.#epoch = epoch;
  }
}

Deno.test("fire: whatever order claims, closes, kills and alarms come in", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(EVENT, { minLength: 4, maxLength: 16 }), async (events) => {
      using stage = new Stage();
      const interleaving = new Interleaving(stage);
      for (const event of events) await interleaving.play(event);
      await interleaving.finish();
    }),
    { numRuns: Deno.env.get("TURNGUARD_FULL") === "1" ? 3_000 : 200 },
  );
});
