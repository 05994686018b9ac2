/**
 * Finds circles among imports, types included.
 *
 * @module
 */

import type { Finding } from "./finding.ts";
import type { Import } from "./import_graph.ts";

/** One finding for each import that closes a circle, met on a walk by name. */
export function findCycles(imports: readonly Import[]): Finding[] {
  const edges = new Map<string, Import[]>();
  for (const edge of imports) {
    if (edge.local) edges.set(edge.from, [...edges.get(edge.from) ?? [], edge]);
  }

  const findings: Finding[] = [];
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    for (const edge of edges.get(file) ?? []) {
      const start = path.indexOf(edge.to);
      if (start >= 0) findings.push(closing(edge, path.slice(start)));
      else if (!finished.has(edge.to)) visit(edge.to, [...path, edge.to]);
    }
    finished.add(file);
  };
  for (const file of [...edges.keys()].sort()) {
    if (!finished.has(file)) visit(file, [file]);
  }
  return findings;
}

function closing(edge: Import, circle: readonly string[]): Finding {
  return {
    file: edge.from,
    line: edge.line,
    what: `closes the circle ${[...circle, edge.to].join(" -> ")}`,
    why: "files that import each other cannot be read one after the other",
  };
}
