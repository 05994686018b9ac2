/** Starting runners that outlive whoever starts them. */

import type { SourceId } from "../../state/procevent/source.ts";
import { ownership } from "./generation.ts";
import type { SourceSetup } from "./setup.ts";

/** A runner on its way. */
export interface Launched {
  readonly id: SourceId;
  /** Its exit status, once it has ended. */
  readonly status: () => number | undefined;
}

/** Starts a runner as the leader of a group of its own; `undefined` when it cannot be started. */
export function launchRunner(setup: SourceSetup, id: SourceId): Launched | undefined {
  const { home } = setup;
  try {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["procevent", "start", id, "--root", home.root],
      env: {
        FM_HOME: home.home,
        FM_STATE_OVERRIDE: home.state,
        FM_PROCEVENT_CLAIM_ROOT: setup.claims,
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
      detached: true,
    }).spawn();
    let status: number | undefined;
    child.status.then(({ code }) => status = code, () => status = 1);
    child.unref();
    return { id, status: () => status };
  } catch {
    return undefined;
  }
}

/** Milliseconds between looks at runners that are starting. */
const STEP_MS = 50;

/**
 * Waits until each runner has proven itself, `limitMs` in total, and returns those that have not.
 *
 * A live claim is proof, and so is a run that is over already and went well.
 */
export async function unconfirmed(
  setup: SourceSetup,
  launched: readonly Launched[],
  limitMs: number,
): Promise<readonly SourceId[]> {
  const end = performance.now() + limitMs;
  let open = launched;
  while (true) {
    const proofs = await Promise.all(open.map((runner) => hasProven(setup, runner)));
    open = open.filter((_, index) => proofs[index] !== true);
    const undecided = open.some((runner) => runner.status() === undefined);
    if (!undecided || performance.now() >= end) return open.map((runner) => runner.id);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}

async function hasProven(setup: SourceSetup, { id, status }: Launched): Promise<boolean> {
  return status() === 0 || (await ownership(setup, id)).kind === "live";
}
