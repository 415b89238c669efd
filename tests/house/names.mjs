/*
 * names.mjs - the files that comments name are there.
 *
 * A name with a folder is a path from the top, from the folder of the comment's file or of one
 * above it, or below include/; a bare name is that of any file of the tree. What a program writes
 * or reads elsewhere, and other projects' files, stand in ELSEWHERE.
 */
import { basename, dirname } from "node:path";
import { files, finish, text } from "./tree.mjs";
import { family, lineAt, takeApart } from "./source.mjs";

const NAME = /(?<![\w.\-/<{$@*])(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:c|h|cpp|mjs|js|cmake|md)\b(?![\w(/*>{])/g;
const ELSEWHERE = new RegExp("^(" + [
  "(three|node|Node|server|llhttp|x|x_int)\\.(js|c|h)", ".*(NAME|ANYTHING).*", "(cjose|coin|wslay|sys)/.*", "(include/)?duckdb\\.h",
  "mcp-config\\.cmake", "prompts/summarise\\.md",
].join("|") + ")$");

const all = files(/^(?!tests\/fuzz\/corpus\/)/);
const known = new Set(all), bare = new Set(all.map((path) => basename(path)));
const looked = all.filter((path) => family(path) && !/(^|\/)(vendor|node_modules)\//.test(path));

function isThere(from, name) {
  if (!name.includes("/"))
    return bare.has(name);
  const folders = ["", "include/"];
  for (let folder = dirname(from); folder !== "."; folder = dirname(folder))
    folders.push(`${folder}/`);
  return folders.some((folder) => known.has(folder + name));
}

const findings = [];
for (const path of looked) {
  const source = text(path) ?? "";
  for (const { text: comment, index } of takeApart(source, family(path)).comments) {
    for (const { 0: name, index: at } of comment.matchAll(NAME))
      if (!ELSEWHERE.test(name) && !isThere(path, name))
        findings.push(`${path}:${lineAt(source, index + at)}: names ${name}, which is not there`);
  }
}
finish("names", looked.length, findings);
