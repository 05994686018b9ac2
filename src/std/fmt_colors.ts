/**
 * The name `@std/fmt/colors`, served by the standard library's npm edition.
 *
 * The npm edition is plain JavaScript, so the types stand beside it in
 * `fmt_colors.d.ts`, which declares what this project uses and nothing more. To
 * take the library from its own registry instead, point `@std/fmt/colors` in
 * `deno.json` there: no source file changes.
 *
 * @module
 */

// @ts-types="./fmt_colors.d.ts"
export * from "deno-std/fmt/colors.js";
