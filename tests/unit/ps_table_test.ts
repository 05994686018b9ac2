/**
 * Listings of `ps` as different systems print them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { psIdentity } from "../../src/platform/process_identity.ts";
import { parsePsTable } from "../../src/platform/ps_table.ts";

const PROCPS = table("procps-comm.txt", "procps-args.txt");
const BSD = table("bsd-comm.txt", "bsd-args.txt");

Deno.test("parsePsTable: procps listings give every process that is in both", () => {
  assertEquals(Object.keys(PROCPS).map(Number), [
    1,
    2,
    17,
    812,
    4180,
    4242,
    4301,
    4302,
    4303,
    4310,
  ]);
  assertEquals(PROCPS[4302], {
    parent: 4301,
    command: "sh",
    args: "/bin/sh -c sleep 60; echo  two  blanks",
    argv0: "/bin/sh",
  });
  assertEquals(PROCPS[4303]?.command, "my watcher");
  assertEquals(PROCPS[1]?.parent, undefined);
});

Deno.test("parsePsTable: padded columns of a BSD ps give paths without their padding", () => {
  assertEquals(BSD[99302], {
    parent: 99301,
    command: "/bin/sh",
    args: "/bin/sh -c sleep 60",
    argv0: "/bin/sh",
  });
  assertEquals(BSD[702]?.command, "/Applications/Terminal App.app/Contents/MacOS/Terminal");
  assertEquals(BSD[4180]?.argv0, "-zsh");
  assertEquals(Object.keys(BSD).length, 8);
});

Deno.test("parsePsTable: the usage text of a ps without these options is no process", () => {
  const usage = fixture("busybox-usage.txt");
  assertEquals(parsePsTable(usage, usage).size, 0);
  assertEquals(parsePsTable("", "").size, 0);
});

Deno.test("parsePsTable: a process in one listing only has come or gone and is left out", () => {
  assertEquals(parsePsTable(" 7 1 sh\n 8 1 cat\n", " 7 1 /bin/sh\n").size, 1);
  assertEquals(parsePsTable(" 7 1 sh\n", " 8 1 /bin/sh\n").size, 0);
});

Deno.test("parsePsTable: any text is a table and never an error", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.string(), (a, b) => {
    parsePsTable(a, b);
    parsePsTable(b, a);
  }));
});

Deno.test("psIdentity: the padding between date and command is part of a BSD identity", () => {
  assertEquals<string | undefined>(
    psIdentity(fixture("bsd-identity.txt")),
    "Mon Nov 30 21:18:54 2026     /bin/bash /h/bin/fm-watch.sh --flag",
  );
});

interface Row {
  readonly parent: number | undefined;
  readonly command: string;
  readonly args: string;
  readonly argv0: string;
}

function table(commands: string, args: string): Readonly<Record<number, Row>> {
  const rows = parsePsTable(fixture(commands), fixture(args));
  return Object.fromEntries(
    [...rows].map(([pid, { parent, command, args, argv0 }]) => [
      pid,
      { parent, command, args, argv0 },
    ]),
  );
}

function fixture(name: string): string {
  return Deno.readTextFileSync(new URL(`../fixtures/ps/${name}`, import.meta.url));
}
