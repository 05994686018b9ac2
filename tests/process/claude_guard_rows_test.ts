/**
 * The guard beside an auto-arm: what it makes of the ledger, of claims and of a failure episode, with
 * real processes behind every pid.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ALARM,
  BUDGET_LOCK,
  type GuardHome,
  type GuardRow,
  LEDGER,
  makeGuardHome,
  NOTICE,
  OWNER_LOCK,
  playRows,
  untilWaiting,
} from "../support/claude_home.ts";
import { isRunning, writeArm } from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { deadPid, identityOf, until } from "../support/processes.ts";
import { expectedOf } from "../support/rows.ts";
import { repairLineOf } from "../support/turnguard.ts";

/** A wait that no test can sit through without being noticed. */
const FAR_TOO_LONG_MS = 20_000;

function table(name: string, rows: readonly GuardRow[]): void {
  Deno.test(`claude guard: ${name}`, async () => {
    assertEquals(await playRows(rows), expectedOf(rows));
  });
}

/** One stop, and what it left. */
async function once(home: GuardHome, options?: Parameters<GuardHome["stop"]>[0]): Promise<string> {
  const verdict = await home.stop(options);
  return `${verdict}, ${home.left()}`;
}

/** Plays again for as long as a second of the clock passed meanwhile: ages are whole seconds. */
async function withinOneSecond(play: () => Promise<string>): Promise<string> {
  while (true) {
    const second = Math.floor(Date.now() / 1000);
    const outcome = await play();
    if (Math.floor(Date.now() / 1000) === second) return outcome;
  }
}

/** A claim whose owner does not descend from the session, with the words that tie it to it. */
async function orphan(
  home: GuardHome,
  tie: { readonly id?: string; readonly holder?: number } = {},
): Promise<void> {
  await home.open(4, {
    owner: home.outsider().pid,
    ...(tie.id === undefined ? {} : { words: ` owner_session_id=${tie.id}` }),
    ...(tie.holder === undefined ? {} : { holderIdentity: await identityOf(tie.holder) }),
  });
}

table("without a ledger every stop is blocked and counted (G1, G2)", [
  ["G1", "block, B(1,)", (home) => once(home)],
  ["G2", "block block block block block, B(5,)", async (home) => {
    const verdicts = await home.stops(5);
    return `${verdicts}, ${home.left()}`;
  }],
]);

table("a rewake continues the stop while it is fresh (G3-G5)", [
  ["G3", "allow, -", (home) => once(home.ledger("rewake", 3))],
  ["G4", "block, B(1,3)", (home) => once(home.ledger("rewake", 3, { age: 20 }))],
  [
    "G5 one second below the bound",
    "allow",
    (home) => withinOneSecond(() => home.ledger("rewake", 3, { age: 14 }).stop({ waitMs: 0 })),
  ],
  [
    "G5 at the bound",
    "block",
    (home) => home.ledger("rewake", 3, { age: 15 }).stop({ waitMs: 0 }),
  ],
  [
    "its bound is a setting",
    "allow",
    (home) =>
      home.ledger("rewake", 3, { age: 60 })
        .stop({ env: { FM_CLAUDE_AUTOARM_EPOCH_FRESH: "90" } }),
  ],
]);

table("an open claim continues the stop (G6, G7, G44)", [
  ["G6", "allow, -", async (home) => {
    await home.open(4);
    return await once(home);
  }],
  ["G6 by the session itself", "allow, -", async (home) => {
    await home.open(4, { owner: home.session.pid });
    return await once(home);
  }],
  ["G7", "allow allow, B(4,4) N", async (home) => {
    await home.open(4);
    home.notice().budget(3, 2);
    const verdicts = await home.stops(2);
    return `${verdicts}, ${home.left()}`;
  }],
  ["G44", "allow, -", async (home) => {
    await home.open(4);
    return await once(home, { waitMs: 0 });
  }],
]);

table("a claim is open only while its very owner lives and moves (G8-G12)", [
  ["G8", "block, B(1,4)", async (home) => {
    await home.open(4, { identity: await identityOf(home.session.pid) });
    return await once(home);
  }],
  ["G9", "block, B(1,4)", async (home) => {
    await home.open(4, { identity: null });
    return await once(home);
  }],
  ["G10", "block, B(1,4)", async (home) => {
    const ownerPid = await deadPid();
    home.ledger("arming", 4, { ownerPid, lines: [await identityOf(home.session.pid)] });
    return await once(home);
  }],
  ["G11", "block, B(1,4)", async (home) => {
    await home.open(4, { age: 400 });
    return await once(home);
  }],
  ["G11 with a beacon of the same age", "block, B(1,4)", async (home) => {
    await home.open(4, { age: 400 });
    home.home.beat(400);
    return await once(home);
  }],
  ["G12", "allow, -", async (home) => {
    await home.open(4, { age: 400 });
    home.home.beat(10);
    return await once(home);
  }],
  ["a longer grace", "allow, -", async (home) => {
    await home.open(4, { age: 400 });
    return await once(home, { env: { FM_GUARD_GRACE: "1000" } });
  }],
]);

table("a claim must be able to wake the session that holds the lock (G13-G17)", [
  ...[["missing", null], ["empty", ""], ["no pid", "abc\n"]].map(([what, text]): GuardRow => [
    `G13 ${what}`,
    "block, B(1,4)",
    async (home) => {
      await home.open(4);
      if (typeof text === "string") home.home.write("state/.lock", text);
      else home.home.remove("state/.lock");
      return await once(home);
    },
  ]),
  ["G14", "block, B(1,4)", async (home) => {
    await orphan(home);
    return await once(home);
  }],
  ["G15", "allow, -", async (home) => {
    await orphan(home, { id: "c1", holder: home.session.pid });
    home.home.write("state/.lock-session", "c1\n");
    return await once(home);
  }],
  ["G16", "block, B(1,4)", async (home) => {
    await orphan(home, { id: "c1", holder: home.outsider().pid });
    home.home.write("state/.lock-session", "c1\n");
    return await once(home);
  }],
  ["G17", "block, B(1,4)", async (home) => {
    await orphan(home, { id: "c1", holder: home.session.pid });
    home.home.write("state/.lock-session", "c2\n");
    return await once(home);
  }],
  ["G17 without a sidecar", "block, B(1,4)", async (home) => {
    await orphan(home, { id: "c1", holder: home.session.pid });
    return await once(home);
  }],
]);

/** Stops against one fresh failure after the other. */
async function failures(home: GuardHome, ...epochs: readonly number[]): Promise<string> {
  const verdicts: string[] = [];
  for (const epoch of epochs) {
    verdicts.push(await home.ledger("failed-suppressed", epoch).stop());
  }
  return verdicts.join(" ");
}

table("a failure episode runs from its notice to its one alarm (G18-G22, G31)", [
  ["G18", "allow, B(0,3) N", (home) => once(home.notice().ledger("failed", 3))],
  ["G19", "allow block, B(1,4) N", async (home) => {
    const verdicts = [await home.notice().ledger("failed", 3).stop(), await failures(home, 4)];
    return `${verdicts.join(" ")}, ${home.left()}`;
  }],
  [
    "G20, G22",
    "allow block block block alarm, B(4,7) N A, block, B(5,8) N A",
    async (home) => {
      const first = await home.notice().ledger("failed", 3).stop();
      const verdicts = `${first} ${await failures(home, 4, 5, 6, 7)}, ${home.left()}`;
      return `${verdicts}, ${await failures(home, 8)}, ${home.left()}`;
    },
  ],
  ["G21, G22", "allow block block block alarm block, B(5,3) N A", async (home) => {
    const verdicts = await home.notice().ledger("failed", 3).stops(6);
    return `${verdicts}, ${home.left()}`;
  }],
  ["G31", "allow(1) allow(2) allow(3) allow(4) alarm(5), B(5,8) N A", async (home) => {
    const verdicts: string[] = [];
    home.notice();
    const owner = await home.child();
    for (const epoch of [1, 3, 5, 7]) {
      await home.open(epoch, { owner });
      verdicts.push(`${await home.stop()}(${home.count()})`);
      home.ledger("failed-suppressed", epoch + 1);
    }
    verdicts.push(`${await home.stop()}(${home.count()})`);
    return `${verdicts.join(" ")}, ${home.left()}`;
  }],
]);

table("an exhausted count alone never lets a turn end (G23-G30, G32)", [
  ["G23", "block, B(0,3) N", (home) => once(home.notice().ledger("failed-suppressed", 3))],
  ["G24", "alarm, B(4,3) N A", (home) => once(home.exhausted())],
  [
    "G25",
    "block, B(4,3)",
    (home) => once(home.ledger("failed-suppressed", 3, { age: 100 }).budget(3, 2)),
  ],
  ["G26", "block, B(4,) N", (home) => once(home.notice().budget(3, 2))],
  ["G27", "block, B(10,3) N", (home) => once(home.notice().ledger("clean", 3).budget(9, 2))],
  ["G28", "block, B(4,3) N, Away mode owns watcher supervision", async (home) => {
    const run = await home.exhausted().run({ env: {} });
    assertEquals(run.status, 0);
    home.home.remove(ALARM).away();
    home.budget(3, 2);
    const away = await home.run();
    const repair = /Away mode owns watcher supervision/.exec(repairLineOf(away))?.[0] ?? "";
    return `${away.status === 2 ? "block" : away.status}, ${home.left()}, ${repair}`;
  }],
  [
    "G29",
    "block, B(4,3) N",
    (home) => once(home.exhausted(), { env: { FM_CLAUDE_TURNEND_BLOCK_BUDGET: "5" } }),
  ],
  ...["0", "x", "-1", "", "3.5"].map((value): GuardRow => [
    `G30 budget "${value}"`,
    "alarm, B(4,3) N A",
    (home) => once(home.exhausted(), { env: { FM_CLAUDE_TURNEND_BLOCK_BUDGET: value } }),
  ]),
  [
    "G32",
    "block, B(0,3) N",
    (home) => once(home.notice().ledger("failed", 3, { age: 100 }).budget(2, 3, "S0")),
  ],
]);

table("locks of others are respected (G33-G37, G40)", [
  ["G33", "block, -", (home) => once(home.lock(BUDGET_LOCK, home.outsider().pid))],
  ["G33 with a budget", "block, B(2,)", (home) => {
    return once(home.budget(2, "").lock(BUDGET_LOCK, home.outsider().pid));
  }],
  [
    "G34",
    "block, B(4,3) N",
    (home) => once(home.exhausted().lock(OWNER_LOCK, home.outsider().pid)),
  ],
  ["G35", "allow, B(4,3) N, lock kept", async (home) => {
    // Named by no ledger, the legacy claim is live, so the wait itself ends in its favour.
    home.exhausted().lock(OWNER_LOCK, home.outsider().pid, { role: "autoarm" });
    const outcome = await once(home);
    return `${outcome}, ${exists(home.path(OWNER_LOCK)) ? "lock kept" : "lock gone"}`;
  }],
  ["G36", "alarm, B(4,3) N A, lock gone, owner alive", (home) => abandoned(home, false)],
  ["G37", "alarm, B(4,3) N A, lock gone, owner ended", (home) => abandoned(home, true)],
  ["G40", "block, B(4,3) N A", (home) => {
    home.exhausted();
    Deno.mkdirSync(home.path(ALARM));
    return once(home);
  }],
]);

/** A legacy claim whose own ledger entry has ended. */
async function abandoned(home: GuardHome, withIdentity: boolean): Promise<string> {
  const owner = home.outsider();
  home.notice().ledger("failed-suppressed", 3, { age: 100, ownerPid: owner.pid }).budget(3, 2);
  home.lock(OWNER_LOCK, owner.pid, {
    role: "autoarm",
    ...(withIdentity ? { identity: await identityOf(owner.pid) } : {}),
  });
  const outcome = await once(home);
  const lock = exists(home.path(OWNER_LOCK)) ? "lock kept" : "lock gone";
  // A signal that was sent at all has been delivered by now.
  if (withIdentity) await until(() => !isRunning(owner.pid));
  return `${outcome}, ${lock}, owner ${isRunning(owner.pid) ? "alive" : "ended"}`;
}

table("malformed and finished entries mean nothing (G46-G48)", [
  [
    "G46",
    "block, B(1,5)",
    (home) => once(home.ledgerText("epoch=5 owner_pid=9 outcome=rewake\n")),
  ],
  ["G47 parked", "block, B(1,5)", (home) => once(home.ledger("parked", 5))],
  ["G47 interrupted", "block, B(1,5)", (home) => once(home.ledger("interrupted", 5))],
  ["G48", "allow, -, block, B(1,3)", async (home) => {
    home.ledger("failed-suppressed", 3, { age: 100 }).episode();
    const watcher = await home.home.watcher();
    const recovered = await once(home);
    await watcher.end();
    return `${recovered}, ${await once(home)}`;
  }],
]);

Deno.test("claude guard: the alarm's message names the need and no manual arm (G20)", async () => {
  await using home = await makeGuardHome();
  home.home.task("task2");
  const { status, stdout, stderr } = await home.exhausted().run();
  assertEquals([status, stderr], [0, ""]);
  assertStringIncludes(
    stdout,
    '{"systemMessage":"FIRSTMATE SUPERVISION IS GENUINELY DOWN: 2 task(s) in flight, ',
  );
  assert(!stdout.includes("fm-watch-arm.sh"), stdout);
});

/** Whether a guard that would wait far too long ends soon after `change`, and what it comes to. */
async function endsSoonAfter(
  home: GuardHome,
  change: () => Promise<unknown> | unknown,
): Promise<string> {
  const guard = await home.guard({ waitMs: FAR_TOO_LONG_MS });
  await untilWaiting(guard);
  const before = performance.now();
  await change();
  const { status, stdout, stderr } = await guard.ended();
  const soon = performance.now() - before < FAR_TOO_LONG_MS / 2;
  return `${status}${stdout}${stderr === "" ? "" : ` ${stderr.slice(0, 36)}`} ` +
    `${soon ? "soon" : "late"}, ${home.left()}`;
}

table("what comes up during the wait ends it (G41-G43)", [
  ["G41", "0 soon, -", (home) =>
    endsSoonAfter(home, () => {
      home.lock(OWNER_LOCK, home.outsider().pid, { role: "autoarm" });
    })],
  ["a claim", "0 soon, -", async (home) => {
    const owner = await home.child();
    return await endsSoonAfter(home, () => home.open(4, { owner }));
  }],
  ["a rewake", "0 soon, -", (home) => endsSoonAfter(home, () => home.ledger("rewake", 4))],
  ["G42", "0 soon, -", (home) => {
    home.episode();
    return endsSoonAfter(home, () => home.home.watcher());
  }],
  ["G43", "2 ●  SUPERVISION RECOVERY NOT RECORDED soon, B(2,3) N A", (home) => {
    home.episode().lock(BUDGET_LOCK, home.outsider().pid);
    return endsSoonAfter(home, () => home.home.watcher());
  }],
]);

Deno.test("claude guard: the default wait is not cut short (G45)", async () => {
  await using home = await makeGuardHome();
  const before = performance.now();
  assertEquals(await home.stop({ waitMs: null }), "block");
  assert(performance.now() - before >= 800, "a slower auto-arm would have come too late");
});

Deno.test("claude guard: guard and auto-arm may both end one episode (G49)", async () => {
  await using home = await makeGuardHome();
  writeArm(home.home, "exit 0");
  await home.home.watcher();
  for (let round = 0; round < 5; round++) {
    home.episode();
    const hooks = [await home.session.autoarm(), await home.guard()];
    const [arm, guard] = await Promise.all(hooks.map((hook) => hook.ended()));
    // A guard that lost the race for the lock must not block a turn that is supervised.
    assertEquals(guard, { status: 0, stdout: "", stderr: "" });
    assert(arm?.status === 0 || arm?.status === 2, JSON.stringify(arm));
    assertEquals([home.left(), home.litter()], ["-", []]);
  }
});

table("hostile state is judged like a missing one (14)", [
  ["ledger a directory", "block, B(1,)", (home) => {
    Deno.mkdirSync(home.path(LEDGER));
    return once(home);
  }],
  ["ledger binary", "block, B(1,)", (home) => {
    home.home.write(LEDGER, new Uint8Array([0, 255, 10, 254, 0]));
    return once(home);
  }],
  [
    "ledger without a line feed",
    "allow, -",
    (home) => once(home.ledgerText("epoch=5 owner_pid=9 outcome=rewake updated_at=1")),
  ],
  ["claim without a line feed", "block, B(1,5)", async (home) => {
    const owner = await home.child();
    return await once(home.ledgerText(`epoch=5 owner_pid=${owner} outcome=arming updated_at=1`));
  }],
  ["epoch abc", "block, B(1,)", (home) => once(home.ledger("clean", "abc"))],
  ...["0", "-1", "abc", "99999999999999999999"].map((ownerPid): GuardRow => [
    `owner_pid ${ownerPid}`,
    "block, B(1,5)",
    async (home) =>
      await once(
        home.ledger("arming", 5, { ownerPid, lines: [await identityOf(home.session.pid)] }),
      ),
  ]),
  ["ledger from the future", "allow, -", (home) => once(home.ledger("rewake", 5, { age: -90 }))],
  ["claim from the future", "allow, -", async (home) => {
    await home.open(5, { age: -90 });
    return await once(home);
  }],
  ...([
    ["empty", "", "B(1,)"],
    ["one line", "session=S1\n", "B(1,)"],
    ["carriage returns", "session=S1\r\ncount=7\r\nepoch=\r\n", "B(1,)"],
    ["count x", "session=S1\ncount=x\nepoch=\n", "B(1,)"],
    ["more lines", "session=S1\ncount=7\nepoch=\nreblocks=9\nsignature=a\n", "B(8,)"],
  ] as const).map(([what, text, left]): GuardRow => [
    `budget ${what}`,
    `block, ${left}`,
    (home) => {
      home.home.write("state/.turnend-claude-blocks", text);
      return once(home);
    },
  ]),
  ["budget a directory", "block, B=directory", (home) => {
    Deno.mkdirSync(home.path("state/.turnend-claude-blocks"));
    return once(home);
  }],
  ["budget a directory, exhausted episode", "block block, B=directory N", async (home) => {
    home.notice().ledger("failed-suppressed", 3, { age: 100 });
    Deno.mkdirSync(home.path("state/.turnend-claude-blocks"));
    const verdicts = await home.stops(2);
    return `${verdicts}, ${home.left()}`;
  }],
  ["budget a link", "block, B(5,), target kept", async (home) => {
    home.home.write("elsewhere", "session=S1\ncount=4\nepoch=\n");
    Deno.symlinkSync(home.path("elsewhere"), home.path("state/.turnend-claude-blocks"));
    const outcome = await once(home);
    const kept = textOf(home.path("elsewhere")) === "session=S1\ncount=4\nepoch=\n" &&
      Deno.lstatSync(home.path("state/.turnend-claude-blocks")).isFile;
    return `${outcome}, ${kept ? "target kept" : "target changed"}`;
  }],
  ["notice a directory", "alarm, B(4,3) N A", (home) => {
    home.ledger("failed-suppressed", 3, { age: 100 }).budget(3, 2);
    Deno.mkdirSync(home.path(NOTICE));
    return once(home);
  }],
  ["notice a directory, recovered", "unrecorded, B(3,2) N", async (home) => {
    home.budget(3, 2);
    Deno.mkdirSync(home.path(NOTICE));
    await home.home.watcher();
    return await once(home);
  }],
  ["notice leads nowhere", "block, B(4,3)", async (home) => {
    home.ledger("failed-suppressed", 3, { age: 100 }).budget(3, 2);
    Deno.symlinkSync("nowhere", home.path(NOTICE));
    const verdict = await home.stop();
    return `${verdict}, ${home.budgetLeft()}`;
  }],
  ["owner lock of an unknown role", "block, B(4,3) N", (home) => {
    return once(home.exhausted().lock(OWNER_LOCK, home.outsider().pid, { role: "other" }));
  }],
  ["owner lock of a guard that was killed", "alarm, B(4,3) N A, no litter", async (home) => {
    home.exhausted().lock(OWNER_LOCK, await deadPid(), { role: "terminal-check" });
    const outcome = await once(home);
    return `${outcome}, ${home.litter().join(" ") || "no litter"}`;
  }],
  ["locks of dead processes", "block, B(1,), no litter", async (home) => {
    home.lock(BUDGET_LOCK, await deadPid());
    const outcome = await once(home);
    return `${outcome}, ${home.litter().join(" ") || "no litter"}`;
  }],
]);
