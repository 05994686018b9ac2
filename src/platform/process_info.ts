/** What the harness recogniser needs to know about a process. */

import type { Pid } from "./pid.ts";

/** A process as the harness recogniser sees it. */
export interface ProcessInfo {
  readonly pid: Pid;
  readonly parent: Pid | undefined;
  /** Command name as `ps -o comm=` gives it: the kernel name on Linux, a path on macOS. */
  readonly command: string;
  /** All arguments joined by blanks. */
  readonly args: string;
  /** The first argument alone. */
  readonly argv0: string;
}
