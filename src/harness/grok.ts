/** Grok: what a payload of its Stop hook says about the build that sent it. */

/** The three fields that decide; each may come once, and with one value. */
const FIELDS = ["sessionId", "stopHookActive", "stop_hook_active"] as const;

/** How a Stop of Grok has to be answered. */
export type GrokCapability =
  /** The build waits for a verdict. */
  | { readonly kind: "native" }
  /** The build does not: its session has to be resumed with a message. */
  | { readonly kind: "legacy"; readonly session: string }
  /** Neither can be told, so the turn ends. */
  | { readonly kind: "neither"; readonly because: string };

/**
 * Decides it once, before anything else is looked at. `text` has to be one JSON object.
 *
 * A payload that repeats one of the fields, or hides several values in one, would mean something else to
 * each reader; nothing is decided by it.
 */
export function grokCapability(text: string): GrokCapability {
  const fields = new Map<string, unknown>();
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return neither("not a JSON object");
    }
    for (const [name, each] of Object.entries(value)) fields.set(name, each);
  } catch {
    return neither("not one JSON document");
  }
  const names = topLevelNames(text);
  for (const field of FIELDS) {
    if (names.filter((name) => name === field).length > 1) return neither(`${field} comes twice`);
    if (leaves(fields.get(field)) > 1) return neither(`${field} has several values`);
  }
  if (fields.has("stopHookActive")) {
    return typeof fields.get("stopHookActive") === "boolean"
      ? { kind: "native" }
      : neither("stopHookActive is not a boolean");
  }
  if (fields.has("stop_hook_active")) {
    return typeof fields.get("stop_hook_active") === "boolean"
      ? { kind: "native" }
      : neither("stop_hook_active is not a boolean");
  }
  const session = fields.get("sessionId");
  return typeof session === "string" && session !== ""
    ? { kind: "legacy", session }
    : neither("no session to resume");
}

function neither(because: string): GrokCapability {
  return { kind: "neither", because };
}

/** How many values that are not containers a value holds; an empty container counts as one. */
function leaves(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members: readonly unknown[] = Object.values(value);
  return members.length === 0 ? 1 : members.reduce<number>((sum, each) => sum + leaves(each), 0);
}

/** The names in the object `text`, a repeated one each time. */
function topLevelNames(text: string): readonly string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && token.endsWith(":")) {
      const name: unknown = JSON.parse(token.slice(0, -1));
      if (typeof name === "string") names.push(name);
    }
  }
  return names;
}
