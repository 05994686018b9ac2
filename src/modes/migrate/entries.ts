/** The hook files of a home that call scripts of the suite, line by line. */

import { SUITE_SCRIPTS } from "../../harness/suite_scripts.ts";
import { readText } from "../../platform/file_text.ts";

/** Hook files below a home, and the word that registers turnguard in their stead. */
const HOOK_FILES: readonly (readonly [file: string, harness: string])[] = [
  [".claude/settings.json", "claude"],
  [".codex/hooks.json", "codex"],
  [".cursor/hooks.json", "cursor"],
  [".grok/hooks/fm-primary-turnend-guard.json", "grok"],
];

/** A line of a hook file that calls a script. */
export interface SuiteEntry {
  readonly file: string;
  readonly line: number;
  readonly script: string;
  readonly harness: string;
}

/** Every such line, in the order of the files. */
export function suiteEntries(root: string): readonly SuiteEntry[] {
  return HOOK_FILES.flatMap(([file, harness]) => {
    const content = readText(`${root}/${file}`);
    if (content.kind !== "text") return [];
    return content.text.split("\n").flatMap((text, index) =>
      SUITE_SCRIPTS.filter(({ name }) => text.includes(`/${name}`))
        .map(({ name }) => ({ file, line: index + 1, script: name, harness }))
    );
  });
}
