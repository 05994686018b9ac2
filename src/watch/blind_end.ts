/** What the journal of a home tells about turns that ended unjudged. */

import { type BlindEnd, lastBlindEnd } from "../decide/blind_end.ts";
import { readJournal } from "../state/journal.ts";

/** The last such end, as long as none was judged after it. Never throws. */
export function observeBlindEnd(state: string): BlindEnd | undefined {
  return lastBlindEnd(readJournal(state), Date.parse);
}
