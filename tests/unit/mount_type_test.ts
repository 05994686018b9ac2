import { assertEquals } from "@std/assert";
import { mountTypeOf } from "../../src/modes/doctor/surroundings.ts";

const MOUNTS = [
  "overlay / overlay rw 0 0",
  "server:/x /srv/my\\040crew nfs4 rw 0 0",
  "tmpfs /srv/my\\040crew/state tmpfs rw 0 0",
  "broken",
  "",
].join("\n");

Deno.test("mountTypeOf: the longest mount point above a path, blanks included", () => {
  const types = [
    "/home",
    "/srv/my crew",
    "/srv/my crew/home",
    "/srv/my crew/state/x",
    "/srv/my crewx",
  ]
    .map((path) => mountTypeOf(path, MOUNTS));
  assertEquals(types, ["overlay", "nfs4", "nfs4", "tmpfs", "overlay"]);
});
