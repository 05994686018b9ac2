/** Writing that is not done before every byte is written. */

/** Writes all of `content`; one call of the system may take less. Throws what it reports. */
export function writeWhole(file: Deno.FsFile, content: string | Uint8Array): void {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  for (let offset = 0; offset < bytes.length;) offset += file.writeSync(bytes.subarray(offset));
}
