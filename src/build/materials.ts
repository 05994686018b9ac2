/**
 * The software bill of materials: what an executable is made of, in CycloneDX.
 *
 * @module
 */

import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { Buffer } from "node:buffer";
import type { BuildStamp } from "./bundle.ts";
import { DENO_VERSION, type Target } from "./targets.ts";

/** What goes into a bill. */
export interface Materials {
  readonly stamp: BuildStamp;
  readonly targets: readonly Target[];
  /** Packages inside of the bundle, as `name@version`. */
  readonly packages: readonly string[];
  /** The text of `deno.lock`, which has their hashes. */
  readonly lock: string;
}

/** The bill as JSON; it names no time and no number of its own, so it is the same each time. */
export function billOfMaterials(materials: Materials): string {
  const bom = new Models.Bom();
  const product = new Models.Component(Enums.ComponentType.Application, "turnguard", {
    version: materials.stamp.version,
    bomRef: "turnguard",
  });
  bom.metadata.component = product;
  const parts = [...runtimes(materials.targets), ...packages(materials)];
  for (const part of parts) {
    bom.components.add(part);
    product.dependencies.add(part.bomRef);
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const text = new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 });
  return `${text}\n`;
}

function runtimes(targets: readonly Target[]): Models.Component[] {
  return targets.flatMap(({ triple, runtime }) => {
    if (runtime === undefined) return [];
    return [
      new Models.Component(Enums.ComponentType.Platform, `denort-${triple}`, {
        version: DENO_VERSION,
        description: `The compile runtime of Deno for ${triple}, ${runtime.bytes} bytes.`,
        bomRef: `denort-${triple}@${DENO_VERSION}`,
        hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-256"], runtime.sha256]]),
      }),
    ];
  });
}

function packages({ packages, lock }: Materials): Models.Component[] {
  return packages.map((each) => {
    const at = each.lastIndexOf("@");
    const purl = `pkg:npm/${each.replace(/^@/, "%40")}`;
    const sha512 = integrityOf(each, lock);
    return new Models.Component(Enums.ComponentType.Library, each.slice(0, at), {
      version: each.slice(at + 1),
      purl,
      bomRef: purl,
      hashes: new Models.HashDictionary(
        sha512 === undefined ? [] : [[Enums.HashAlgorithm["SHA-512"], sha512]],
      ),
    });
  });
}

/** The sha512 that the lock file pins, in hexadecimal. */
function integrityOf(name: string, lock: string): string | undefined {
  const settings: unknown = JSON.parse(lock);
  if (typeof settings !== "object" || settings === null || !("npm" in settings)) return undefined;
  const pinned: unknown = Reflect.get(Object(settings.npm), name);
  if (typeof pinned !== "object" || pinned === null || !("integrity" in pinned)) return undefined;
  const base64 = /^sha512-(.*)$/.exec(String(pinned.integrity))?.[1];
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("hex");
}
