/**
 * Which home an invocation belongs to.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import {
  findHome,
  type Home,
  type HomeQuery,
  logicalWorkingDirectory,
} from "../../src/observe/home.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { makeHome } from "../support/home.ts";

/** What a home is looked for with, in short. */
interface Query {
  readonly env?: Readonly<Record<string, string>>;
  readonly root?: string;
  readonly startedAs?: string;
  readonly workingDirectory?: string;
  readonly lookUpwards?: boolean;
}

function find(query: Query): Home {
  const complete: HomeQuery = {
    environment: environmentOf(query.env ?? {}),
    root: query.root,
    startedAs: query.startedAs ?? "turnguard",
    workingDirectory: () => query.workingDirectory ?? "/nowhere",
    lookUpwards: query.lookUpwards ?? false,
  };
  return findHome(complete);
}

Deno.test("findHome: --root is used as it was given", () => {
  assertEquals(find({ root: "/a//b/../c/" }), {
    root: "/a//b/../c/",
    home: "/a//b/../c/",
    state: "/a//b/../c//state",
    config: "/a//b/../c//config",
    watcherPath: "/a//b/../c//bin/fm-watch.sh",
    foundBy: "--root",
  });
});

Deno.test("findHome: a relative --root is made absolute", () => {
  assertEquals(find({ root: "x", workingDirectory: "/w" }).root, "/w/x");
});

Deno.test("findHome: each override wins over what it stands for and nothing else", () => {
  const env = { FM_HOME: "/home", FM_STATE_OVERRIDE: "/state", FM_CONFIG_OVERRIDE: "/config" };
  assertEquals(find({ root: "/r", env }), {
    root: "/r",
    home: "/home",
    state: "/state",
    config: "/config",
    watcherPath: "/r/bin/fm-watch.sh",
    foundBy: "--root",
  });
  const byHome = find({ root: "/r", env: { FM_HOME: "/home" } });
  assertEquals([byHome.state, byHome.config], ["/home/state", "/home/config"]);
});

Deno.test("findHome: FM_ROOT_OVERRIDE moves the root but not the watcher path of --root", () => {
  const home = find({ root: "/r", env: { FM_ROOT_OVERRIDE: "/o" } });
  assertEquals([home.root, home.home, home.watcherPath], ["/o", "/o", "/r/bin/fm-watch.sh"]);
});

Deno.test("findHome: without --root the override names the watcher path too", () => {
  const home = find({ env: { FM_ROOT_OVERRIDE: "/o" } });
  assertEquals([home.root, home.watcherPath], ["/o", "/o/bin/fm-watch.sh"]);
});

Deno.test("findHome: an empty variable is the same as none", () => {
  const env = { FM_HOME: "", FM_ROOT_OVERRIDE: "", FM_STATE_OVERRIDE: "", FM_CONFIG_OVERRIDE: "" };
  assertEquals(find({ root: "/r", env }), find({ root: "/r" }));
});

Deno.test("findHome: the folder of the executable comes before the host's project", async () => {
  await using own = makeHome();
  await using project = makeHome();
  const query = {
    startedAs: own.path("bin", "turnguard"),
    env: { CLAUDE_PROJECT_DIR: project.root },
    workingDirectory: project.root,
  };
  assertEquals(find(query).root, own.root);
  assertEquals(find({ ...query, startedAs: "turnguard" }).foundBy, "CLAUDE_PROJECT_DIR");
});

Deno.test("findHome: the executable's folder keeps its watcher script under an override", async () => {
  await using own = makeHome();
  const query = { startedAs: own.path("bin", "turnguard"), env: { FM_ROOT_OVERRIDE: "/o" } };
  assertEquals(find(query).watcherPath, "/o/bin/fm-watch.sh");
  own.write("bin/fm-watch.sh");
  assertEquals(find(query).watcherPath, own.watcherPath);
});

Deno.test("findHome: hosts' project variables count in their order and only for a home", async () => {
  await using home = makeHome();
  await using other = makeHome();
  const env = {
    CLAUDE_PROJECT_DIR: home.folder,
    CURSOR_PROJECT_DIR: `${home.root}/`,
    GROK_WORKSPACE_ROOT: other.root,
  };
  const found = find({ env });
  assertEquals([found.root, found.foundBy], [home.root, "CURSOR_PROJECT_DIR"]);
});

Deno.test("findHome: a hook never looks above its working directory, a person does", async () => {
  await using home = makeHome();
  const below = home.path("bin");
  assertEquals(find({ workingDirectory: below }).foundBy, "no home was found");
  assertEquals(find({ workingDirectory: home.root }).root, home.root);
  const found = find({ workingDirectory: below, lookUpwards: true });
  assertEquals([found.root, found.foundBy], [home.root, "a folder above the working directory"]);
});

Deno.test("findHome: links in a path are kept, since locks are compared as text", async () => {
  await using home = makeHome();
  const link = join(home.folder, "link");
  Deno.symlinkSync(home.root, link);
  assertEquals(find({ workingDirectory: link }).root, link);
});

Deno.test("logicalWorkingDirectory: PWD counts only while it leads to the same folder", async () => {
  await using home = makeHome();
  const link = join(home.folder, "link");
  Deno.symlinkSync(Deno.cwd(), link);
  const asked = (pwd: string): string => logicalWorkingDirectory(environmentOf({ PWD: pwd }));
  assertEquals(asked(link), link);
  const others = [home.root, "/nowhere", "relative", "", `${link}/.`, `${link}/../link`];
  for (const pwd of others) assertEquals(asked(pwd), Deno.cwd());
});
