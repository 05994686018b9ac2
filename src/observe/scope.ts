/** What a root and its state directory look like. */

import type { ScopeFact, SecondmateMarker } from "../decide/facts.ts";
import { readText } from "../platform/file_text.ts";
import { ownKind, targetKind } from "../platform/path_kind.ts";
import { gitLayout } from "./git_layout.ts";
import type { Home } from "./home.ts";

/** Observes everything that the scope rule asks. */
export function observeScope(home: Home): ScopeFact {
  return {
    marker: secondmateMarker(`${home.root}/.fm-secondmate-home`),
    git: gitLayout(home.root),
    agentsFile: targetKind(`${home.root}/AGENTS.md`),
    bin: targetKind(`${home.root}/bin`),
    state: targetKind(home.state),
  };
}

function secondmateMarker(path: string): SecondmateMarker {
  const kind = ownKind(path);
  if (kind === "absent") return { kind: "absent" };
  if (kind !== "file") return { kind: "not-a-plain-file" };
  const content = readText(path);
  return content.kind === "text"
    ? { kind: "file", text: content.text }
    : { kind: "not-a-plain-file" };
}
