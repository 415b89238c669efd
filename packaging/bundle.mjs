/*
 * bundle.mjs - bundles for hosts that install servers: PROGRAM-V-linux-CPU.mcpb, a zip of the
 * program, the libraries that a bare Linux lacks, its icon, and manifest.json (manifest_version
 * 0.3).
 * usage: node packaging/bundle.mjs [owner=... repo=...]      after packaging/programs.mjs
 */
import { copyFileSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AUTHORS, bundleName, dist, epoch, release, repository, servers, top, version } from "./project.mjs";
import { stage } from "./programs.mjs";
import { zip } from "./zip.mjs";

/** The name that every host takes (include/mcp/server.h, MCP_NAMES_SAFE). */
export const safeName = (name) => name.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 64);

/** The tools that the program has without a flag for more of them. */
export function toolsOf(server) {
  const folder = join(top, "servers", server.name, "tools");
  return readdirSync(folder).filter((name) => !name.startsWith("_")).sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")))
    .filter(({ name }) => !server.unlisted?.includes(name))
    .map(({ name, description }) => ({ name: safeName(name), description }));
}

/** A setting as user_config has it. One that may be left out has a default, else it arrives
 *  unfilled. */
function setting({ type, title, description, multiple, required, sensitive, default: standard }) {
  return { type, title, description, multiple, required: required ?? false, sensitive, default: standard };
}

const filled = (name) => `\${user_config.${name}}`;

export function manifest(server, how) {
  const variables = server.settings.filter((one) => one.variable !== undefined).map((one) => [one.variable, filled(one.name)]);
  const operands = server.settings.filter((one) => one.operand).map((one) => filled(one.name));
  return {
    manifest_version: "0.3", name: `causeway-${server.name}`, display_name: server.title, version,
    description: server.description, long_description: server.about.join("\n\n"), author: { name: AUTHORS }, license: "Apache-2.0", icon: "icon.png",
    keywords: server.keywords, repository: { type: "git", url: repository(how) },
    tools: toolsOf(server), prompts_generated: true,
    server: { type: "binary", entry_point: `bin/${server.program}`,
      mcp_config: { command: `\${__dirname}/bin/${server.program}`, args: [...server.arguments, ...(server.bundle?.arguments ?? []), ...operands],
        env: Object.fromEntries(variables) } },
    compatibility: { platforms: ["linux"] },
    user_config: Object.fromEntries(server.settings.map((one) => [one.name, setting(one)])),
  };
}

/** Makes the bundle of one server. @return its path */
export function bundle(server, how) {
  const folder = join(dist, "stage", server.name), file = join(dist, bundleName(server));
  stage(server, folder);
  writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(manifest(server, how), null, 2)}\n`);
  copyFileSync(join(top, "packaging", "icons", `${server.name}.png`), join(folder, "icon.png"));
  zip(file, folder, epoch());
  rmSync(folder, { recursive: true });
  return file;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const how = release(process.argv.slice(2));
  for (const server of servers)
    console.log(bundle(server, how));
}
