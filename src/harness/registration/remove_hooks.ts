/** Our entries taken out of a hook file, every other byte left as it is. */

import { type EditMemory, NO_MEMORY } from "./edit_memory.ts";
import { type FoundEntry, type HookShape, replaceNode, surveyFile } from "./hook_survey.ts";
import { commentsAround, cutChild, type JsonFile } from "./json_edit.ts";
import { parseJson, type Refusal } from "./json_text.ts";
import { layoutOf } from "./layout.ts";
import { hasToken } from "./own_hooks.ts";

/** What {@link removeHooks} made of a file. */
export type Removal =
  | {
    readonly kind: "edited";
    readonly text: string;
    /** How many entries were ours. */
    readonly count: number;
  }
  | Refusal;

/**
 * Takes every entry whose command contains one of `tokens` out of the hook file `text`.
 *
 * What becomes empty by that goes too, up to the `hooks` object, unless a comment is left in it. With
 * the memory of the insertion, an entry that ours took the place of comes back, and what was empty
 * before stays. Undoes the insertion to the byte then. Refuses what is no hook file.
 */
export function removeHooks(
  text: string,
  shape: HookShape,
  tokens: readonly string[],
  memory: EditMemory = NO_MEMORY,
): Removal {
  const replaced = [...memory.replaced];
  let current = text;
  for (let count = 0;; count++) {
    const survey = surveyFile(current, shape);
    if (survey.kind === "refused") return survey;
    const own = survey.entries.find(({ command }) =>
      tokens.some((token) => hasToken(command, token))
    );
    if (own === undefined) return { kind: "edited", text: current, count };
    const index = replaced.findIndex(({ event, token }) =>
      event === own.event && hasToken(own.command, token)
    );
    const [old] = index < 0 ? [] : replaced.splice(index, 1);
    current = old === undefined
      ? cutOut(survey.file, own, memory)
      : replaceNode(survey.file, own.node, old.text);
  }
}

/** The text without `entry`, and without the containers that hold nothing else. */
function cutOut(file: JsonFile, entry: FoundEntry, memory: EditMemory): string {
  for (const { child, container, path } of entry.nesting) {
    const comments = commentsAround(file, container, child);
    if ((container.children ?? []).length === 1) {
      const before = path && memory.filled.find((each) => each.path.join("\0") === path.join("\0"));
      if (before !== undefined && sameComments(before.text, comments)) {
        return replaceNode(file, container, before.text);
      }
      if (comments.length === 0) continue;
    }
    return cutChild(file, child);
  }
  return replaceNode(file, file.root, "{}");
}

/** Whether the text of an empty container has just these comments. */
function sameComments(text: string, comments: readonly string[]): boolean {
  const parsed = parseJson(text);
  if (parsed.kind === "refused") return false;
  const file = { ...parsed, text, layout: layoutOf(text, parsed.root) };
  const found = commentsAround(file, parsed.root);
  return found.length === comments.length && found.every((each, index) => each === comments[index]);
}
