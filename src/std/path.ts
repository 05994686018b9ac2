/**
 * The name `@std/path`, served by the standard library's npm edition.
 *
 * The npm edition is plain JavaScript, so the types stand beside it in
 * `path.d.ts`, which declares what this project uses and nothing more. To
 * take the library from its own registry instead, point `@std/path` in
 * `deno.json` there: no source file changes.
 *
 * @module
 */

// @ts-types="./path.d.ts"
export * from "deno-std/path/mod.js";
