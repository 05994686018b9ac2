/** One self-contained module made of the parts that several extensions share. */

/** The parts of a module. */
export interface ModuleParts {
  /** The words of the first line that say whose it is. */
  readonly token: string;
  /** Shared parts; each may use those before it. */
  readonly shared: readonly string[];
  /** The extension itself, whose exports stay. */
  readonly own: string;
}

/** How a part asks for another one. */
const OWN_IMPORT = /^import \{[^}]*\} from "\.{1,2}\/[^"]+";\n/gm;

/** How the executable is named until it is known. */
const PLACEHOLDER = /^(const TURNGUARD = )"turnguard";$/m;

/** How a part asks the host's runtime for something. */
const NODE_IMPORT = /^import (?:\{([^}]*)\}|([a-z]+)) from ("node:[^"]+");\n/gm;

/** The module's text for one executable. */
export function composeModule({ token, shared, own }: ModuleParts, executable: string): string {
  const parts = [
    ...shared.map((part) => part.replaceAll(/^export (?=const |function |async function )/gm, "")),
    own,
  ];
  const body = parts.map((part) => part.replaceAll(OWN_IMPORT, "").replaceAll(NODE_IMPORT, ""))
    .map((part) => part.trim()).join("\n\n");
  // The path may hold anything that a replacement pattern would read.
  const told = body.replace(
    PLACEHOLDER,
    (_, head: string) => `${head}${JSON.stringify(executable)};`,
  );
  return `// : ${token}; made by turnguard install, do not edit\n\n${
    nodeImports(parts)
  }\n${told}\n`;
}

/** Every name of the runtime that a part asks for, once. */
function nodeImports(parts: readonly string[]): string {
  const names = new Map<string, Set<string>>();
  const lines = new Set<string>();
  for (const [, list, whole, module = ""] of parts.join("\n").matchAll(NODE_IMPORT)) {
    if (whole !== undefined) lines.add(`import ${whole} from ${module};\n`);
    const known = names.get(module) ?? new Set<string>();
    for (const name of (list ?? "").split(",")) if (name.trim() !== "") known.add(name.trim());
    if (known.size > 0) names.set(module, known);
  }
  for (const [module, list] of names) {
    lines.add(`import { ${[...list].toSorted().join(", ")} } from ${module};\n`);
  }
  return [...lines].toSorted((one, other) => moduleIn(one) < moduleIn(other) ? -1 : 1).join("");
}

function moduleIn(line: string): string {
  return line.slice(line.indexOf('"'));
}
