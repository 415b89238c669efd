/*
 * debian.mjs - the folder debian/ of an exported tree: packaging/debian, with the texts of
 * packaging/servers.json, who maintains the packages, and the units of packaging/systemd under the
 * names that debhelper wants. The variables DEBEMAIL, an address, and CAUSEWAY_REPOSITORY, a URL,
 * are for a release: without the latter the packages name no homepage.
 * usage: node packaging/debian.mjs TREE
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const tree = process.argv[2];
const debian = join(tree, "debian");
const servers = new Map(JSON.parse(readFileSync(join(tree, "packaging", "servers.json"), "utf8")).servers.map((server) => [server.name, server]));
const { DEBEMAIL: maintainer = "causeway@example.org", CAUSEWAY_REPOSITORY: repository } = process.env;

/** Lines of at most 79 columns, as control files have them: indented by one, a dot between
 *  paragraphs. */
function folded(paragraphs) {
  const lines = [];
  for (const paragraph of paragraphs) {
    if (lines.length > 0)
      lines.push(".");
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + word.length + 1 > 78) {
        lines.push(line);
        line = "";
      }
      line += (line === "" ? "" : " ") + word;
    }
    lines.push(line);
  }
  return lines.map((line) => ` ${line}`).join("\n");
}

function fill(name) {
  const path = join(debian, name);
  const words = readFileSync(path, "utf8")
    .replace(/@SYNOPSIS (\w+)@/g, (_, name) => servers.get(name).description.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()))
    .replace(/@ABOUT (\w+)@/g, (_, name) => folded(servers.get(name).about))
    .replaceAll("@MAINTAINER@", maintainer)
    .replace(/^.*@REPOSITORY@.*\n/gm, (line) => repository ? line.replace("@REPOSITORY@", repository) : "");
  writeFileSync(path, words);
}

/** Which unit is of which package. A user unit is named so. */
const units = {
  "causeway-cobre.cobre-mcp": ["cobre-mcp.service", "cobre-mcp.socket"],
  "causeway-universe.universe": ["universe.service", "universe.socket"],
  "causeway-portarium.portarium": ["portarium.service", "portarium.socket"],
  "causeway-casparian.casparian-worker.user": ["user/casparian-worker.service"],
};

cpSync(join(tree, "packaging", "debian"), debian, { recursive: true });
for (const name of ["control", "changelog", "copyright"])
  fill(name);
for (const [prefix, files] of Object.entries(units))
  for (const file of files)
    cpSync(join(tree, "packaging", "systemd", file), join(debian, `${prefix}.${file.split(".").pop()}`));
cpSync(join(tree, "packaging", "systemd", "cobre-mcp.sysusers"), join(debian, "causeway-cobre.sysusers"));
