/*
 * readme.mjs - the README keeps its word: its first block of C is examples/hello.c, each file that
 * it links to and each folder of its map is there, so is each file of the ways of a request, below
 * lib/, servers/X/ or the top, and each command `make X` that it names is a target.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { finish, text, top } from "./tree.mjs";

const readme = text("README.md") ?? "";
const makefile = text("Makefile") ?? "";
const findings = [];
let looked = 0;

function there(path, how) {
  looked++;
  if (!existsSync(join(top, path)))
    findings.push(`README.md ${how} ${path}, which is not there`);
}

const hello = (text("examples/hello.c") ?? "").trim();
const block = (/```c\n([^]*?)```/.exec(readme)?.[1] ?? "").trim();
if (block === "" || block !== hello)
  findings.push("README.md: the first block of C is not examples/hello.c");

for (const [, link] of readme.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g))
  there(link, "links to");

/* A folder of the map stands at the left edge, or two places in, below the last one at the left
 * edge. */
let parent = "";
for (const line of (/## Folder map[^]*?```text\n([^]*?)```/.exec(readme)?.[1] ?? "").split("\n")) {
  const [, indent, names] = /^( {0,2})(?! )((?:[\w.-]+\/)+(?: (?:[\w.-]+\/)+)*)/.exec(line) ?? [];
  if (names === undefined)
    continue;
  if (indent === "")
    parent = names.split(" ")[0];
  for (const name of names.split(" "))
    there(indent === "" ? name : parent + name, "has in its map");
}

/* Paths of the ways of a request leave out the folder that all files of a way are in. A name that
 * has no folder is in that of the one before it. */
const way = /## The way of a request([^]*?)\n## /.exec(readme)?.[1] ?? "";
let before = "";
for (const [, path] of way.matchAll(/`([\w/-]+\.c)`/g)) {
  looked++;
  if (!["lib", "lib/mcp", ".", "servers/universe", "servers/cobre"].some((root) => [path, join(before, path)].some((name) => existsSync(join(top, root, name)))))
    findings.push(`README.md names ${path}, which is not there`);
  before = path.includes("/") ? dirname(path) : before;
}

for (const [, target] of readme.matchAll(/`?\bmake ([a-z]+)\b(?=`| {2,}#|$)/gm)) {
  looked++;
  if (!new RegExp(`^([a-z]+ )*${target}\\b[^:=\n]*:`, "m").test(makefile))
    findings.push(`README.md: make ${target} is not a target of the Makefile`);
}
finish("readme", 1 + looked, findings);
