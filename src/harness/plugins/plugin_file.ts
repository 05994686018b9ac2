/** The modules that a harness loads into its own process. */

/**
 * A file that `install` puts below a project's root, and that `uninstall` takes away again.
 *
 * A file is ours when its first line holds {@linkcode PluginFile.token}; one without it is somebody
 * else's and is left alone.
 */
export interface PluginFile {
  /** Where it goes, below the root, with `/` between the parts. */
  readonly path: string;
  /** The words of its first line that say it is ours. */
  readonly token: string;
  /**
   * Its whole text.
   *
   * @param executable Absolute path of the executable that the module calls.
   */
  text(executable: string): string;
}
