/**
 * The name `@std/fs`, served by the standard library's npm edition.
 *
 * The npm edition is plain JavaScript, so the types stand beside it in
 * `fs.d.ts`, which declares what this project uses and nothing more. To
 * take the library from its own registry instead, point `@std/fs` in
 * `deno.json` there: no source file changes.
 *
 * @module
 */

// @ts-types="./fs.d.ts"
export * from "deno-std/fs/mod.js";
