/** The entries that are registered with each harness. */

import { assert, assertEquals } from "@std/assert";
import { CLAUDE_REGISTRATION } from "../../src/harness/claude_registration.ts";
import { CODEX_STOP_TOKEN } from "../../src/harness/codex.ts";
import { CODEX_REGISTRATION } from "../../src/harness/codex_registration.ts";
import { insertHooks } from "../../src/harness/registration/insert_hooks.ts";
import {
  EMPTY_HOOK_FILE,
  ownGroups,
  type RegisteredPaths,
  type Registration,
} from "../../src/harness/registration/registration.ts";
import { REGISTRATIONS } from "../../src/harness/registration/table.ts";

const PATHS = { executable: "/opt/it's/turnguard", root: "/srv/{TG} $home" };

function register(
  text: string,
  registration: Registration,
  paths: RegisteredPaths,
): { readonly how: string; readonly text: string } {
  const { shape = "groups" } = registration;
  const groups = ownGroups(registration, paths);
  const result = insertHooks(text, { shape, groups, replaceReferences: false });
  assert(result.kind === "edited");
  return result;
}

Deno.test("CODEX_REGISTRATION: a command that every shell runs from a folder that exists", () => {
  assertEquals(ownGroups(CODEX_REGISTRATION, PATHS).flatMap(({ entries }) => entries), [{
    // The guard finds its root by this token.
    token: CODEX_STOP_TOKEN,
    entry: {
      type: "command",
      command:
        ": turnguard:codex-stop; export OLDPWD=\"$PWD\"; cd / && exec '/opt/it'\\''s/turnguard'" +
        " stop --root '/srv/{TG} $home' --anchor-cwd codex --session-dir \"$OLDPWD\"",
      timeout: 30,
    },
    replaces: ["fm-turnend-guard.sh"],
  }]);
});

Deno.test("CLAUDE_REGISTRATION: the guard without a time limit, the auto-arm with the longest", () => {
  const guard =
    ': turnguard:claude-stop; [ -z "${GROK_AGENT:-}${GROK_HOOK_EVENT:-}" ] || exit 0; ' +
    "cd / && exec '/opt/it'\\''s/turnguard' stop --root \"$CLAUDE_PROJECT_DIR\" --claude";
  const autoarm =
    ': turnguard:claude-autoarm; [ -z "${GROK_AGENT:-}${GROK_HOOK_EVENT:-}" ] || exit 0; ' +
    "cd / && exec '/opt/it'\\''s/turnguard' autoarm --root \"$CLAUDE_PROJECT_DIR\"";
  assertEquals(ownGroups(CLAUDE_REGISTRATION, PATHS).flatMap(({ entries }) => entries), [
    {
      token: "turnguard:claude-stop",
      entry: { type: "command", command: guard },
      replaces: ["fm-turnend-guard.sh"],
    },
    {
      token: "turnguard:claude-autoarm",
      entry: { type: "command", command: autoarm, asyncRewake: true, timeout: 28800 },
      replaces: ["fm-claude-stop-autoarm.sh"],
    },
  ]);
});

for (const registration of REGISTRATIONS) {
  const { harness, initial = EMPTY_HOOK_FILE } = registration;

  Deno.test(`REGISTRATIONS: the first group of ${harness} has no matcher`, () => {
    assertEquals(ownGroups(registration, PATHS)[0]?.matcher, undefined);
  });

  Deno.test(`REGISTRATIONS: ${harness}, another executable replaces the entries, the same changes nothing`, () => {
    const first = register(initial, registration, PATHS);
    assertEquals(first.how, "added");
    assertEquals(register(first.text, registration, PATHS).how, "none");
    const moved = { ...PATHS, executable: "/opt/turnguard" };
    const second = register(first.text, registration, moved);
    assertEquals(second.how, "updated");
    assertEquals(
      second.text,
      first.text.replaceAll("/opt/it'\\\\''s/turnguard", "/opt/turnguard"),
    );
  });
}

/** Settings of a project and of its operator, and what Claude Code makes of them. */
const OBSTACLES: ReadonlyArray<
  readonly [project?: string, local?: string | undefined, file?: string]
> = [
  [],
  ["{}", "[]"],
  ["null", "7"],
  ['{"disableAllHooks": true}', undefined, ".claude/settings.json"],
  ["{}", '{"disableAllHooks": true}', ".claude/settings.local.json"],
  ['{"disableAllHooks": true}', '{"disableAllHooks": false}'],
  ['{"disableAllHooks": "yes"}'],
  ["{"],
];

Deno.test("CLAUDE_REGISTRATION: the obstacle is the strongest settings file that turns hooks off", () => {
  for (const [project, local, file] of OBSTACLES) {
    const obstacle = CLAUDE_REGISTRATION.obstacle?.((name) =>
      name.endsWith(".local.json") ? local : project
    );
    assertEquals(obstacle?.split(" ")[0], file);
  }
});
