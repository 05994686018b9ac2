/**
 * Packs files into an archive that has the same bytes wherever it is made.
 *
 * @module
 */

import { createTar } from "nanotar";
import { gzipSync } from "node:zlib";

/** One file of an archive. */
export interface ArchiveFile {
  /** Its path inside of the archive. */
  readonly path: string;
  readonly data: Uint8Array | string;
  readonly executable?: true;
}

/** A gzipped tar archive: owner root, times zero, modes 0755 and 0644. */
export function packArchive(files: readonly ArchiveFile[]): Uint8Array {
  const items = files.map(({ path, data, executable }) => ({
    name: path,
    data,
    attrs: { mode: executable === true ? "755" : "644" },
  }));
  const owner = { uid: 0, gid: 0, user: "root", group: "root", mtime: 0 };
  return new Uint8Array(gzipSync(createTar(items, { attrs: owner }), { level: 9 }));
}
