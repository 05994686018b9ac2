/** The checks of a home as people see them: each with what may be done with it, and why not more. */

import type { Home } from "../observe/home.ts";
import { TRUST_SUFFIX } from "../state/check_trust.ts";
import {
  type Candidate,
  checkNames,
  idInName,
  judgeCandidate,
} from "../watch/checks/candidates.ts";

/** One line of a list. */
export interface Listed {
  readonly id: string;
  readonly path: string;
  readonly state: Candidate["kind"] | "missing";
  readonly because: string | null;
}

/** Every check of `home`, by its id. Throws when the state directory cannot be listed. */
export async function listChecks(home: Home): Promise<readonly Listed[]> {
  const names = checkNames(home.state);
  const checks = await Promise.all(names.map(async (name): Promise<Listed> => {
    const candidate = await judgeCandidate(home, name);
    const because = aboutCandidate(candidate);
    return { id: idInName(name), path: `${home.state}/${name}`, state: candidate.kind, because };
  }));
  const ids = new Set(checks.map((check) => check.id));
  const orphans = [...Deno.readDirSync(home.state)]
    .filter(({ name }) => name.endsWith(TRUST_SUFFIX) && !name.startsWith("."))
    .map(({ name }) => name.slice(0, -TRUST_SUFFIX.length))
    .filter((id) => !ids.has(id))
    .map((id): Listed => ({
      id,
      path: `${home.state}/${id}.check.sh`,
      state: "missing",
      because: "it is registered, but its script is missing",
    }));
  return [...checks, ...orphans].toSorted((a, b) => a.id < b.id ? -1 : 1);
}

/** What there is to say about a check, in a few words; `null` when it simply runs. */
export function aboutCandidate(candidate: Candidate): string | null {
  switch (candidate.kind) {
    case "trusted":
      return null;
    case "relay":
      return `runs ${candidate.pollScript}`;
    case "left-out":
      return "belongs to pull-request polling";
    case "changed":
      return "it was changed after it was registered";
    case "rejected":
      return candidate.because;
  }
}
