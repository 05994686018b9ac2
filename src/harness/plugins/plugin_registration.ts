/** What registering with a harness means that loads modules instead of running commands. */

import type { PluginFile } from "./plugin_file.ts";

/** A harness that `install` knows by its plugin folder. */
export interface PluginRegistration {
  /** The word that names it on a command line. */
  readonly harness: string;
  readonly files: readonly PluginFile[];
  /** The file that says how the modules of the folder are read, where the harness needs one. */
  readonly packageFile?: { readonly path: string; readonly text: string };
  /** What it wants before it loads the modules. */
  readonly trust: string;
  /** Why there is no folder for every project of a user that would do, as a sentence. */
  readonly notForUser: string;
  /** What `help install` says about it. */
  readonly details: string;
}
