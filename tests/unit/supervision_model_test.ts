/**
 * Which model keeps a home supervised.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { modelOf, namedModel, type SupervisionModel } from "../../src/decide/supervision_model.ts";
import type { HarnessName } from "../../src/harness/names.ts";

const MODELS: Readonly<Record<HarnessName, SupervisionModel>> = {
  "claude": "autoarm",
  "cursor": "autoarm",
  "pi": "extension",
  "pi-signed": "extension",
  "omp": "extension",
  "codex": "persistent",
  "opencode": "persistent",
  "grok": "persistent",
  "kimi": "persistent",
  "gemini": "persistent",
  "rovo": "persistent",
  "muse": "persistent",
  "unknown": "persistent",
};

const HARNESSES: readonly HarnessName[] = [
  "claude",
  "cursor",
  "pi",
  "pi-signed",
  "omp",
  "codex",
  "opencode",
  "grok",
  "kimi",
  "gemini",
  "rovo",
  "muse",
  "unknown",
];

Deno.test("modelOf: every harness has its model", () => {
  const actual = Object.fromEntries(HARNESSES.map((harness) => [harness, modelOf(harness)]));
  assertEquals(actual, MODELS);
});

Deno.test("namedModel: the three words count, exactly as they are", () => {
  for (const word of ["autoarm", "extension", "persistent"]) assertEquals(namedModel(word), word);
  for (const text of [undefined, "", "bogus", "Autoarm", " autoarm", "autoarm\n", "extension,"]) {
    assertEquals(namedModel(text), undefined, text);
  }
});
