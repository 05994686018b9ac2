/**
 * What needs supervision, and which need is named.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { judgeNeed } from "../../src/decide/need.ts";
import { observeNeed } from "../../src/observe/need.ts";
import { makeHome, type TestHome } from "../support/home.ts";

/** Tasks, sources, checks, relay, and the need that is named. */
const NEEDS: ReadonlyArray<
  readonly [
    tasks: number,
    sources: number,
    checks: number,
    relay: boolean,
    what: string | undefined,
  ]
> = [
  [0, 0, 0, false, undefined],
  [1, 0, 0, false, "1 task(s) in flight"],
  [12, 3, 4, true, "12 task(s) in flight"],
  [0, 1, 0, false, "1 process-event source(s) registered"],
  [0, 2, 4, true, "2 process-event source(s) registered"],
  [0, 0, 1, false, "1 registered custom check(s)"],
  [0, 0, 3, true, "3 registered custom check(s)"],
  [0, 0, 0, true, "X-mode relay polling needs supervision"],
];

Deno.test("judgeNeed: tasks before sources before checks before the relay", () => {
  for (const [tasks, sources, checks, relay, what] of NEEDS) {
    assertEquals(
      judgeNeed({ kind: "counted", tasks, sources, checks, relay }),
      what === undefined ? { kind: "none" } : { kind: "needed", what },
    );
  }
});

Deno.test("judgeNeed: what could not be counted stays unknown", () => {
  assertEquals(judgeNeed({ kind: "unknown", because: "x" }), { kind: "unknown", because: "x" });
});

interface Counts {
  readonly tasks?: number;
  readonly sources?: number;
  readonly checks?: number;
  readonly relay?: boolean;
}

const LISTINGS: ReadonlyArray<
  readonly [what: string, arrange: (home: TestHome) => unknown, counts: Counts]
> = [
  ["nothing", () => {}, {}],
  ["a task", (home) => home.task(), { tasks: 1 }],
  ["a hidden task", (home) => home.task(".x"), {}],
  ["a task with odd characters", (home) => home.task("a b\n\u001b"), { tasks: 1 }],
  ["a folder named like a task", (home) => Deno.mkdirSync(home.path("state/a.meta")), { tasks: 1 }],
  ["another suffix", (home) => home.write("state/a.meta.tmp.1"), {}],
  ["a link to nothing", (home) => link(home, "nowhere", "a.meta"), {}],
  ["a link to itself", (home) => link(home, "a.meta", "a.meta"), {}],
  ["a link to a file", (home) => link(home, home.path("AGENTS.md"), "a.meta"), { tasks: 1 }],
  ["two sources", (home) => home.source("a").source("b"), { sources: 2 }],
  ["a hidden source", (home) => home.source(".source"), {}],
  ["a source beside the folder", (home) => home.write("state/a.source"), {}],
  ["sources that are a file", (home) => home.write("state/procevent"), {}],
  ["a trusted check", (home) => home.check("c"), { checks: 1 }],
  ["an untrusted check", (home) => home.check("c", "untrusted"), {}],
  ["a trust file alone", (home) => home.write("state/c.check-trust"), {}],
  ["a hidden check", (home) => home.check(".c"), {}],
  [
    "another check's trust",
    (home) => home.check("c", "untrusted").write("state/d.check-trust"),
    {},
  ],
  ["the relay", (home) => home.relay(), { relay: true }],
  ["a trusted relay", (home) => home.relay().write("state/x-watch.check-trust"), { relay: true }],
  ["a relay that is a folder", (home) => Deno.mkdirSync(home.path("state/x-watch.check.sh")), {}],
];

for (const [what, arrange, counts] of LISTINGS) {
  Deno.test(`observeNeed: ${what} counts as it should`, async () => {
    await using home = makeHome();
    arrange(home);
    assertEquals(observeNeed(home.state), {
      kind: "counted",
      tasks: 0,
      sources: 0,
      checks: 0,
      relay: false,
      ...counts,
    });
  });
}

Deno.test("observeNeed: a state folder that cannot be listed is unknown", async () => {
  await using home = makeHome();
  assertEquals(observeNeed(home.path("nowhere")).kind, "unknown");
  assertEquals(observeNeed(home.path("AGENTS.md")).kind, "unknown");
});

function link(home: TestHome, target: string, name: string): void {
  Deno.symlinkSync(target, home.path("state", name));
}
