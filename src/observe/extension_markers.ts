/** The extensions of Pi and omp in a home, and the markers that they left. */

import type { ExtensionFact, OwnershipFact } from "../decide/extension_ownership.ts";
import { EXTENSION_MARKERS, readExtensionMarker } from "../state/extension_marker.ts";
import type { Home } from "./home.ts";
import { observeSessionLine } from "./midturn.ts";

/** Largest extension that is hashed; both are small programs. */
const SOURCE_LIMIT_BYTES = 16 * 1024 * 1024;

/** Observes both families. */
export async function observeExtensions(home: Home): Promise<OwnershipFact> {
  const extension = async (
    file: string,
    marker: string,
    generation: ExtensionFact["generation"] = "none",
  ): Promise<ExtensionFact> => ({
    file,
    digest: await digestOf(`${home.root}/${file}`),
    marker: readExtensionMarker(`${home.state}/${marker}`),
    generation,
  });
  const { piWatch, piTurnEnd, ompWatch, ompTurnEnd } = EXTENSION_MARKERS;
  return {
    session: observeSessionLine(home.state),
    families: [
      {
        name: "Pi",
        extensions: [
          await extension(".pi/extensions/fm-primary-pi-watch.ts", piWatch, "required"),
          await extension(".pi/extensions/fm-primary-turnend-guard.ts", piTurnEnd),
        ],
      },
      {
        name: "omp",
        extensions: [
          await extension(".omp/extensions/fm-primary-omp-watch.ts", ompWatch),
          await extension(".omp/extensions/fm-primary-turnend-guard.ts", ompTurnEnd),
        ],
      },
    ],
  };
}

/** SHA-256 of a file in hex; `undefined` for anything that is not a regular file that can be read. */
async function digestOf(path: string): Promise<string | undefined> {
  try {
    const info = Deno.statSync(path);
    if (!info.isFile || info.size > SOURCE_LIMIT_BYTES) return undefined;
    const digest = await crypto.subtle.digest("SHA-256", Deno.readFileSync(path));
    return new Uint8Array(digest).toHex();
  } catch {
    return undefined;
  }
}
