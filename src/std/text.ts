/**
 * The name `@std/text`, served by the standard library's npm edition.
 *
 * The npm edition is plain JavaScript, so the types stand beside it in
 * `text.d.ts`, which declares what this project uses and nothing more. To
 * take the library from its own registry instead, point `@std/text` in
 * `deno.json` there: no source file changes.
 *
 * @module
 */

// @ts-types="./text.d.ts"
export * from "deno-std/text/mod.js";
