/**
 * The rules of who may import whom: imports run downwards only.
 *
 *     main.ts
 *     src/modes
 *     src/observe  src/decide  src/act  src/watch  src/activity
 *     src/state    src/harness
 *     src/platform
 *     src/std, src/build_info.ts, npm packages, node:
 *
 * A file imports from its own folder or from a lower row. Within the middle row,
 * `act`, `watch` and `activity` also import from `observe` and `decide`, `watch` from
 * `act` too, and `observe` takes types from `decide`. `decide` takes nothing but types from elsewhere.
 * The build (`src/build`) and the tests stand beside the program.
 *
 * @module
 */

import type { Finding } from "./finding.ts";
import type { Import } from "./import_graph.ts";

/** The rows of the table above; a higher number is a higher row. */
const ROWS: Readonly<Record<string, number>> = {
  "main.ts": 5,
  "src/modes": 4,
  "src/observe": 3,
  "src/decide": 3,
  "src/act": 3,
  "src/watch": 3,
  "src/activity": 3,
  "src/state": 2,
  "src/harness": 2,
  "src/platform": 1,
  "src/std": 0,
  "src/build_info.ts": 0,
};

/** Who may import across the middle row, besides downwards. */
const ACROSS: Readonly<Record<string, readonly string[]>> = {
  "src/act": ["src/observe", "src/decide"],
  "src/watch": ["src/observe", "src/decide", "src/act"],
  "src/activity": ["src/observe", "src/decide"],
};

/** The finding for an import that breaks a rule, or `undefined`. */
export function judgeImport(edge: Import): Finding | undefined {
  const why = whyNot(edge);
  if (why === undefined) return undefined;
  const what = `imports ${edge.kind === "type" ? "types of " : ""}${edge.to}`;
  return { file: edge.from, line: edge.line, what, why };
}

/** The finding for a source file that the table does not place, or `undefined`. */
export function judgePlace(file: string): Finding | undefined {
  const area = areaOf(file);
  if (area in ROWS || !isProgram(area)) return undefined;
  return {
    file,
    line: 1,
    what: `lies in ${area}, which has no row`,
    why: "every folder has its place in the table of src/build/import_rules.ts",
  };
}

function whyNot({ from, to, local, kind }: Import): string | undefined {
  const source = areaOf(from);
  if (source === "src/decide" && kind === "type") return undefined;
  if (!local) {
    return source === "src/decide"
      ? "decide/ is pure: it takes values from decide/ only"
      : undefined;
  }

  const target = areaOf(to);
  if (source === target || source === "tests") return undefined;
  if (target === "tests") return "nothing but a test may depend on tests";
  if (target === "hooks") return whyNotHook(source, kind);
  if (source === "src/build") {
    return target === "src/std" ? undefined : "the build stands beside the program, not on it";
  }
  if (target === "src/build") return "the program must not depend on how it is built";
  if (source === "src/decide") return "decide/ is pure: it takes values from decide/ only";
  return whyNotDown(source, target, kind);
}

function whyNotHook(source: string, kind: Import["kind"]): string | undefined {
  if (source === "src/harness" && kind === "data") return undefined;
  return "files in hooks/ are embedded as text or JSON, by harness/ alone";
}

function whyNotDown(source: string, target: string, kind: Import["kind"]): string | undefined {
  const sourceRow = ROWS[source];
  const targetRow = ROWS[target];
  if (sourceRow === undefined || targetRow === undefined) {
    return "only files of the program may be imported by it";
  }
  if (targetRow < sourceRow) return undefined;
  if (ACROSS[source]?.includes(target) === true) return undefined;
  if (source === "src/observe" && target === "src/decide") {
    return kind === "type" ? undefined : "observe/ judges nothing: it takes types of decide/ only";
  }
  return targetRow === sourceRow
    ? `${source} and ${target} are side by side: imports run downwards only`
    : `${target} is above ${source}: imports run downwards only`;
}

/** The table's name for where a file lies: a folder of `src`, or a top-level one. */
function areaOf(file: string): string {
  const [first = "", second, third] = file.split("/");
  if (first !== "src" || second === undefined) return first;
  return third === undefined ? file : `src/${second}`;
}

function isProgram(area: string): boolean {
  return area === "main.ts" || (area.startsWith("src/") && area !== "src/build");
}
