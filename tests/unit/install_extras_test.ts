/** Entries besides the guard's: which are registered, and in which file. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ACTIVITY_EVENTS } from "../../src/harness/activity_events.ts";
import { CLAUDE_REGISTRATION } from "../../src/harness/claude_registration.ts";
import { CODEX_REGISTRATION } from "../../src/harness/codex_registration.ts";
import { CURSOR_REGISTRATION } from "../../src/harness/cursor_registration.ts";
import { standingHooks } from "../../src/harness/registration/standing_hooks.ts";
import { applyChanges } from "../../src/modes/install/apply.ts";
import type { FileChange, Plan } from "../../src/modes/install/plan.ts";
import { planHooks } from "../../src/modes/install/plan_hooks.ts";
import { planRemoval } from "../../src/modes/install/plan_removal.ts";
import type { InstallRequest } from "../../src/modes/install/request.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { makeHome, type TestHome } from "../support/home.ts";

function request(home: TestHome, changes: Partial<InstallRequest> = {}): InstallRequest {
  return {
    root: home.root,
    isForUser: false,
    environment: environmentOf({}),
    executable: "/opt/tg",
    replacesShell: false,
    guards: true,
    extras: ["always"],
    modes: ["record", "activity"],
    ...changes,
  };
}

function apply(plan: Plan): void {
  assert(plan.kind === "planned", JSON.stringify(plan));
  const changes = plan.files.flatMap(({ change }) => change === undefined ? [] : [change]);
  assertEquals(applyChanges(changes), { kind: "done" });
}

/** Event and token of every entry of ours in a file. */
function standing(home: TestHome, file: string): readonly string[] {
  const found = standingHooks(Deno.readTextFileSync(home.path(file)), "groups");
  assert(found.kind === "read");
  return found.own.map(({ event, token }) => `${event} ${token.slice("turnguard:".length)}`);
}

const MAIN = ".claude/settings.json";
const LOCAL = ".claude/settings.local.json";
const GUARD = ["Stop claude-stop", "Stop claude-autoarm"];
const RECORD = ["StopFailure record", "Notification record"];
const ACTIVITY = ACTIVITY_EVENTS.claude.map((event) => `${event} activity`);

Deno.test("install claude: failures and idle prompts are recorded along with the guard", async () => {
  await using home = makeHome();
  apply(await planHooks(CLAUDE_REGISTRATION, request(home)));
  assertEquals(standing(home, MAIN).toSorted(), [...GUARD, ...RECORD].toSorted());
  assertStringIncludes(Deno.readTextFileSync(home.path(MAIN)), '"matcher": "idle_prompt"');
});

Deno.test("install claude: a mode that does not exist is not registered", async () => {
  await using home = makeHome();
  apply(await planHooks(CLAUDE_REGISTRATION, request(home, { modes: [] })));
  assertEquals(standing(home, MAIN), GUARD);
});

Deno.test("install claude --activity: one group for each event, brought up to date without the flag", async () => {
  await using home = makeHome();
  apply(await planHooks(CLAUDE_REGISTRATION, request(home, { extras: ["always", "activity"] })));
  assertEquals(standing(home, MAIN).toSorted(), [...GUARD, ...RECORD, ...ACTIVITY].toSorted());
  const text = Deno.readTextFileSync(home.path(MAIN));
  assertStringIncludes(text, "cd / && exec '/opt/tg' activity --host claude");
  apply(await planHooks(CLAUDE_REGISTRATION, request(home, { executable: "/opt/new" })));
  assertEquals(
    Deno.readTextFileSync(home.path(MAIN)),
    text.replaceAll("'/opt/tg'", "'/opt/new'"),
  );
});

Deno.test("install claude --all-hooks: every event once", async () => {
  await using home = makeHome();
  const extras = ["always", "activity", "all"] as const;
  apply(await planHooks(CLAUDE_REGISTRATION, request(home, { extras })));
  const found = standing(home, MAIN);
  assertEquals(new Set(found).size, found.length);
  for (const event of ["Stop", "StopFailure", "Notification", "TeammateIdle", "TaskCreated"]) {
    assert(found.includes(`${event} activity`), event);
  }
  const removed = await planRemoval(CLAUDE_REGISTRATION, request(home));
  apply(removed);
  assertEquals(Deno.readTextFileSync(home.path(MAIN)), "{}\n");
});

Deno.test("install claude: in a home of the suite only the guard goes into the file of the repository", async () => {
  await using home = makeHome();
  home.write("bin/fm-turnend-guard.sh");
  apply(await planHooks(CLAUDE_REGISTRATION, request(home, { extras: ["always", "activity"] })));
  assertEquals(standing(home, MAIN), GUARD);
  assertEquals(standing(home, LOCAL).toSorted(), [...RECORD, ...ACTIVITY].toSorted());
  apply(await planRemoval(CLAUDE_REGISTRATION, request(home)));
  for (const file of [MAIN, LOCAL]) assertEquals(Deno.readTextFileSync(home.path(file)), "{}\n");
});

Deno.test("install --activity: outside of a home sessions are recorded and nothing is guarded", async () => {
  await using home = makeHome();
  home.remove("AGENTS.md");
  const extras = ["activity"] as const;
  apply(await planHooks(CLAUDE_REGISTRATION, request(home, { guards: false, extras })));
  assertEquals(standing(home, MAIN).toSorted(), ACTIVITY.toSorted());
  const refused = await planHooks(CODEX_REGISTRATION, request(home, { guards: false, extras: [] }));
  assert(refused.kind === "refused");
  assertStringIncludes(refused.wrong, "is not a home");
});

Deno.test("install cursor --activity: the stop has one hook of ours, and compaction none", async () => {
  await using home = makeHome();
  apply(await planHooks(CURSOR_REGISTRATION, request(home, { extras: ["always", "activity"] })));
  const found = standingHooks(Deno.readTextFileSync(home.path(".cursor/hooks.json")), "flat");
  assert(found.kind === "read");
  const events = found.own.map(({ event }) => event);
  assertEquals(events.filter((event) => event === "stop").length, 1);
  assertEquals(events.includes("preCompact"), false);
  assert(events.includes("subagentStart"));
});

Deno.test("install codex --activity: a command that every shell understands", async () => {
  await using home = makeHome();
  apply(await planHooks(CODEX_REGISTRATION, request(home, { extras: ["always", "activity"] })));
  const found = standingHooks(Deno.readTextFileSync(home.path(".codex/hooks.json")), "groups");
  assert(found.kind === "read");
  const commands = new Set(
    found.own.filter(({ token }) => token === "turnguard:activity").map(({ command }) => command),
  );
  assertEquals([...commands], [
    ": turnguard:activity; cd / && exec '/opt/tg' activity --host codex",
  ]);
});

Deno.test("applyChanges: a file that was changed since is left, and what came before is taken back", async () => {
  await using home = makeHome();
  home.write("a", "1").write("b", "2");
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const change = (
    name: string,
    before: string | undefined,
    after: string | undefined,
  ): FileChange => ({
    label: name,
    path: home.path(name),
    before: before === undefined ? undefined : bytes(before),
    after,
    mode: undefined,
  });
  const applied = applyChanges([
    change("a", "1", "new"),
    change("new/folder/c", undefined, "c"),
    change("b", "what it was", "new"),
  ]);
  assert(applied.kind === "failed" && applied.left.length === 0);
  assertEquals(applied.path, home.path("b"));
  assertEquals(Deno.readTextFileSync(home.path("a")), "1");
  assertEquals(Deno.readTextFileSync(home.path("b")), "2");
  assertEquals(Array.from(Deno.readDirSync(home.root)).some(({ name }) => name === "new"), false);
  for (const wrong of [change("a", undefined, "new"), change("a", "2", undefined)]) {
    assertEquals(applyChanges([wrong]).kind, "failed");
    assertEquals(Deno.readTextFileSync(home.path("a")), "1");
  }
});
