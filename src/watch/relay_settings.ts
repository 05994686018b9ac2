/** `x-mode.env`: settings for the arm of a home whose relay is polled. */

import { readText } from "../platform/file_text.ts";

/**
 * The `[export ]NAME=VALUE` lines whose name starts with `FM_`.
 *
 * The file is shell text, but it is only ever read: nothing in it is run, and no other name is taken.
 */
export function relaySettings(config: string): Readonly<Record<string, string>> {
  const content = readText(`${config}/x-mode.env`);
  if (content.kind !== "text") return {};
  const settings: Record<string, string> = {};
  for (const line of content.text.split("\n")) {
    const [, name, value] = /^\s*(?:export\s+)?(FM_[A-Za-z0-9_]+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) settings[name] = unquoted(value.trim());
  }
  return settings;
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}
