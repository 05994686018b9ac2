/**
 * Our entries put into a hook file by editing its text in place.
 *
 * The file belongs to other people: an edit changes the bytes of our entries, and of what has to
 * surround them when the file had no place for them yet. Everything else stays, its layout included.
 */

import { isDeepStrictEqual } from "node:util";
import { getNodeValue } from "jsonc-parser";
import type { EditMemory, FilledContainer, ReplacedEntry } from "./edit_memory.ts";
import {
  type EventSurvey,
  type FoundEntry,
  type HookShape,
  refusedAt,
  replaceNode,
  surveyEvent,
} from "./hook_survey.ts";
import { appendChild } from "./json_edit.ts";
import { type Position, positionAt, type Refusal } from "./json_text.ts";
import {
  indentationAt,
  isSpread,
  type JsonValue,
  render,
  renderProperty,
  spanOf,
} from "./layout.ts";
import { hasToken, inPlaceOf, type OwnEntry, type OwnGroup, runsReference } from "./own_hooks.ts";

/** What is to be put in. */
export interface HookEdit {
  readonly shape: HookShape;
  readonly groups: readonly OwnGroup[];
  /** Whether entries of the shell suite give way to ours. */
  readonly replaceReferences: boolean;
}

/** What {@link insertHooks} made of a file. */
export type Insertion =
  | {
    readonly kind: "edited";
    /** `none` when everything was there already. */
    readonly how: "none" | "added" | "updated";
    readonly text: string;
    readonly memory: EditMemory;
    /** The suite's own guards that stand where ours would: two would block twice. */
    readonly references: readonly Position[];
  }
  | Refusal;

/**
 * Puts our groups into the hook file `text`.
 *
 * An entry whose command contains a token is ours: an equal one is left alone, a different one is
 * replaced where it stands. When none of a group is there, all together become the last group of their
 * event, since harnesses store trust by position; when some are, those that are missing join the group
 * of the first. Where an entry of the shell suite stands, it is left alone and nothing of that group is
 * added, or ours takes its place. Refuses, at the place that is wrong, a text that does not have the
 * shape of a hook file, and one in which the right entry cannot be told.
 */
export function insertHooks(text: string, edit: HookEdit): Insertion {
  const work = new Work(text);
  for (const group of edit.groups) {
    const refusal = putGroup(work, group, edit);
    if (refusal !== undefined) return refusal;
  }
  const { filled, replaced, references, added } = work;
  const how = work.text === text ? "none" : added ? "added" : "updated";
  return { kind: "edited", how, text: work.text, memory: { filled, replaced }, references };
}

/** The text between edits, and what they have done. */
class Work {
  readonly filled: FilledContainer[] = [];
  readonly replaced: ReplacedEntry[] = [];
  readonly references: Position[] = [];
  added = false;

  constructor(public text: string) {}
}

function putGroup(work: Work, group: OwnGroup, edit: HookEdit): Refusal | undefined {
  const survey = surveyEvent(work.text, edit.shape, group.event);
  if (survey.kind === "refused") return survey;
  const own = survey.entries.filter(({ command }) => ownerOf(group, command) !== undefined);
  const again = own.find((each, index) =>
    own.slice(0, index).some((earlier) =>
      ownerOf(group, each.command) === ownerOf(group, earlier.command)
    )
  );
  if (again !== undefined) {
    return refusedAt(work.text, again.node, "has a second entry of ours here");
  }
  // Only a guard's group is in the way of a guard.
  const references = group.entries.some(({ replaces }) => replaces !== undefined)
    ? survey.entries.filter((each) => !own.includes(each) && runsReference(each.command))
    : [];
  const [reference] = references;
  if (reference !== undefined) {
    if (own.length > 0) {
      const because = "has an entry of the shell suite here, beside ours";
      return refusedAt(work.text, reference.node, because);
    }
    if (!edit.replaceReferences) {
      work.references.push(positionAt(work.text, reference.node.offset));
      return undefined;
    }
    const refusal = replaceAll(work, group, edit.shape, references);
    if (refusal !== undefined) return refusal;
  } else if (own.length === 0) {
    work.added = true;
    addGroup(work, survey, group, edit.shape);
    return undefined;
  }
  for (const each of group.entries) putEntry(work, group, each, edit.shape);
  return undefined;
}

/** Which entry of a group a command belongs to. */
function ownerOf({ entries }: OwnGroup, command: string): OwnEntry | undefined {
  return entries.find(({ token }) => hasToken(command, token));
}

/** Puts ours in place of the suite's entries, the last first, so that the earlier ones stay in place. */
function replaceAll(
  work: Work,
  group: OwnGroup,
  shape: HookShape,
  references: readonly FoundEntry[],
): Refusal | undefined {
  const taken = new Set<OwnEntry>();
  const pairs: { found: FoundEntry; own: OwnEntry }[] = [];
  for (const found of references) {
    const own = group.entries.find((each) =>
      !taken.has(each) && each.replaces?.some((script) => found.command.includes(script))
    );
    if (own === undefined) {
      const because =
        "has an entry of the shell suite here that none of ours can take the place of";
      return refusedAt(work.text, found.node, because);
    }
    taken.add(own);
    pairs.push({ found, own });
  }
  for (const { found, own } of pairs.toReversed()) {
    const survey = surveyEvent(work.text, shape, group.event);
    if (survey.kind === "refused") return survey;
    const { event } = group;
    work.replaced.unshift({ event, token: own.token, text: spanOf(work.text, found.node) });
    work.text = replaceEntry(survey, found, inPlaceOf(found.command, own));
  }
  work.added = true;
  return undefined;
}

/** The text, which holds some of a group's entries, with `own` as it should be. */
function putEntry(work: Work, group: OwnGroup, own: OwnEntry, shape: HookShape): void {
  const survey = surveyEvent(work.text, shape, group.event);
  // Surveyed before the first edit, and our edits keep the shape.
  if (survey.kind === "refused") return;
  const old = survey.entries.find(({ command }) => hasToken(command, own.token));
  if (old !== undefined) {
    const entry = inPlaceOf(old.command, own);
    const value: unknown = getNodeValue(old.node);
    if (!isDeepStrictEqual(plain(value), plain(entry))) {
      work.text = replaceEntry(survey, old, entry);
    }
    return;
  }
  const beside = survey.entries.find(({ command }) => ownerOf(group, command) !== undefined);
  const container = beside?.nesting[0]?.container;
  if (container === undefined) return addGroup(work, survey, { ...group, entries: [own] }, shape);
  const { file } = survey;
  work.text = appendChild(file, container, (place) => render(own.entry, file.layout, place));
}

/** The parser's objects have no prototype. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function addGroup(work: Work, survey: EventSurvey, group: OwnGroup, shape: HookShape): void {
  const { file, hooks, list } = survey;
  const { event, matcher } = group;
  const entries = group.entries.map(({ entry }) => entry);
  const values: readonly JsonValue[] = shape === "flat"
    ? entries
    : [{ ...(matcher === undefined ? {} : { matcher }), hooks: entries }];
  const container = list ?? hooks ?? file.root;
  if ((container.children ?? []).length === 0) {
    const path = list ? ["hooks", event] : hooks ? ["hooks"] : [];
    work.filled.push({ path, text: spanOf(file.text, container) });
  }
  if (list === undefined) {
    const [name, value] = hooks ? [event, values] : ["hooks", { [event]: values }];
    work.text = appendChild(
      file,
      container,
      (place) => renderProperty(name, value, file.layout, place),
    );
    return;
  }
  const [first, ...rest] = values;
  if (first === undefined) return;
  work.text = appendChild(file, list, (place) => render(first, file.layout, place));
  for (const value of rest) appendAgain(work, shape, event, value);
}

function appendAgain(work: Work, shape: HookShape, event: string, value: JsonValue): void {
  const survey = surveyEvent(work.text, shape, event);
  if (survey.kind === "refused" || survey.list === undefined) return;
  const { file } = survey;
  work.text = appendChild(file, survey.list, (place) => render(value, file.layout, place));
}

function replaceEntry({ file }: EventSurvey, old: FoundEntry, entry: JsonValue): string {
  const { text, layout } = file;
  const place = isSpread(text, old.node)
    ? { indent: indentationAt(text, old.node.offset) }
    : "in-line";
  return replaceNode(file, old.node, render(entry, layout, place));
}
