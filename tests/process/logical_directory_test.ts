/**
 * The working directory as a hook's caller names it: links that lead to a home are kept, since what a
 * watcher has recorded is compared as text.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { makeHome } from "../support/home.ts";
import { FIRST_STOP, runTurnguard, verdictOf } from "../support/turnguard.ts";

/** What `PWD` says, which of its two paths the home's watcher has recorded, and what follows. */
const ROWS: readonly (readonly [
  pwd: "link" | "physical" | "elsewhere" | "relative" | "dotted" | "unset",
  recorded: "link" | "physical",
  verdict: "allow" | "block",
])[] = [
  ["link", "link", "allow"],
  ["link", "physical", "block"],
  ["physical", "physical", "allow"],
  ["physical", "link", "block"],
  // It names another folder, or none: it was said before somebody went on to this one.
  ["elsewhere", "physical", "allow"],
  ["relative", "physical", "allow"],
  ["dotted", "physical", "allow"],
  ["unset", "physical", "allow"],
  ["unset", "link", "block"],
];

for (const [pwd, recorded, verdict] of ROWS) {
  Deno.test(`working directory: a PWD of ${pwd}, a watcher at ${recorded}: ${verdict}`, async () => {
    await using home = makeHome().task();
    await using other = makeHome().task();
    const link = join(home.folder, "link");
    Deno.symlinkSync(home.root, link);
    const path = recorded === "link" ? link : home.root;
    await home.watcher(5, { home: path, watcherPath: `${path}/bin/fm-watch.sh` });
    const said = {
      link,
      physical: home.root,
      elsewhere: other.root,
      relative: "link",
      dotted: join(home.folder, "home") + "/../link",
      unset: undefined,
    }[pwd];
    const run = await runTurnguard(["stop"], { cwd: link, env: { PWD: said }, stdin: FIRST_STOP });
    assertEquals(verdictOf(run), verdict);
  });
}

/** Where a Codex hook runs, what `PWD` says, and whether the home's turn end is judged. */
const CODEX_ROWS: readonly (readonly [
  runsIn: "" | "nested",
  pwd: "" | "nested",
  verdict: "allow" | "block",
])[] = [
  ["", "", "block"],
  ["", "nested", "block"],
  ["nested", "nested", "allow"],
  ["nested", "", "allow"],
];

for (const [runsIn, pwd, verdict] of CODEX_ROWS) {
  Deno.test(`working directory: Codex in "${runsIn}", a PWD of "${pwd}": ${verdict}`, async () => {
    await using home = makeHome().task();
    const hooks = { Stop: [{ hooks: [{ type: "command", command: "x # turnguard:codex-stop" }] }] };
    home.write(".codex/hooks.json", JSON.stringify({ hooks }));
    Deno.mkdirSync(home.path("nested"));
    const run = await runTurnguard(["stop", "--anchor-cwd", "codex", ...home.args], {
      cwd: home.path(runsIn),
      env: { PWD: home.path(pwd) },
      stdin: FIRST_STOP,
    });
    assertEquals(verdictOf(run), verdict);
  });
}

Deno.test("working directory: status names a home by the link that it was entered by", async () => {
  await using home = makeHome();
  const link = join(home.folder, "link");
  Deno.symlinkSync(home.root, link);
  const { stdout } = await runTurnguard(["status", "--json"], { cwd: link, env: { PWD: link } });
  assertEquals(stdout.includes(`"${link}"`), true, stdout);
});
