/** Check of the clock: state files from the future mean that it, or theirs, was wrong. */

import { CLOCK_SKEW_SECONDS } from "../../decide/freshness.ts";
import { ageSeconds } from "../../platform/clock.ts";
import { ageInWords, counted } from "../person_output.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";

/** A file with the seconds since it was written, negative in the future. */
export interface FileAge {
  readonly name: string;
  readonly ageSeconds: number;
}

/** Ages of all entries of a state directory; `undefined` when it cannot be listed. */
export function observeAges(state: string): readonly FileAge[] | undefined {
  try {
    return [...Deno.readDirSync(state)].flatMap(({ name }) => {
      const age = ageSeconds(`${state}/${name}`);
      return age === undefined ? [] : [{ name, ageSeconds: age }];
    });
  } catch {
    return undefined;
  }
}

/** Whether any file lies further in the future than clocks are allowed to differ. */
export function checkClock(files: readonly FileAge[] | undefined): Check {
  const id = "clock";
  if (files === undefined) return undetermined(id, "there are no state files to compare it with");
  const ahead = files.filter((file) => file.ageSeconds < -CLOCK_SKEW_SECONDS)
    .toSorted((one, other) => one.ageSeconds - other.ageSeconds);
  const [worst] = ahead;
  if (worst === undefined) return ok(id, "no state file comes from the future");
  return wrong(
    id,
    `${counted(ahead.length, "state file")} from the future, ${worst.name} by ` +
      ageInWords(-worst.ageSeconds).trim(),
    "set the clock right; if it is right now, restart the watcher",
  );
}
