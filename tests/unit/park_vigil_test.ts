/** Waiting for an arm, with an eye on everything else. */

import { assertEquals } from "@std/assert";
import { takeBaton } from "../../src/act/park/baton.ts";
import { ArmOutput } from "../../src/watch/arm_output.ts";
import type { ParkInterruption } from "../../src/watch/park/setup.ts";
import { Standing } from "../../src/watch/park/standing.ts";
import { keepVigil, type VigilEnd } from "../../src/watch/park/vigil.ts";
import { pidOf } from "../support/facts.ts";

const NEVER = new Promise<never>(() => {});

/** A state folder whose baton is taken and whose session lock names this very process. */
async function withStanding(
  work: (standing: Standing, state: string) => Promise<void>,
  ownsSession: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const state = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${state}/.lock`, `${Deno.pid}\n`);
    const event = { hash: "0a", startedAtMs: Date.now() + 1_000_000 };
    const taken = await takeBaton(state, event, { limitMs: 0, stepMs: 1 });
    if (taken.kind !== "claimed") throw new Error(taken.kind);
    await work(
      new Standing({ state, baton: taken.baton, owner: pidOf(Deno.pid), ownsSession }),
      state,
    );
  } finally {
    Deno.removeSync(state, { recursive: true });
  }
}

/** An arm that ends when it is stopped. */
async function untilStopped(stop: Promise<void>): Promise<ArmOutput> {
  await stop;
  return new ArmOutput();
}

function inWords(end: VigilEnd): string {
  const evidence = end.output.evidence.join();
  return end.kind === "left" ? `left: ${end.because}` : `ended: ${evidence}`;
}

Deno.test("keepVigil: an arm that ends, and one that breaks off", async () => {
  await withStanding(async (standing) => {
    const setup = { standing, pollMs: 1, interruption: NEVER };
    const output = new ArmOutput();
    output.add("signal: x");
    const arm = (): Promise<ArmOutput> => Promise.resolve(output);
    assertEquals(inWords(await keepVigil({ ...setup, arm })), "ended: signal: x");
    const broken = (): Promise<never> => Promise.reject(new Error("no room"));
    assertEquals(
      inWords(await keepVigil({ ...setup, arm: broken })),
      "ended: watcher: FAILED - the arm broke off: no room",
    );
  });
});

Deno.test("keepVigil: what comes first decides, and the arm is over by then", async () => {
  await withStanding(async (standing) => {
    for (const by of ["signalled", "session-end", "time-limit"] as const) {
      const interruption: Promise<ParkInterruption> = Promise.resolve(by);
      const setup = { standing, pollMs: 100_000, interruption };
      assertEquals(inWords(await keepVigil({ ...setup, arm: untilStopped })), `left: ${by}`);
    }
  });
});

/** What happens in the state folder, and why the park has to leave then. */
const LOSSES: readonly (readonly [
  what: string,
  because: "superseded" | "session-lost" | "away",
  lose: (state: string) => void,
])[] = [
  ["the baton is taken", "superseded", (state) => {
    Deno.writeTextFileSync(`${state}/.cursor-park-owner`, "seq=2 pid=1\n");
  }],
  ["the baton is removed", "superseded", (state) => {
    Deno.removeSync(`${state}/.cursor-park-owner`);
  }],
  ["the session lock is another's", "session-lost", (state) => {
    Deno.writeTextFileSync(`${state}/.lock`, "1\n");
  }],
  ["the session lock has a second line", "session-lost", (state) => {
    Deno.writeTextFileSync(`${state}/.lock`, `${Deno.pid}\nmore\n`);
  }],
  ["somebody is away", "away", (state) => Deno.writeTextFileSync(`${state}/.afk`, "")],
];

for (const [what, because, lose] of LOSSES) {
  Deno.test(`keepVigil: ${what}`, async () => {
    await withStanding(async (standing, state) => {
      const vigil = keepVigil({ standing, pollMs: 1, interruption: NEVER, arm: untilStopped });
      lose(state);
      assertEquals(inWords(await vigil), `left: ${because}`);
      assertEquals(await standing.prove(), because);
    });
  });
}

Deno.test("Standing: the proof is asked for before a word, not at every look", async () => {
  let owns = true;
  await withStanding(async (standing) => {
    owns = false;
    assertEquals(await standing.glance(), undefined);
    assertEquals(await standing.prove(), "session-lost");
    owns = true;
    assertEquals(await standing.prove(), undefined);
  }, () => Promise.resolve(owns));
});

Deno.test("takeBaton: the same event while its park was starting is a second delivery", async () => {
  const state = Deno.makeTempDirSync();
  try {
    const patience = { limitMs: 0, stepMs: 1 };
    const take = async (hash: string, startedAtMs: number): Promise<string> =>
      (await takeBaton(state, { hash, startedAtMs }, patience)).kind;
    const before = Date.now() - 1_000;
    const after = Date.now() + 1_000_000;
    assertEquals(await take("0a", before), "claimed");
    assertEquals(await take("0a", before), "second-delivery");
    assertEquals(await take("0b", before), "claimed");
    assertEquals(await take("0b", after), "claimed");
    // The event of another sequence says nothing.
    Deno.writeTextFileSync(`${state}/.cursor-park-owner`, "seq=40 pid=1 updated_at=1\n");
    assertEquals(await take("0b", before), "claimed");
    assertEquals(Deno.readTextFileSync(`${state}/.cursor-park-owner`).slice(0, 7), "seq=41 ");
  } finally {
    Deno.removeSync(state, { recursive: true });
  }
});
