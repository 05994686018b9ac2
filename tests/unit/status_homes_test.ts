/**
 * Which homes `status --all` speaks of, and what says nothing about them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { homesToShow, withoutHome } from "../../src/modes/status_homes.ts";
import { logicalWorkingDirectory } from "../../src/observe/home.ts";
import { environmentOf } from "../../src/platform/environment.ts";

const NONE = environmentOf({});

Deno.test("homesToShow: words win over the variable", () => {
  const environment = environmentOf({ TURNGUARD_HOMES: "/c:/d" });
  assertEquals(homesToShow(["/a", "/b"], environment), { kind: "named", roots: ["/a", "/b"] });
  assertEquals(homesToShow([], environment), { kind: "named", roots: ["/c", "/d"] });
});

Deno.test("homesToShow: each home once, as a watcher would record it", () => {
  const roots = ["/a", "/b/", "/a/", "/b/../a", "/a b", "/c\nd"];
  assertEquals(homesToShow(roots, NONE), { kind: "named", roots: ["/a", "/b", "/a b", "/c\nd"] });
});

Deno.test("homesToShow: a relative path starts where the caller stands", () => {
  const here = logicalWorkingDirectory(NONE);
  assertEquals(homesToShow([".", "x/"], NONE), { kind: "named", roots: [here, `${here}/x`] });
});

Deno.test("homesToShow: where nothing is named, the reason is told", () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{}, "no HOME says where the list of homes is"],
    [{ TURNGUARD_HOMES: "::" }, "TURNGUARD_HOMES names no home"],
    [{ HOME: "/nowhere" }, "there is no list /nowhere/.config/turnguard/homes"],
    [{ HOME: "/nowhere", XDG_CONFIG_HOME: "/x" }, "there is no list /x/turnguard/homes"],
  ];
  for (const [variables, because] of cases) {
    assertEquals(homesToShow([], environmentOf(variables)), { kind: "none", because });
  }
});

Deno.test("withoutHome: what names one home is gone, what tunes all of them stays", () => {
  const environment = withoutHome(environmentOf({
    FM_HOME: "/a",
    FM_STATE_OVERRIDE: "/a/state",
    FM_WAKE_QUEUE: "/a/queue",
    TURNGUARD_WATCH_PATH: "/a/watch",
    FM_GUARD_GRACE: "20",
    HOME: "/h",
  }));
  const names = ["FM_HOME", "FM_STATE_OVERRIDE", "FM_WAKE_QUEUE", "TURNGUARD_WATCH_PATH"];
  assertEquals(names.map((name) => environment.get(name)), names.map(() => undefined));
  assertEquals([environment.get("FM_GUARD_GRACE"), environment.get("HOME")], ["20", "/h"]);
});
