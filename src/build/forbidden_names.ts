/**
 * Finds names that a file must not use: the outside world in `decide/`, and the
 * end of the process anywhere but in `main.ts`.
 *
 * @module
 */

import type { Finding } from "./finding.ts";
import { plainCode } from "./plain_code.ts";

interface NameRule {
  /** Whether the rule holds for a file. */
  readonly holdsFor: (file: string) => boolean;
  /** What it looks for; the name is the whole match. */
  readonly name: RegExp;
  /** The reason. */
  readonly why: string;
}

/** A name that stands alone: no member of something, no key of an object or type. */
function alone(...names: readonly string[]): RegExp {
  return new RegExp(`(?<![\\w$.#])(?:${names.join("|")})(?![\\w$]|\\s*\\??:)`, "g");
}

const RULES: readonly NameRule[] = [
  {
    holdsFor: (file) => file.startsWith("src/decide/"),
    name: alone(
      "Deno",
      "Date",
      "Math\\s*\\.\\s*random",
      "Temporal",
      "performance",
      "fetch",
      "setTimeout",
      "setInterval",
      "queueMicrotask",
      "crypto",
      "console",
      "process\\s*\\.\\s*(?:argv|cwd|env|hrtime|std\\w+)",
      "globalThis",
      "localStorage",
      "Worker",
      "WebSocket",
      "eval",
      "import\\s*\\(",
    ),
    why: "decide/ is pure: facts come in, a verdict goes out",
  },
  {
    holdsFor: (file) => file.startsWith("src/"),
    name: alone("Deno\\s*\\.\\s*exit", "process\\s*\\.\\s*(?:exit|abort|reallyExit)"),
    why: "only main.ts ends the process, as the exit status commits the act",
  },
  {
    holdsFor: (file) => file.startsWith("src/") && !file.startsWith("src/build/"),
    name: /(?<![\w$.#])using(?=\s+[A-Za-z]\w*\s*=)/g,
    why: "the bundler folds a binding that is used once into its use and never disposes it: " +
      "give `using` a name with _ in front, and use another binding",
  },
];

/** The findings in one file, in the order of its lines. */
export function findForbiddenNames(file: string, source: string): Finding[] {
  const rules = RULES.filter((rule) => rule.holdsFor(file));
  if (rules.length === 0) return [];
  const lines = plainCode(source).split("\n");
  return lines.flatMap((line, index) =>
    rules.flatMap(({ name, why }) =>
      [...line.matchAll(name)].map(([found]) => ({
        file,
        line: index + 1,
        what: `uses ${found.replaceAll(/\s|\($/g, "")}`,
        why,
      }))
    )
  );
}
