/**
 * How commands speak to people: when colour is used, and that lines fit the screen.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { environmentOf } from "../../src/platform/environment.ts";
import {
  ageInWords,
  counted,
  fitted,
  labelled,
  pasteable,
  type Style,
  styleFor,
} from "../../src/modes/person_output.ts";

/** A style without colour is one object; telling by it works even where this test has none. */
const PLAIN: Style = styleFor(false, environmentOf({}));

/** Whether the stream is a terminal, the variables, and whether colour is used. */
const COLOUR_CASES: ReadonlyArray<readonly [boolean, Readonly<Record<string, string>>, boolean]> = [
  [true, {}, true],
  [true, { TERM: "xterm-256color" }, true],
  [true, { TERM: "dumb" }, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { NO_COLOR: "0", FORCE_COLOR: "1" }, false],
  [false, {}, false],
  [false, { FORCE_COLOR: "1" }, true],
];

Deno.test("styleFor: colour on terminals only, unless the environment says otherwise", () => {
  for (const [isTerminal, variables, coloured] of COLOUR_CASES) {
    const style = styleFor(isTerminal, environmentOf(variables));
    assertEquals(style !== PLAIN, coloured, JSON.stringify([isTerminal, variables]));
  }
});

Deno.test("styleFor: a plain style returns its text", () => {
  for (const paint of Object.values<(text: string) => string>({ ...PLAIN })) {
    assertEquals(paint("text"), "text");
  }
});

Deno.test("labelled: further lines are indented below the first", () => {
  assertEquals(labelled("ab: ", "one two three", 11), ["ab: one two", "    three"]);
});

Deno.test("labelled: a word that is too long stays whole", () => {
  const path = "/a/very/long/path";
  assertEquals(labelled("- ", `see ${path} now`, 10), ["- see", `  ${path}`, "  now"]);
});

Deno.test("fitted: cuts by characters and marks the cut", () => {
  assertEquals(fitted("short", 5), "short");
  assertEquals(fitted("longer", 5), "long…");
  assertEquals(fitted("😀😀😀", 2), "😀…");
  assertEquals(fitted("anything", 0), "…");
});

Deno.test("ageInWords: the unit grows with the age", () => {
  assertEquals(
    [0, 119, 120, 7_199, 7_200, 172_799, 172_800, -90].map(ageInWords),
    ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 d", "90 s ahead"],
  );
});

Deno.test("counted: one is singular, all else is plural", () => {
  assertEquals([0, 1, 2].map((count) => counted(count, "task")), ["0 tasks", "1 task", "2 tasks"]);
});

Deno.test("pasteable: quotes what a shell would take apart", () => {
  assertEquals(pasteable("/a/b-c_d.e"), "/a/b-c_d.e");
  for (const path of ["/a b", "/a$b", "~x", "", "/é", "/a'b"]) {
    assertEquals(pasteable(path).startsWith("'"), true, path);
  }
});
