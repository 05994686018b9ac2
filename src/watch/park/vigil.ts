/** One arm, waited for with an eye on whether this park still is the one that has to wait. */

import { Bell } from "../../platform/bell.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { ArmOutput } from "../arm_output.ts";
import type { ParkInterruption } from "./setup.ts";
import type { Lost, Standing } from "./standing.ts";

/** What a vigil needs. */
export interface VigilSetup {
  readonly standing: Standing;
  readonly pollMs: number;
  readonly interruption: Promise<ParkInterruption>;
  /** Runs the arm; `stop` asks it to end. */
  readonly arm: (stop: Promise<void>) => Promise<ArmOutput>;
}

/** How a vigil ended. Whatever it was, the arm has ended as well. */
export type VigilEnd =
  | { readonly kind: "arm-ended"; readonly output: ArmOutput }
  | {
    readonly kind: "left";
    readonly because: Lost | ParkInterruption;
    readonly output: ArmOutput;
  };

/** Keeps one vigil. */
export async function keepVigil(setup: VigilSetup): Promise<VigilEnd> {
  const { standing, pollMs, interruption } = setup;
  const bell = new Bell();
  const stop = Promise.withResolvers<void>();
  let because: Lost | ParkInterruption | undefined;
  let ended: ArmOutput | undefined;
  const leave = (why: Lost | ParkInterruption): void => {
    if (because !== undefined || ended !== undefined) return;
    because = why;
    stop.resolve();
    bell.ring();
  };
  const arm = setup.arm(stop.promise).catch(brokenArm).then((output) => {
    ended = output;
    bell.ring();
    return output;
  });
  void interruption.then(leave);
  while (ended === undefined && because === undefined) {
    await bell.within(pollMs);
    if (ended !== undefined || because !== undefined) break;
    // What cannot be looked at is no reason to leave; the last look before a word is stricter.
    const lost = await standing.glance().catch(() => undefined);
    if (lost !== undefined) leave(lost);
  }
  const output = await arm;
  return because === undefined ? { kind: "arm-ended", output } : { kind: "left", because, output };
}

/** An arm that broke off has failed like any other. */
function brokenArm(error: unknown): ArmOutput {
  const output = new ArmOutput();
  output.add(`watcher: FAILED - the arm broke off: ${errorMessage(error)}`);
  return output;
}
