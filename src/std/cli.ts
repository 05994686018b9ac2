/**
 * The name `@std/cli`, served by the standard library's npm edition.
 *
 * The npm edition is plain JavaScript, so the types stand beside it in
 * `cli.d.ts`, which declares what this project uses and nothing more. To
 * take the library from its own registry instead, point `@std/cli` in
 * `deno.json` there: no source file changes.
 *
 * @module
 */

// @ts-types="./cli.d.ts"
export * from "deno-std/cli/parse_args.js";
