/** The entry that is registered with Codex. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CODEX_STOP_TOKEN } from "../../src/harness/codex.ts";
import { codexStopEntry, registerCodex } from "../../src/harness/codex_registration.ts";

const PATHS = { executable: "/opt/it's/turnguard", root: "/srv/{TG} $home" };

Deno.test("codexStopEntry: a command that every shell runs from a folder that exists", () => {
  assertEquals(codexStopEntry(PATHS), {
    type: "command",
    command:
      ": turnguard:codex-stop; export OLDPWD=\"$PWD\"; cd / && exec '/opt/it'\\''s/turnguard'" +
      " stop --root '/srv/{TG} $home' --anchor-cwd codex --session-dir \"$OLDPWD\"",
    timeout: 30,
  });
});

Deno.test("codexStopEntry: carries the token by which the guard finds its root", () => {
  assertStringIncludes(String(codexStopEntry(PATHS)["command"]), `: ${CODEX_STOP_TOKEN}; `);
});

Deno.test("registerCodex: another executable replaces the entry, the same one changes nothing", () => {
  const first = registerCodex("{}", PATHS);
  assert(first.kind === "changed" && first.how === "added");
  assertEquals(registerCodex(first.text, PATHS).kind, "unchanged");
  const second = registerCodex(first.text, { ...PATHS, executable: "/opt/turnguard" });
  assert(second.kind === "changed" && second.how === "replaced");
  assertEquals(second.text, first.text.replace("/opt/it'\\\\''s/turnguard", "/opt/turnguard"));
});
