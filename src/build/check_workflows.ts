/**
 * Checks the workflows of the hosted CI without it: their form, the pins of the actions that they
 * use, and that the scripts they call are there.
 *
 *     deno task check:workflows
 *
 * @module
 */

import { validateWorkflow } from "@action-validator/core";
import { dirname, fromFileUrl, join } from "@std/path";

const ROOT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));
const FOLDER = ".github/workflows";

/** An action at a full commit hash, with the version that it had in a comment. */
const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

/** What is wrong with a workflow's text, a line each; `hasFile` tells of the project's files. */
export function workflowFaults(
  text: string,
  hasFile: (path: string) => boolean,
): readonly string[] {
  // The validator's schema is older than this permission.
  const known = text.replaceAll(/^ +attestations: write\n/gm, "");
  const form = validateWorkflow(known).errors
    .map((error) => `is no valid workflow: ${JSON.stringify(error)}`);
  const pins = [...text.matchAll(/uses: (.*)$/gm)]
    .map(([, action]) => action ?? "")
    .filter((action) => !PINNED.test(action))
    .map((action) => `uses ${action}, which is not pinned by hash with its version behind it`);
  const scripts = [...text.matchAll(/(?<![\w/])(\.ci\/[\w-]+)/g)]
    .map(([, script]) => script ?? "")
    .filter((script) => !hasFile(script))
    .map((script) => `calls ${script}, which is not there`);
  return [...form, ...pins, ...scripts];
}

function check(): number {
  const names = [...Deno.readDirSync(join(ROOT, FOLDER))].map(({ name }) => name).sort();
  const faults = names.flatMap((name) => {
    const text = Deno.readTextFileSync(join(ROOT, FOLDER, name));
    return workflowFaults(text, isExecutable).map((fault) => `${FOLDER}/${name} ${fault}`);
  });
  for (const fault of faults) console.error(fault);
  console.log(`${names.length} workflows, ${faults.length} faults`);
  return faults.length === 0 && names.length > 0 ? 0 : 1;
}

function isExecutable(path: string): boolean {
  try {
    return ((Deno.statSync(join(ROOT, path)).mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

if (import.meta.main) Deno.exitCode = check();
