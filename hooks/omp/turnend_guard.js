// Guards the ends of omp's turns: a session that would settle blind goes on once.

import process from "node:process";
import { digestOf, markForOmp, pathOf, projectOf } from "../common/loaded_marker.js";
import { blindTurn, guardBanner, marked } from "../common/turnguard.js";

const FILE = pathOf(
  import.meta.url,
  `${process.cwd()}/.omp/extensions/fm-primary-turnend-guard.ts`,
);
const DIGEST = digestOf(FILE);
const ROOT = process.env.FM_ROOT_OVERRIDE || projectOf(FILE);

async function isArmed() {
  const bridge = globalThis.__turnguardOmpWatch;
  if (typeof bridge?.ensureArmed !== "function") return false;
  try {
    return ["armed", "wake"].includes(await bridge.ensureArmed());
  } catch {
    return false;
  }
}

export default function turnendGuard(omp) {
  const mark = () => void markForOmp(ROOT, ".omp-turnend-extension-loaded", DIGEST);
  mark();
  omp.on("session_start", mark);
  omp.on("session_stop", async (event) => {
    const active = event?.stop_hook_active === true;
    if (!active && await isArmed()) return undefined;
    const banner = await guardBanner(ROOT, active);
    if (banner === undefined) return undefined;
    // Never as a decision to block: omp bounds only how often it goes on.
    return { continue: true, additionalContext: marked("turn-end-guard", blindTurn(banner)) };
  });
}
