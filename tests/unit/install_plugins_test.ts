/** Modules in a plugin folder: put there whole, never over somebody else's, and taken away again. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import type { PluginRegistration } from "../../src/harness/plugins/plugin_registration.ts";
import { perform } from "../../src/modes/install/perform.ts";
import type { Plan } from "../../src/modes/install/plan.ts";
import { planPluginRemoval } from "../../src/modes/install/plan_plugin_removal.ts";
import { planPlugins } from "../../src/modes/install/plan_plugins.ts";
import type { InstallRequest } from "../../src/modes/install/request.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { makeHome, type TestHome } from "../support/home.ts";

const FILE = ".made-up/plugins/guard.js";
const PACKAGE = ".made-up/plugins/package.json";
const TOKEN = "turnguard:made-up";

const REGISTRATION: PluginRegistration = {
  harness: "made-up",
  files: [{
    path: FILE,
    token: TOKEN,
    text: (path) => `// ${TOKEN}\nrun(${JSON.stringify(path)});\n`,
  }],
  packageFile: { path: PACKAGE, text: '{"private": true, "type": "module"}\n' },
  trust: "Trust it.",
  notForUser: "It is not.",
  details: "made-up: a module.",
};

function request(home: TestHome, changes: Partial<InstallRequest> = {}): InstallRequest {
  return {
    root: home.root,
    isForUser: false,
    environment: environmentOf({ HOME: join(home.folder, "user") }),
    executable: "/opt/tg",
    replacesShell: false,
    guards: true,
    extras: ["always"],
    modes: [],
    ...changes,
  };
}

async function apply(plan: Plan, home: TestHome): Promise<readonly string[]> {
  assert(plan.kind === "planned", JSON.stringify(plan));
  const { environment } = request(home);
  assertEquals(await perform([plan], environment), { kind: "done", attention: [] });
  return plan.files.map(({ how }) => how);
}

async function install(
  home: TestHome,
  changes: Partial<InstallRequest> = {},
): Promise<readonly string[]> {
  return await apply(planPlugins(REGISTRATION, request(home, changes)), home);
}

async function uninstall(home: TestHome): Promise<readonly string[]> {
  return await apply(await planPluginRemoval(REGISTRATION, request(home)), home);
}

/** The names in the root. */
function names(home: TestHome): readonly string[] {
  return Array.from(Deno.readDirSync(home.root), ({ name }) => name).toSorted();
}

Deno.test("install: a module comes with the folders that it needs, and goes with them", async () => {
  await using home = makeHome();
  const before = names(home);
  assertEquals(await install(home), ["added", "added"]);
  assertEquals(Deno.readTextFileSync(home.path(FILE)), `// ${TOKEN}\nrun("/opt/tg");\n`);
  assertEquals(Deno.readTextFileSync(home.path(PACKAGE)), REGISTRATION.packageFile?.text);
  assertEquals(await install(home), ["none"]);
  assertEquals(await install(home, { executable: "/opt/new" }), ["updated"]);
  assertEquals(await uninstall(home), ["removed", "removed"]);
  assertEquals(names(home), before);
  assertEquals(await uninstall(home), ["none", "none"]);
});

Deno.test("install: what others have in the plugin folder stays", async () => {
  await using home = makeHome();
  home.write(".made-up/plugins/other.js", "other").write(PACKAGE, '{"type": "module"}');
  assertEquals(await install(home), ["added"]);
  assertEquals(await uninstall(home), ["removed", "none"]);
  assertEquals(
    Array.from(Deno.readDirSync(home.path(".made-up/plugins")), ({ name }) => name).toSorted(),
    ["other.js", "package.json"],
  );
});

Deno.test("install: a package file that does not make modules is told, not changed", async () => {
  await using home = makeHome();
  home.write(PACKAGE, "{}");
  const plan = planPlugins(REGISTRATION, request(home));
  assert(plan.kind === "planned");
  assertStringIncludes(plan.attention.join(), '"type": "module"');
  await apply(plan, home);
  assertEquals(Deno.readTextFileSync(home.path(PACKAGE)), "{}");
});

Deno.test("install: a foreign module of the same name is refused", async () => {
  await using home = makeHome();
  home.write(FILE, `first line\n// ${TOKEN}\n`);
  const plan = planPlugins(REGISTRATION, request(home, { replacesShell: true }));
  assert(plan.kind === "refused");
  assertStringIncludes(plan.wrong, home.path(FILE));
  assertEquals(await uninstall(home), ["none", "none"]);
});

Deno.test("install: the suite's own module gives way only when that is asked for, and comes back", async () => {
  await using home = makeHome();
  const text = 'spawn("bin/fm-turnend-guard.sh");\r\n';
  home.write(FILE, text);
  assertEquals(await install(home), ["guarded"]);
  assertEquals(Deno.readTextFileSync(home.path(FILE)), text);
  assertEquals(await install(home, { replacesShell: true }), ["added", "added"]);
  assertStringIncludes(Deno.readTextFileSync(home.path(FILE)), TOKEN);
  assertEquals(await uninstall(home), ["removed", "removed"]);
  assertEquals(Deno.readTextFileSync(home.path(FILE)), text);
});

Deno.test("install: modules are for homes alone", async () => {
  await using home = makeHome();
  for (const changes of [{ isForUser: true }, { guards: false }]) {
    assertEquals(planPlugins(REGISTRATION, request(home, changes)).kind, "refused");
  }
});
