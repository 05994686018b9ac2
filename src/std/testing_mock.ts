/**
 * The name `@std/testing/mock`, served by the standard library's npm edition.
 *
 * The npm edition is plain JavaScript, so the types stand beside it in
 * `testing_mock.d.ts`, which declares what this project uses and nothing more. To
 * take the library from its own registry instead, point `@std/testing/mock` in
 * `deno.json` there: no source file changes.
 *
 * @module
 */

// @ts-types="./testing_mock.d.ts"
export * from "deno-std/testing/mock.js";
