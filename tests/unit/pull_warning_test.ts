/**
 * The verdict inside a turn over every combination of model, lock, beacon and evidence, and the
 * proof of a handling turn.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { OwnershipFact } from "../../src/decide/extension_ownership.ts";
import type { HolderFact, WatcherFact } from "../../src/decide/facts.ts";
import {
  decidePullWarning,
  judgeMidturn,
  type MidturnFact,
  type PullFacts,
} from "../../src/decide/pull_warning.ts";
import { judgeTangle } from "../../src/decide/pull_warning/tangle.ts";
import type { SupervisionModel } from "../../src/decide/supervision_model.ts";
import { observeCheckout } from "../../src/observe/pull_warning/checked_out_branch.ts";
import type { LedgerEntry } from "../../src/state/claude_ledger.ts";
import { makeHome } from "../support/home.ts";
import { identityNamed, pidOf } from "../support/facts.ts";

const IDENTITY = identityNamed("Mon Nov 30 21:18:54 2026 x");
const GRACE = 300;

/** Who holds the watch lock. */
const HOLDERS: Readonly<Record<string, HolderFact>> = {
  nobody: { kind: "none" },
  watcher: recorded("alive", { kind: "known", identity: IDENTITY }),
  dead: recorded("dead", { kind: "unknown", because: "dead" }),
  malformed: { kind: "malformed", because: "x" },
  unknown: recorded("alive", { kind: "unknown", because: "no command line" }),
};

/** Age of the beacon. */
const BEATS: Readonly<Record<string, WatcherFact["beacon"]>> = {
  fresh: { kind: "beat", ageSeconds: GRACE - 1 },
  "from the near future": { kind: "beat", ageSeconds: -60 },
  stale: { kind: "beat", ageSeconds: GRACE },
  never: { kind: "never" },
  unreadable: { kind: "unreadable" },
  "from the far future": { kind: "beat", ageSeconds: -61 },
};

const FRESH = ["fresh", "from the near future"];

const OWNERSHIPS: Readonly<Record<"proven" | "unproven", OwnershipFact>> = {
  proven: { session: { line: "7", liveness: "alive" }, families: [{ name: "Pi", extensions: [] }] },
  unproven: { session: { line: "7", liveness: "dead" }, families: [] },
};

const HANDLING: MidturnFact = {
  failing: false,
  entry: ledgerEntry(),
  session: { line: "7", liveness: "alive" },
  recovery: {
    kind: "valid",
    marker: { status: "pending", kind: "handling", generation: "g1" },
  },
  ledgerSecond: 100,
  beaconSecond: 100,
};

const MIDTURNS: Readonly<Record<"handling" | "unproven", MidturnFact>> = {
  handling: HANDLING,
  unproven: { ...HANDLING, failing: true },
};

/** One combination, by the names of its parts. */
interface Row {
  readonly model: SupervisionModel;
  readonly holder: string;
  readonly beat: string;
  readonly owned: "proven" | "unproven";
  readonly midturn: "handling" | "unproven";
}

/** The published table, condensed. */
function expected({ model, holder, beat, owned, midturn }: Row): string {
  const fresh = FRESH.includes(beat);
  const notFresh = beat === "from the far future" ? "clock-skew" : "stale-beacon";
  const noWatcher = holder === "unknown" ? "watcher-unknown" : "no-watcher";
  if (model === "autoarm") {
    if (fresh) return "healthy: beacon-fresh";
    return midturn === "handling" ? "healthy: handling-turn" : `down: ${notFresh}`;
  }
  if (!fresh) return `down: ${notFresh}`;
  if (holder === "watcher") return "healthy: watcher-healthy";
  if (model === "extension" && holder === "nobody" && owned === "proven") {
    return "healthy: extension-owns";
  }
  return `down: ${noWatcher}`;
}

function* rows(): Generator<Row> {
  for (const model of ["autoarm", "extension", "persistent"] as const) {
    for (const holder of Object.keys(HOLDERS)) {
      for (const beat of Object.keys(BEATS)) {
        for (const owned of ["proven", "unproven"] as const) {
          for (const midturn of ["handling", "unproven"] as const) {
            yield { model, holder, beat, owned, midturn };
          }
        }
      }
    }
  }
}

function factsOf(row: Row): PullFacts {
  const holder = HOLDERS[row.holder];
  const beacon = BEATS[row.beat];
  if (holder === undefined || beacon === undefined) throw new Error(`no facts for ${row.holder}`);
  return {
    watcher: {
      holder,
      home: { kind: "text", text: "/h" },
      path: { kind: "text", text: "/h/bin/fm-watch.sh" },
      identity: { kind: "text", text: IDENTITY },
      expectedHome: "/h",
      expectedPath: "/h/bin/fm-watch.sh",
      beacon,
      grace: { FM_GUARD_GRACE: undefined, FM_POLL: undefined },
    },
    extensions: OWNERSHIPS[row.owned],
    midturn: MIDTURNS[row.midturn],
  };
}

async function verdict(row: Row, changes: Partial<PullFacts> = {}): Promise<string> {
  const facts = { ...factsOf(row), ...changes };
  const { kind, code } = await decidePullWarning(
    row.model,
    (name) => Promise.resolve(facts[name]),
  );
  return `${kind}: ${code}`;
}

Deno.test("decidePullWarning: every combination of model, lock, beacon and evidence", async () => {
  const all = [...rows()];
  assertEquals(all.length, 360);
  for (const row of all) assertEquals(await verdict(row), expected(row), JSON.stringify(row));
});

Deno.test("decidePullWarning: a lock of another home, path or process vouches for nobody", async () => {
  const row: Row = {
    model: "extension",
    holder: "watcher",
    beat: "fresh",
    owned: "proven",
    midturn: "unproven",
  };
  const { watcher } = factsOf(row);
  for (
    const changes of [
      { home: { kind: "text", text: "/other" } },
      { path: { kind: "absent" } },
      { identity: { kind: "text", text: "another" } },
    ] as const
  ) {
    for (const model of ["extension", "persistent"] as const) {
      const changed = { watcher: { ...watcher, ...changes } };
      assertEquals(await verdict({ ...row, model }, changed), "down: no-watcher");
    }
  }
});

Deno.test("decidePullWarning: a malformed grace counts as unset, and zero is never reached", async () => {
  const row: Row = {
    model: "persistent",
    holder: "watcher",
    beat: "fresh",
    owned: "unproven",
    midturn: "unproven",
  };
  const { watcher } = factsOf(row);
  const at = (text: string) => ({
    watcher: { ...watcher, grace: { FM_GUARD_GRACE: text, FM_POLL: "900" } },
  });
  assertEquals(await verdict(row, at("abc")), "healthy: watcher-healthy");
  assertEquals(await verdict(row, at(" 300 ")), "healthy: watcher-healthy");
  assertEquals(await verdict(row, at("0")), "down: stale-beacon");
  assertEquals(await verdict(row, at("299")), "down: stale-beacon");
});

/** What differs from a handling turn, and whether it still is one. */
const TURNS: ReadonlyArray<readonly [what: string, Partial<MidturnFact>, handling: boolean]> = [
  ["nothing", {}, true],
  ["ledger a second younger", { ledgerSecond: 101 }, true],
  ["both very old", { ledgerSecond: 1, beaconSecond: 1 }, true],
  ["marker announced", marker("announced"), true],
  ["marker acknowledged", marker("acked"), true],
  ["a failure stands", { failing: true }, false],
  ["no ledger", { entry: undefined }, false],
  ["still arming", { entry: ledgerEntry({ outcome: "arming" }) }, false],
  ["failed", { entry: ledgerEntry({ outcome: "failed" }) }, false],
  ["no session recorded", { entry: ledgerEntry({ sessionPid: undefined }) }, false],
  ["another session", { entry: ledgerEntry({ sessionPid: "8" }) }, false],
  ["same pid, other text", { entry: ledgerEntry({ sessionPid: "07" }) }, false],
  ["session dead", { session: { line: "7", liveness: "dead" } }, false],
  ["session of another user", { session: { line: "7", liveness: "foreign" } }, false],
  ["session of unknown life", { session: { line: "7", liveness: "unknown" } }, false],
  ["no marker", { recovery: { kind: "none" } }, false],
  ["invalid marker", { recovery: { kind: "invalid" } }, false],
  ["another generation", { entry: ledgerEntry({ recoveryGeneration: "g2" }) }, false],
  ["no generation", { entry: ledgerEntry({ recoveryGeneration: undefined }) }, false],
  ["beat since", { beaconSecond: 101 }, false],
  ["no beat", { beaconSecond: undefined }, false],
  ["ledger without a time", { ledgerSecond: undefined }, false],
];

Deno.test("judgeMidturn: each part of the evidence is needed", () => {
  const actual = TURNS.map(([what, changes]) => [
    what,
    judgeMidturn({ ...HANDLING, ...changes }).kind === "handling",
  ]);
  assertEquals(actual, TURNS.map(([what, , handling]) => [what, handling]));
});

Deno.test("judgeTangle: a named branch beside the known default", () => {
  const tangle = (
    branch: string | undefined,
    remoteDefault: string | undefined,
    ...localDefaults: string[]
  ) => judgeTangle({ kind: "checkout", branch, remoteDefault, localDefaults })?.defaultBranch;
  assertEquals(tangle("fm/x", undefined, "main"), "main");
  assertEquals(tangle("fm/x", undefined, "main", "master"), "main");
  assertEquals(tangle("fm/x", undefined, "master"), "master");
  assertEquals(tangle("fm/x", "trunk", "main"), "trunk");
  assertEquals(tangle("main", "trunk", "main"), "trunk");
  assertEquals(tangle("trunk", "trunk", "main"), undefined);
  assertEquals(tangle("main", undefined, "main"), undefined);
  assertEquals(tangle(undefined, "main", "main"), undefined);
  assertEquals(tangle("fm/x", undefined), undefined);
  assertEquals(judgeTangle({ kind: "none" }), undefined);
});

Deno.test("observeCheckout: branches are read from loose and packed references", async () => {
  await using home = makeHome();
  home.write(".git/HEAD", "ref: refs/heads/fm/x\n");
  assertEquals(observeCheckout(home.root), checkout("fm/x", undefined));
  home.write(".git/packed-refs", `# pack-refs\n${"0".repeat(40)} refs/heads/master\n`);
  assertEquals(observeCheckout(home.root), checkout("fm/x", undefined, "master"));
  home.write(".git/refs/heads/main", `${"0".repeat(40)}\n`);
  home.write(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n");
  assertEquals(observeCheckout(home.root), checkout("fm/x", "trunk", "main", "master"));
  home.write(".git/HEAD", `${"0".repeat(40)}\n`);
  assertEquals(observeCheckout(home.root), checkout(undefined, "trunk", "main", "master"));
});

Deno.test("observeCheckout: a linked worktree has its own branch and the common references", async () => {
  await using home = makeHome({ git: "linked-worktree" });
  Deno.mkdirSync(`${home.folder}/main/.git/refs/heads`, { recursive: true });
  Deno.writeTextFileSync(`${home.folder}/main/.git/refs/heads/main`, `${"0".repeat(40)}\n`);
  assertEquals(observeCheckout(home.root), checkout("task", undefined, "main"));
});

Deno.test("observeCheckout: a folder without Git has no branches", async () => {
  await using home = makeHome({ git: "none" });
  assertEquals(observeCheckout(home.root), { kind: "none" });
});

function checkout(
  branch: string | undefined,
  remoteDefault: string | undefined,
  ...localDefaults: string[]
): ReturnType<typeof observeCheckout> {
  return { kind: "checkout", branch, remoteDefault, localDefaults };
}

function marker(status: "announced" | "acked"): Partial<MidturnFact> {
  return { recovery: { kind: "valid", marker: { status, kind: "downtime", generation: "g1" } } };
}

function ledgerEntry(changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    epoch: "3",
    ownerPid: "9",
    outcome: "rewake",
    ownerSessionId: undefined,
    sessionPid: "7",
    recoveryGeneration: "g1",
    ownerIdentity: "x",
    holderIdentity: "",
    ...changes,
  };
}

function recorded(
  liveness: "alive" | "dead",
  identity: Extract<HolderFact, { kind: "recorded" }>["identity"],
): HolderFact {
  return { kind: "recorded", pid: pidOf(100), liveness, identity };
}
