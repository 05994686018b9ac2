// Guards the ends of Pi's turns: a run that would end blind gets one follow-up.

import process from "node:process";
import { digestOf, markForPi, pathOf, projectOf } from "../common/loaded_marker.js";
import { blindTurn, guardBanner, marked, noteFailure } from "../common/turnguard.js";

const FILE = pathOf(import.meta.url, `${process.cwd()}/.pi/extensions/fm-primary-turnend-guard.ts`);
const DIGEST = digestOf(FILE);
const ROOT = process.env.FM_ROOT_OVERRIDE || projectOf(FILE);

/** Whether the next end is that of the follow-up; kept through every new binding of the extension. */
let guardFollowupActive = false;

async function isArmed() {
  const bridge = globalThis.__turnguardPiWatch;
  if (typeof bridge?.ensureArmed !== "function") return false;
  try {
    return ["armed", "wake"].includes(await bridge.ensureArmed());
  } catch {
    return false;
  }
}

/**
 * Milliseconds after the end of an agent's loop in which a host that knows it says that the run has
 * settled. Builds up to 0.73 never do.
 */
const SETTLE_MS = 500;

let knowsSettled = false;
let timer;

export default function turnendGuard(pi) {
  const mark = () => void markForPi(ROOT, ".pi-turnend-extension-loaded", DIGEST);
  mark();
  pi.on("session_start", mark);
  pi.on("agent_start", () => clearTimeout(timer));
  pi.on("agent_settled", () => {
    knowsSettled = true;
    clearTimeout(timer);
    return settled(pi);
  });
  pi.on("agent_end", () => {
    clearTimeout(timer);
    if (!knowsSettled) timer = setTimeout(() => void settled(pi), SETTLE_MS);
  });
}

async function settled(pi) {
  if (guardFollowupActive) {
    guardFollowupActive = false;
    return;
  }
  if (await isArmed()) return;
  const banner = await guardBanner(ROOT);
  if (banner === undefined) return;
  // Before it is sent: sending may run into the next end at once.
  guardFollowupActive = true;
  try {
    await pi.sendUserMessage(marked("turn-end-guard", blindTurn(banner)), {
      deliverAs: "followUp",
    });
  } catch (error) {
    guardFollowupActive = false;
    noteFailure(ROOT, "pi", error);
  }
}
