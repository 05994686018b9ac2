/**
 * Our entries in a hook file, put in and taken out by editing its text in place.
 *
 * The files meant here are `hooks` → event → groups → `hooks` → entries with a `command`. They belong
 * to other people: an edit changes the bytes of our entries, and of what has to surround them when the
 * file had no place for them yet. Everything else stays, its layout included.
 */

import { isDeepStrictEqual } from "node:util";
import type { Node } from "jsonc-parser";
import { parseJson, type Position, positionAt, type Refusal } from "./json_text.ts";
import {
  endOf,
  indentationAt,
  isSpread,
  type JsonValue,
  type Layout,
  layoutOf,
  type Place,
  render,
  renderProperty,
  spanOf,
  startsLine,
} from "./layout.ts";

/** One entry of a hook file. */
export type HookEntry = { readonly [name: string]: JsonValue };

/** An entry of ours, and the words in its command by which it is found again. */
export interface OwnEntry {
  readonly token: string;
  readonly entry: HookEntry;
}

/** What {@link insertHooks} made of a file. */
export type Insertion =
  | {
    readonly kind: "unchanged";
    /** `reference`: the shell suite's own guard is registered, and two would block twice. */
    readonly because: "identical" | "reference";
    readonly at: Position;
  }
  | {
    readonly kind: "changed";
    /** `added`: none of ours was there. */
    readonly how: "added" | "updated";
    readonly text: string;
  }
  | Refusal;

/** What {@link removeHooks} made of a file. */
export type Removal =
  | { readonly kind: "unchanged" }
  | {
    readonly kind: "changed";
    readonly text: string;
    /** Whether nothing but an empty object is left. */
    readonly leavesNothing: boolean;
  }
  | Refusal;

/** Scripts of the shell suite that guard the end of a turn. */
const REFERENCE_SCRIPTS: readonly string[] = [
  "fm-turnend-guard.sh",
  "fm-claude-stop-autoarm.sh",
  "fm-turnend-guard-cursor.sh",
  "fm-turnend-guard-grok.sh",
];

/** The text of a hook file that registers nothing yet. */
export const EMPTY_HOOK_FILE = "{}\n";

/**
 * Puts `entries` into the hook file `text` for `event`.
 *
 * An entry whose command contains a token is ours: an equal one is left alone, a different one is
 * replaced where it stands. When none of ours is there, all together become the last group of their
 * event, since harnesses store trust by position; when some are, those that are missing join the group
 * of the first. Refuses, at the place that is wrong, a text that is not strict JSON or does not have
 * the shape of a hook file, and a file in which the right entry cannot be told.
 */
export function insertHooks(
  text: string,
  event: string,
  entries: readonly OwnEntry[],
): Insertion {
  const survey = surveyFile(text, event);
  if (survey.kind === "refused") return survey;
  const tokens = entries.map(({ token }) => token);
  const own = survey.entries.filter((each) => hasCommandWith(each.node, tokens));
  const again = own.find((each, index) =>
    own.slice(0, index).some((earlier) => haveCommonToken(each.node, earlier.node, tokens))
  );
  if (again !== undefined) return refused(text, again.node, "has a second entry of ours here");
  const reference = survey.entries.find((each) =>
    !own.includes(each) && hasCommandWith(each.node, REFERENCE_SCRIPTS)
  );
  const [first] = own;
  if (reference !== undefined && first !== undefined) {
    return refused(text, reference.node, "has an entry of the shell suite here, beside ours");
  }
  if (reference !== undefined) {
    const at = positionAt(text, reference.node.offset);
    return { kind: "unchanged", because: "reference", at };
  }
  if (first === undefined) {
    const group = { hooks: entries.map(({ entry }) => entry) };
    return { kind: "changed", how: "added", text: addGroup(text, survey, event, group) };
  }
  const updated = entries.reduce((current, each) => putIn(current, event, each, tokens), text);
  return updated === text
    ? { kind: "unchanged", because: "identical", at: positionAt(text, first.node.offset) }
    : { kind: "changed", how: "updated", text: updated };
}

/** `text`, which holds some of our entries, with `own` as it should be. */
function putIn(
  text: string,
  event: string,
  { token, entry }: OwnEntry,
  tokens: readonly string[],
): string {
  const survey = surveyFile(text, event);
  // Surveyed before the first edit, and our edits keep the shape.
  if (survey.kind === "refused") return text;
  const old = survey.entries.find((each) => hasCommandWith(each.node, [token]));
  if (old !== undefined) {
    const isEqual = isDeepStrictEqual(JSON.parse(spanOf(text, old.node)), entry);
    return isEqual ? text : replaceEntry(text, survey, old.node, entry);
  }
  const [list] = survey.entries.find((each) => hasCommandWith(each.node, tokens))?.nesting ?? [];
  if (list === undefined) return addGroup(text, survey, event, { hooks: [entry] });
  const layout = layoutOf(text, survey.root);
  return append(text, layout, list.container, (place) => render(entry, layout, place));
}

/**
 * Takes every entry of `event` whose command contains one of `tokens` out of the hook file `text`.
 *
 * What becomes empty by that goes too, up to the `hooks` object. Undoes {@link insertHooks} to the
 * byte, unless the file already had an empty `hooks` object or event array: those are gone then.
 * Refuses what that function refuses, except for several entries.
 */
export function removeHooks(text: string, event: string, tokens: readonly string[]): Removal {
  let current = text;
  while (true) {
    const survey = surveyFile(current, event);
    if (survey.kind === "refused") return survey;
    const own = survey.entries.find((each) => hasCommandWith(each.node, tokens));
    if (own === undefined) {
      if (current === text) return { kind: "unchanged" };
      const leavesNothing = (survey.root.children ?? []).length === 0;
      return { kind: "changed", text: current, leavesNothing };
    }
    current = cutOut(current, own, survey.root);
  }
}

/** An entry and what holds it, from the inside outwards. */
interface FoundEntry {
  readonly node: Node;
  readonly nesting: readonly { readonly child: Node; readonly container: Node }[];
}

interface Survey {
  readonly kind: "surveyed";
  readonly root: Node;
  /** The object of all events, if there is one. */
  readonly hooks: Node | undefined;
  /** The array of the event's groups, if there is one. */
  readonly groups: Node | undefined;
  readonly entries: readonly FoundEntry[];
}

function surveyFile(text: string, event: string): Survey | Refusal {
  const parsed = parseJson(text);
  if (parsed.kind === "refused") return parsed;
  const { root } = parsed;
  if (root.type !== "object") return refused(text, root, "is not an object");
  const hooks = memberOf(text, root, "hooks", "object");
  if (hooks?.kind === "refused") return hooks;
  const groups = hooks && memberOf(text, hooks.value, event, "array");
  if (groups?.kind === "refused") return groups;
  const found = { kind: "surveyed", root, hooks: hooks?.value, groups: groups?.value } as const;
  if (hooks === undefined || groups === undefined) return { ...found, entries: [] };
  const entries: FoundEntry[] = [];
  for (const group of groups.value.children ?? []) {
    if (group.type !== "object") {
      return refused(text, group, "has a group here that is not an object");
    }
    const list = memberOf(text, group, "hooks", "array");
    if (list?.kind === "refused") return list;
    if (list === undefined) continue;
    for (const node of list.value.children ?? []) {
      if (node.type !== "object") {
        return refused(text, node, "has an entry here that is not an object");
      }
      const nesting = [
        { child: node, container: list.value },
        { child: group, container: groups.value },
        { child: groups.property, container: hooks.value },
        { child: hooks.property, container: root },
      ];
      entries.push({ node, nesting });
    }
  }
  return { ...found, entries };
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
  if (again !== undefined) return refused(text, again, `has ${quoted(name)} a second time here`);
  const value = property?.children?.[1];
  if (property === undefined || value === undefined) return undefined;
  if (value.type !== type) {
    return refused(text, value, `has a ${quoted(name)} here that is not an ${type}`);
  }
  return { kind: "member", property, value };
}

function propertiesNamed(object: Node, name: string): Node[] {
  return (object.children ?? []).filter((property) => property.children?.[0]?.value === name);
}

function hasCommandWith(entry: Node, words: readonly string[]): boolean {
  return propertiesNamed(entry, "command").some((property) => {
    const command: unknown = property.children?.[1]?.value;
    return typeof command === "string" && words.some((word) => command.includes(word));
  });
}

function haveCommonToken(one: Node, other: Node, tokens: readonly string[]): boolean {
  return tokens.some((token) => hasCommandWith(one, [token]) && hasCommandWith(other, [token]));
}

function refused(text: string, node: Node, because: string): Refusal {
  return { kind: "refused", because, at: positionAt(text, node.offset) };
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

function addGroup(
  text: string,
  survey: Survey,
  event: string,
  group: { readonly hooks: readonly HookEntry[] },
): string {
  const layout = layoutOf(text, survey.root);
  const { hooks, groups, root } = survey;
  if (groups !== undefined) {
    return append(text, layout, groups, (place) => render(group, layout, place));
  }
  if (hooks !== undefined) {
    return append(text, layout, hooks, (place) => renderProperty(event, [group], layout, place));
  }
  const all = { [event]: [group] };
  return append(text, layout, root, (place) => renderProperty("hooks", all, layout, place));
}

/** `text` with one more child at the end of `container`, laid out as the last one is. */
function append(
  text: string,
  layout: Layout,
  container: Node,
  child: (place: Place) => string,
): string {
  const last = container.children?.at(-1);
  if (last === undefined) return fill(text, layout, container, child);
  const indent = indentationAt(text, last.offset);
  if (startsLine(text, last.offset)) {
    return splice(
      text,
      endOf(last),
      endOf(last),
      `,${layout.newline}${indent}${child({ indent })}`,
    );
  }
  const addition = isSpread(text, container)
    ? `, ${child({ indent })}`
    : `,${layout.gap}${child("in-line")}`;
  return splice(text, endOf(last), endOf(last), addition);
}

/** `text` with a child in the empty `container`. */
function fill(
  text: string,
  layout: Layout,
  container: Node,
  child: (place: Place) => string,
): string {
  const start = container.offset + 1;
  const end = endOf(container) - 1;
  if (!layout.spread) return splice(text, start, end, child("in-line"));
  const outer = indentationAt(text, container.offset);
  const indent = `${outer}${layout.unit}`;
  const { newline } = layout;
  return splice(text, start, end, `${newline}${indent}${child({ indent })}${newline}${outer}`);
}

function replaceEntry(text: string, survey: Survey, old: Node, entry: HookEntry): string {
  const place = isSpread(text, old) ? { indent: indentationAt(text, old.offset) } : "in-line";
  const replacement = render(entry, layoutOf(text, survey.root), place);
  return splice(text, old.offset, endOf(old), replacement);
}

/** `text` without `entry`, and without the containers that hold nothing else. */
function cutOut(text: string, entry: FoundEntry, root: Node): string {
  for (const { child, container } of entry.nesting) {
    const siblings = container.children ?? [];
    const index = siblings.indexOf(child);
    const before = siblings[index - 1];
    if (before !== undefined) return splice(text, endOf(before), endOf(child), "");
    const after = siblings[index + 1];
    if (after !== undefined) return splice(text, child.offset, after.offset, "");
  }
  return splice(text, root.offset, endOf(root), "{}");
}

function splice(text: string, start: number, end: number, replacement: string): string {
  return `${text.slice(0, start)}${replacement}${text.slice(end)}`;
}
