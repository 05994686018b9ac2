/** `doctor --self`: what the built executable says of itself, and that it is true. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { runTurnguard } from "../support/turnguard.ts";

Deno.test("doctor --self: the built executable has the permissions it was built with", async () => {
  const { status, stdout, stderr } = await runTurnguard(["doctor", "--self"], { stdin: null });
  assertEquals([status, stderr], [0, ""]);
  assertMatch(stdout, /^version {6}[0-9]+\.[0-9]+\.[0-9]+/);
  assertMatch(stdout, /^runtime {6}Deno 2\./m);
  assertMatch(stdout, /^verdict {6}it has exactly/m);
  for (const line of stdout.split("\n")) assert(line.length <= 80, line);
});

Deno.test("doctor --self --json: every permission, wanted and found", async () => {
  const { status, stdout } = await runTurnguard(["doctor", "--self", "--json"], {
    stdin: null,
    // A variable that no list names must not be readable, though it is there.
    env: { SOMEBODYS_SECRET: "x" },
  });
  assertEquals(status, 0);
  const report: {
    readonly isAsBuilt: boolean;
    readonly readableEnvironment: readonly string[];
    readonly permissions: readonly { readonly name: string; readonly found: string }[];
  } = JSON.parse(stdout);
  const found = Object.fromEntries(report.permissions.map((each) => [each.name, each.found]));
  assert(report.isAsBuilt && report.readableEnvironment.includes("TURNGUARD_*"));
  assertEquals([found["net"], found["ffi"], found["sys"]], ["refused", "refused", "refused"]);
  assertEquals([found["read"], found["run"], found["env of any other name"]], [
    "granted",
    "granted",
    "refused",
  ]);
});
