/**
 * Types of the file system helpers this project uses.
 *
 * All of them need read permission, those that change something write
 * permission too. Where a function checks first and acts later, another process
 * can change the file in between: state files use the primitives of `src/state`
 * instead.
 *
 * @module
 */

/** What {@link exists} asks beyond mere existence; `isFile` excludes `isDirectory`. */
export interface ExistsOptions {
  /** Require that the current user may read it. */
  isReadable?: boolean;
  /** Require a directory. */
  isDirectory?: boolean;
  /** Require a regular file. */
  isFile?: boolean;
}

/** What {@link walk} yields and how deep it goes. */
export interface WalkOptions {
  /** Levels below the root; unlimited when absent. */
  maxDepth?: number;
  /** Yield files (default true). */
  includeFiles?: boolean;
  /** Yield directories, the root among them (default true). */
  includeDirs?: boolean;
  /** Yield symbolic links that are not followed (default true). */
  includeSymlinks?: boolean;
  /** Walk through symbolic links (default false). */
  followSymlinks?: boolean;
  /** Report real paths for followed links (default true). */
  canonicalize?: boolean;
  /** Only entries with one of these extensions. */
  exts?: string[];
  /** Only entries whose path matches one of these. */
  match?: RegExp[];
  /** No entry, and no folder's contents, whose path matches one of these. */
  skip?: RegExp[];
}

/** One entry of a walk: the directory entry and its path. */
export interface WalkEntry extends Deno.DirEntry {
  /** The root as given, joined with the names below it. */
  path: string;
}

/** How {@link copy} treats what is already there. */
export interface CopyOptions {
  /** Replace existing files (default false: `AlreadyExists` is thrown). */
  overwrite?: boolean;
  /** Keep access and modification times (default false). */
  preserveTimestamps?: boolean;
}

/** How {@link move} treats an existing destination. */
export interface MoveOptions {
  /** Replace the destination (default false: `AlreadyExists` is thrown). */
  overwrite?: boolean;
}

/** Copies a file or a whole directory. Throws `NotFound`, `AlreadyExists`. */
export declare function copy(
  src: string | URL,
  dest: string | URL,
  options?: CopyOptions,
): Promise<void>;

/** Synchronous {@link copy}. */
export declare function copySync(
  src: string | URL,
  dest: string | URL,
  options?: CopyOptions,
): void;

/** Makes a directory empty, creating it when it is missing. */
export declare function emptyDir(dir: string | URL): Promise<void>;

/** Synchronous {@link emptyDir}. */
export declare function emptyDirSync(dir: string | URL): void;

/** Creates a directory and its parents; a directory in place is left as it is. */
export declare function ensureDir(dir: string | URL): Promise<void>;

/** Synchronous {@link ensureDir}. */
export declare function ensureDirSync(dir: string | URL): void;

/** Creates an empty file and its parents; a file in place is left as it is. */
export declare function ensureFile(filePath: string | URL): Promise<void>;

/** Synchronous {@link ensureFile}. */
export declare function ensureFileSync(filePath: string | URL): void;

/**
 * Whether a path exists, links followed.
 *
 * Do not check first and open later where another process may act: open, and
 * handle `Deno.errors.NotFound`.
 */
export declare function exists(
  path: string | URL,
  options?: ExistsOptions,
): Promise<boolean>;

/** Synchronous {@link exists}. */
export declare function existsSync(
  path: string | URL,
  options?: ExistsOptions,
): boolean;

/** Moves a file or directory. Throws `AlreadyExists` unless told to overwrite. */
export declare function move(
  src: string | URL,
  dest: string | URL,
  options?: MoveOptions,
): Promise<void>;

/** Synchronous {@link move}. */
export declare function moveSync(
  src: string | URL,
  dest: string | URL,
  options?: MoveOptions,
): void;

/** Yields the root and everything below it, in no particular order. */
export declare function walk(
  root: string | URL,
  options?: WalkOptions,
): AsyncIterableIterator<WalkEntry>;

/** Synchronous {@link walk}. */
export declare function walkSync(
  root: string | URL,
  options?: WalkOptions,
): IterableIterator<WalkEntry>;
