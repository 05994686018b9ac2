/** Beside the guard's own module, since hardly any turn end needs it. */

export { withBeatGrace } from "../act/beat_grace.ts";
