/** `.supervise-daemon.log`: what the away daemon did, for whoever comes back. */

import { printable } from "../../platform/printable.ts";
import { appendLogLine, type LogBounds, logTime } from "../../state/log_file.ts";

/** Writes one line; silent when it cannot. */
export type Log = (text: string) => void;

/** The daemon's log in a state directory. */
export function daemonLog(state: string, bounds: LogBounds): Log {
  return (text) =>
    appendLogLine(
      `${state}/.supervise-daemon.log`,
      `[${logTime(new Date())}] ${printable(text)}`,
      bounds,
    );
}
