/** Whether a harness trusts a home, as far as its own files tell. They are only read. */

import { join } from "@std/path";
import type { Home } from "../../observe/home.ts";
import type { Environment } from "../../platform/environment.ts";
import { readText } from "../../platform/file_text.ts";

/** What is known of a harness's trust, and what a person does about it. */
export interface Trust {
  /** Empty when nothing is known. */
  readonly known: string;
  readonly todo: string;
}

/** Largest file of a harness that is read. */
const LIMIT_BYTES = 16 * 1024 * 1024;

/** Looks into the files of `harness`. Never throws. */
export function trustOf(
  harness: string,
  { home, environment }: { readonly home: Home; readonly environment: Environment },
): Promise<Trust> {
  const user = environment.get("HOME") ?? "/nonexistent";
  switch (harness) {
    case "claude":
      return Promise.resolve(claudeTrust(home.root, join(user, ".claude.json")));
    case "codex": {
      const folder = environment.get("CODEX_HOME") ?? join(user, ".codex");
      return Promise.resolve(codexTrust(home.root, join(folder, "config.toml")));
    }
    default:
      return Promise.resolve({ known: "", todo: "start it there and trust the folder" });
  }
}

function claudeTrust(root: string, path: string): Trust {
  const todo = "accept the workspace trust dialog of Claude Code in the home";
  const content = readText(path, LIMIT_BYTES);
  if (content.kind !== "text") return { known: "", todo };
  try {
    const value: unknown = JSON.parse(content.text);
    const accepted = field(field(field(value, "projects"), root), "hasTrustDialogAccepted");
    return accepted === true
      ? { known: "the workspace is trusted", todo: "start a session" }
      : { known: "the workspace is not trusted", todo };
  } catch {
    return { known: "", todo };
  }
}

function codexTrust(root: string, path: string): Trust {
  const todo = "trust the project in Codex and review the hook there (/hooks)";
  const content = readText(path, LIMIT_BYTES);
  if (content.kind !== "text") return { known: "", todo };
  const header = `[projects.${JSON.stringify(root)}]`;
  const lines = content.text.split("\n").map((line) => line.trim());
  const at = lines.indexOf(header);
  const rest = at < 0 ? [] : lines.slice(at + 1);
  const end = rest.findIndex((line) => line.startsWith("["));
  const table = end < 0 ? rest : rest.slice(0, end);
  return table.some((line) => /^trust_level\s*=\s*"trusted"/.test(line))
    ? { known: "the project is trusted; whether the hook was reviewed is not told", todo }
    : { known: "the project is not trusted", todo };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
