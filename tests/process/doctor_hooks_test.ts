/**
 * `doctor` over registrations: what stands, what could not run, what was seen to run.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { makeHome, type TestHome } from "../support/home.ts";
import { FIRST_STOP, runTurnguard, tabulate, TURNGUARD } from "../support/turnguard.ts";

interface Check {
  readonly id: string;
  readonly outcome: string;
  readonly what: string;
}

const CLAUDE = ".claude/settings.json";

async function install(home: TestHome, ...words: readonly string[]): Promise<void> {
  const { status, stderr } = await runTurnguard(["install", ...words, ...home.args], {
    stdin: null,
    env: { HOME: home.folder },
  });
  assertEquals([status, stderr], [0, ""]);
}

/** Outcome and words of the checks of a harness's hooks. */
async function checked(home: TestHome, harness: string): Promise<readonly Check[]> {
  const { stdout } = await runTurnguard(["doctor", "--json", ...home.args], {
    stdin: null,
    env: { HOME: home.folder },
  });
  const { checks }: { readonly checks: readonly Check[] } = JSON.parse(stdout);
  return checks.filter(({ id }) => id === `hooks-${harness}` || id === "hooks");
}

function change(home: TestHome, file: string, edit: (text: string) => string): void {
  home.write(file, edit(Deno.readTextFileSync(home.path(file))));
}

Deno.test("doctor: without any registration it says so", async () => {
  await using home = makeHome();
  const [check] = await checked(home, "claude");
  assertEquals([check?.id, check?.outcome], ["hooks", "ok"]);
});

Deno.test("doctor: a hook that was never seen to run is unknown, one that ran is well", async () => {
  await using home = makeHome().task();
  await install(home, "codex");
  const [before] = await checked(home, "codex");
  assertEquals(before?.outcome, "undetermined");
  assertStringIncludes(before?.what ?? "", "none was ever seen to run here");
  await runTurnguard(["stop", ...home.args], {
    stdin: FIRST_STOP,
    env: { ...home.env, CODEX_HOME: "/x", CODEX_THREAD_ID: "t", CODEX_SANDBOX: "x" },
  });
  const [after] = await checked(home, "codex");
  const ran = after?.outcome === "ok" ? "" : await journalOf(home);
  assertMatch(`${after?.what}${ran}`, /last ran [0-9]+ s ago \(block\)|"harness":"unknown"/);
});

async function journalOf(home: TestHome): Promise<string> {
  return await Deno.readTextFile(home.path("state/.turnguard-journal.jsonl"));
}

/** What is done to Claude's registration, and what the check says of it. */
const FAULTS: readonly (readonly [
  name: string,
  says: RegExp,
  spoil: (home: TestHome) => Promise<void> | void,
])[] = [
  ["no JSON", /settings\.json:1:[0-9]+ /, (home) => void home.write(CLAUDE, "{,}")],
  [
    "twice in one file",
    /is registered twice in .*: it runs twice/,
    (home) =>
      change(home, CLAUDE, (text) => {
        const value: { readonly hooks: { readonly Stop: readonly unknown[] } } = JSON.parse(text);
        const Stop = [...value.hooks.Stop, ...value.hooks.Stop];
        return JSON.stringify({ hooks: { ...value.hooks, Stop } });
      }),
  ],
  [
    "for the home and for the user",
    /is registered in .* and in .*: it runs twice/,
    (home) => install(home, "claude", "--user"),
  ],
  [
    "a guard of the shell suite beside ours",
    /also runs a guard of the shell suite/,
    (home) =>
      change(home, CLAUDE, (text) => {
        const value: { readonly hooks: { readonly Stop: readonly unknown[] } } = JSON.parse(text);
        const command = '"$CLAUDE_PROJECT_DIR"/bin/fm-turnend-guard.sh';
        const Stop = [...value.hooks.Stop, { hooks: [{ type: "command", command }] }];
        return JSON.stringify({ hooks: { ...value.hooks, Stop } });
      }),
  ],
  [
    "an executable that is not there",
    /starts \/nowhere\/turnguard, which is not there/,
    (home) => change(home, CLAUDE, (text) => text.replaceAll(TURNGUARD, "/nowhere/turnguard")),
  ],
  [
    "another quoting",
    /is not quoted as it was written/,
    (home) => change(home, CLAUDE, (text) => text.replaceAll(`'${TURNGUARD}'`, "$TG")),
  ],
  [
    "too little time",
    /the host ends turnguard:claude-autoarm after 60 s; it needs 28800/,
    (home) => change(home, CLAUDE, (text) => text.replace("28800", "60")),
  ],
];

Deno.test("doctor: everything that keeps a registered hook from running is told", async () => {
  const told = await tabulate(FAULTS, ([name]) => name, async ([, says, spoil]) => {
    await using home = makeHome();
    await install(home, "claude");
    await spoil(home);
    const checks = await checked(home, "claude");
    const found = checks.find(({ outcome, what }) => outcome === "wrong" && says.test(what));
    return found === undefined ? JSON.stringify(checks) : "told";
  });
  assertEquals(told, Object.fromEntries(FAULTS.map(([name]) => [name, "told"])));
});

Deno.test("doctor: modules that were changed, or start a missing file, are told", async () => {
  await using home = makeHome();
  await install(home, "opencode");
  const file = ".opencode/plugins/fm-primary-turnend-guard.js";
  assertEquals((await checked(home, "opencode"))[0]?.outcome, "undetermined");
  change(home, file, (text) => `${text}// mine\n`);
  assertMatch((await checked(home, "opencode"))[0]?.what ?? "", /is not as this build writes it/);
  await install(home, "opencode");
  change(home, file, (text) => text.replaceAll(TURNGUARD, "/nowhere/turnguard"));
  assertMatch((await checked(home, "opencode"))[0]?.what ?? "", /which is not there/);
});

Deno.test("doctor: what Claude and Codex say of their trust is told", async () => {
  await using home = makeHome();
  await install(home, "claude", "codex");
  const trusted = { projects: { [home.root]: { hasTrustDialogAccepted: true } } };
  Deno.writeTextFileSync(join(home.folder, ".claude.json"), JSON.stringify(trusted));
  Deno.mkdirSync(join(home.folder, ".codex"));
  Deno.writeTextFileSync(
    join(home.folder, ".codex", "config.toml"),
    `[projects.${JSON.stringify(home.root)}]\ntrust_level = "trusted"\n`,
  );
  assertStringIncludes((await checked(home, "claude"))[0]?.what ?? "", "the workspace is trusted");
  assertStringIncludes((await checked(home, "codex"))[0]?.what ?? "", "the project is trusted");
});

Deno.test("doctor --canary: what cannot be driven is unknown, with the reason", async () => {
  for (
    const [harness, status, says] of [
      ["cursor", 3, /cannot be driven: /],
      ["claude", 3, /there is no claude in PATH/],
      ["nobody", 1, /nobody is no harness/],
    ] as const
  ) {
    const result = await runTurnguard(["doctor", "--canary", harness], {
      stdin: null,
      env: { PATH: "/nowhere" },
    });
    assertEquals(result.status, status, result.stdout);
    assertMatch(result.stdout.replaceAll(/\s+/g, " "), says);
  }
});
