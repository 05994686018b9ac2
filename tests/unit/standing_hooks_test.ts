/** Our entries as they are found in a hook file. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { CURSOR_REGISTRATION } from "../../src/harness/cursor_registration.ts";
import { insertHooks } from "../../src/harness/registration/insert_hooks.ts";
import { ownGroups } from "../../src/harness/registration/registration.ts";
import { standingHooks } from "../../src/harness/registration/standing_hooks.ts";
import { REGISTRATIONS } from "../../src/harness/registration/table.ts";
import { shellQuote, unquotedWord } from "../../src/harness/shell_quote.ts";

for (const registration of REGISTRATIONS) {
  const { harness, shape = "groups", initial = "{}" } = registration;

  Deno.test(`standingHooks: ${harness}, with the executable and the time limit of each`, () => {
    const paths = { executable: "/opt/it's \\ here/turnguard", root: "/srv/home" };
    const groups = ownGroups(registration, paths);
    const edited = insertHooks(initial, { shape, groups, replaceReferences: false });
    assert(edited.kind === "edited");
    const found = standingHooks(edited.text, shape);
    assert(found.kind === "read");
    assertEquals<unknown>(
      found.own.map(({ event, token, executable, timeout, isRepeated }) => ({
        event,
        token,
        executable,
        timeout,
        isRepeated,
      })),
      groups.flatMap(({ event, entries }) =>
        entries.map(({ token, entry }) => ({
          event,
          token,
          executable: paths.executable,
          timeout: entry["timeout"],
          isRepeated: false,
        }))
      ),
    );
  });
}

Deno.test("standingHooks: a second one, the suite's own, and what strict JSON has not", () => {
  const text = `{ // note
    "hooks": { "stop": [
      { "command": ": turnguard:cursor-stop; old" },
      { "command": ": turnguard:cursor-stop; cd / && exec '/x' park", "timeout": 5 },
      { "command": "bin/fm-turnend-guard-cursor.sh" },
      { "command": "echo turnguard:none" }
    ] }
  }`;
  const found = standingHooks(text, CURSOR_REGISTRATION.shape ?? "groups");
  assert(found.kind === "read");
  assertEquals(
    found.own.map(({ executable, timeout, at, isRepeated }) => [
      executable,
      timeout,
      at.line,
      isRepeated,
    ]),
    [[undefined, undefined, 3, false], ["/x", 5, 4, true]],
  );
  assertEquals(found.references, [{ event: "stop", at: { line: 5, column: 7 } }]);
  assertEquals(found.leniency, { what: "a comment", at: { line: 1, column: 3 } });
});

Deno.test("unquotedWord: gives back what shellQuote was given", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assertEquals(unquotedWord(`${shellQuote(text)} more`), text);
  }));
  assertEquals(unquotedWord("/plain more"), undefined);
});
