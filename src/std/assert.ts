/**
 * The name `@std/assert`, served by the standard library's npm edition.
 *
 * The npm edition is plain JavaScript, so the types stand beside it in
 * `assert.d.ts`, which declares what this project uses and nothing more. To
 * take the library from its own registry instead, point `@std/assert` in
 * `deno.json` there: no source file changes.
 *
 * @module
 */

// @ts-types="./assert.d.ts"
export * from "deno-std/assert/mod.js";
