/** `.turnguard-adapter-failure`: the last turn end that an adapter could not report to its harness. */

import { nowSeconds } from "../../platform/clock.ts";
import { lineOf, readText } from "../../platform/file_text.ts";

/** Name of the record in a state directory. */
export const ADAPTER_FAILURE_NAME = ".turnguard-adapter-failure";

/** A failure that an adapter left on record. */
export interface AdapterFailure {
  readonly harness: string;
  readonly cause: string;
  readonly ageSeconds: number;
}

/** The recorded failure: one line of epoch seconds, harness and cause, parted by tabs. */
export function observeAdapterFailure(state: string): AdapterFailure | undefined {
  const content = readText(`${state}/${ADAPTER_FAILURE_NAME}`);
  if (content.kind !== "text") return undefined;
  const [epoch = "", harness = "", ...cause] = lineOf(content.text, 1).split("\t");
  if (!/^[0-9]{1,15}$/.test(epoch) || harness === "" || cause.length === 0) return undefined;
  return { harness, cause: cause.join(" "), ageSeconds: nowSeconds() - Number(epoch) };
}
