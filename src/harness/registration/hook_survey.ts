/** What stands in a hook file, with the place of every entry. */

import type { Node } from "jsonc-parser";
import { type JsonFile, spliceText } from "./json_edit.ts";
import { type Leniency, parseJson, positionAt, type Refusal } from "./json_text.ts";
import { endOf, layoutOf } from "./layout.ts";

/**
 * Where entries stand below their event: in the `hooks` of its `groups`, as Claude Code, Codex and Grok
 * have it, or in the event's own array, `flat`, as Cursor has it.
 */
export type HookShape = "groups" | "flat";

/** A node and what holds it; `path` are the names that lead to the container, from the root. */
export interface Nesting {
  readonly child: Node;
  readonly container: Node;
  /** `undefined` for a container that has no path of names: one group of several. */
  readonly path: readonly string[] | undefined;
}

/** An entry and what holds it, from the inside outwards. */
export interface FoundEntry {
  readonly event: string;
  readonly node: Node;
  /** Its command; the empty text when it has none. */
  readonly command: string;
  readonly nesting: readonly Nesting[];
}

/** One event of a hook file. */
export interface EventSurvey {
  readonly kind: "surveyed";
  readonly file: JsonFile;
  /** The object of all events, if there is one. */
  readonly hooks: Node | undefined;
  /** The array of the event, if there is one. */
  readonly list: Node | undefined;
  readonly entries: readonly FoundEntry[];
}

/** All events of a hook file. */
export interface FileSurvey {
  readonly kind: "surveyed";
  readonly file: JsonFile;
  /** The first thing that a reader of strict JSON would refuse, if any. */
  readonly leniency: Leniency | undefined;
  readonly entries: readonly FoundEntry[];
}

/** The file with its `hooks` object, or why it is none. */
function openFile(
  text: string,
):
  | {
    readonly kind: "opened";
    readonly file: JsonFile;
    readonly leniency: Leniency | undefined;
    readonly hooks: Member | undefined;
  }
  | Refusal {
  const parsed = parseJson(text);
  if (parsed.kind === "refused") return parsed;
  const { root, tokens, leniency } = parsed;
  if (root.type !== "object") return refusedAt(text, root, "is not an object");
  const hooks = memberOf(text, root, "hooks", "object");
  if (hooks?.kind === "refused") return hooks;
  const file = { text, root, tokens, layout: layoutOf(text, root) };
  return { kind: "opened", file, leniency, hooks };
}

/**
 * Looks at one event of the hook file `text`. Refuses, at the place that is wrong, a text that is not
 * JSON or does not have the shape of a hook file.
 */
export function surveyEvent(text: string, shape: HookShape, event: string): EventSurvey | Refusal {
  const opened = openFile(text);
  if (opened.kind === "refused") return opened;
  const { file, hooks } = opened;
  const list = hooks && memberOf(text, hooks.value, event, "array");
  if (list?.kind === "refused") return list;
  const found = { kind: "surveyed", file, hooks: hooks?.value, list: list?.value } as const;
  if (hooks === undefined || list === undefined) return { ...found, entries: [] };
  const entries: FoundEntry[] = [];
  const outer: readonly Nesting[] = [
    { child: list.property, container: hooks.value, path: ["hooks"] },
    { child: hooks.property, container: file.root, path: [] },
  ];
  const take = (node: Node, nesting: readonly Nesting[]): Refusal | undefined => {
    if (node.type !== "object") {
      return refusedAt(text, node, "has an entry here that is not an object");
    }
    entries.push({ event, node, command: commandOf(node), nesting: [...nesting, ...outer] });
    return undefined;
  };
  for (const child of list.value.children ?? []) {
    const inList: Nesting = { child, container: list.value, path: ["hooks", event] };
    const wrong = shape === "flat" ? take(child, [inList]) : takeGroup(text, inList, take);
    if (wrong !== undefined) return wrong;
  }
  return { ...found, entries };
}

/** Takes the entries of one group; says what is wrong with it. */
function takeGroup(
  text: string,
  group: Nesting,
  take: (node: Node, nesting: readonly Nesting[]) => Refusal | undefined,
): Refusal | undefined {
  if (group.child.type !== "object") {
    return refusedAt(text, group.child, "has a group here that is not an object");
  }
  const inner = memberOf(text, group.child, "hooks", "array");
  if (inner?.kind === "refused") return inner;
  for (const node of inner?.value.children ?? []) {
    const wrong = inner && take(node, [
      { child: node, container: inner.value, path: undefined },
      group,
    ]);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/**
 * Every entry of the file. An event that does not have the shape is passed over: it holds nothing of
 * ours, and its owner may know better. Refuses what is not a hook file at all.
 */
export function surveyFile(
  text: string,
  shape: HookShape,
): FileSurvey | Refusal {
  const opened = openFile(text);
  if (opened.kind === "refused") return opened;
  const names = (opened.hooks?.value.children ?? [])
    .map((property): unknown => property.children?.[0]?.value)
    .filter((name) => typeof name === "string");
  const entries = [...new Set(names)].flatMap((event) => {
    const survey = surveyEvent(text, shape, event);
    return survey.kind === "refused" ? [] : survey.entries;
  });
  return { kind: "surveyed", file: opened.file, leniency: opened.leniency, entries };
}

/** A member of an object: the property and its value. */
interface Member {
  readonly kind: "member";
  readonly property: Node;
  readonly value: Node;
}

/** The member `name`, `undefined` when there is none, or why it is not what it should be. */
function memberOf(
  text: string,
  object: Node,
  name: string,
  type: "object" | "array",
): Member | Refusal | undefined {
  const [property, again] = propertiesNamed(object, name);
  const quoted = JSON.stringify(name);
  if (again !== undefined) return refusedAt(text, again, `has ${quoted} a second time here`);
  const value = property?.children?.[1];
  if (property === undefined || value === undefined) return undefined;
  if (value.type !== type) {
    return refusedAt(text, value, `has a ${quoted} here that is not an ${type}`);
  }
  return { kind: "member", property, value };
}

function propertiesNamed(object: Node, name: string): Node[] {
  return (object.children ?? []).filter((property) => property.children?.[0]?.value === name);
}

function commandOf(entry: Node): string {
  return propertiesNamed(entry, "command")
    .map((property): unknown => property.children?.[1]?.value)
    .filter((value) => typeof value === "string")
    .join("\n");
}

/** A refusal at a node. */
export function refusedAt(text: string, node: Node, because: string): Refusal {
  return { kind: "refused", because, at: positionAt(text, node.offset) };
}

/** The file with other text in place of a node. */
export function replaceNode({ text }: JsonFile, node: Node, replacement: string): string {
  return spliceText(text, node.offset, endOf(node), replacement);
}
