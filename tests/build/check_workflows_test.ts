/**
 * A workflow that the hosted CI would refuse, or that uses what nobody has read, is refused here.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { workflowFaults } from "../../src/build/check_workflows.ts";

const HASH = "0123456789abcdef0123456789abcdef01234567";

function workflow(step: string, job = ""): string {
  return `on: push\njobs:\n  test:\n    runs-on: ubuntu-24.04\n${job}    steps:\n      - ${step}\n`;
}

Deno.test("workflowFaults: accepts a pinned action and a script that is there", () => {
  const text = workflow(`uses: some/action@${HASH} # v1.2.3\n      - run: .ci/run`);
  assertEquals(workflowFaults(text, (path) => path === ".ci/run"), []);
});

for (
  const [what, text, fault] of [
    ["an action at a tag", workflow("uses: some/action@v4"), "uses some/action@v4, which is not"],
    ["a hash without a version", workflow(`uses: some/action@${HASH}`), "which is not pinned"],
    ["a script that is missing", workflow("run: .ci/gone"), "calls .ci/gone, which is not there"],
    ["a job with an unknown key", workflow("run: true", "    stepz: 1\n"), "is no valid workflow"],
  ] as const
) {
  Deno.test(`workflowFaults: refuses ${what}`, () => {
    assertStringIncludes(workflowFaults(text, () => false).join("\n"), fault);
  });
}
