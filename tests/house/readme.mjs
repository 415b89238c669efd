/* readme.mjs - the README's first block of C is examples/hello.c, and each folder that its map names is there. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { finish, text, top } from "./tree.mjs";

const findings = [];
const readme = text("README.md") ?? "";
const block = /```c\n([^]*?)```/.exec(readme)?.[1];
if (block === undefined)
  findings.push("README.md has no block of C");
else if (block.trim() !== (text("examples/hello.c") ?? "").trim())
  findings.push("README.md: the first block of C is not examples/hello.c");

const links = [...readme.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map((match) => match[1]);
for (const link of links) {
  if (!existsSync(join(top, link)))
    findings.push(`README.md leads to ${link}, which is not there`);
}
finish("readme", 1 + links.length, findings);
