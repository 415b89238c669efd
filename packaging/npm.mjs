/*
 * npm.mjs - packages of npm for `npx -y NAME-mcp`: a wrapper, and one with the program for each
 * platform that was built. DuckDB comes from its own package of npm, the version that
 * scripts/fetch-duckdb pins. No package has a script of installation.
 * usage: node packaging/npm.mjs [scope=@acme owner=... repo=... namespace=...]    after packaging/programs.mjs
 */
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AUTHORS, CPU, dist, platform, registryName, release, repository, run, servers, top, version } from "./project.mjs";
import { DUCKDB, stage } from "./programs.mjs";

const [, DUCKDB_REVISION] = /^revision=(\S+)$/m.exec(readFileSync(join(top, "scripts", "fetch-duckdb"), "utf8"));
const DUCKDB_PACKAGE = `@duckdb/node-bindings-${platform}`;

const scoped = (name, how) => (how.scope === "" ? name : `${how.scope}/${name}`);
const wrapperName = (server) => `${server.name}-mcp`;

function common(name, server, how) {
  return { name: scoped(name, how), version, description: server.description, license: "Apache-2.0", author: AUTHORS,
    repository: { type: "git", url: `git+${repository(how)}.git`, directory: `servers/${server.name}` } };
}

export function wrapper(server, how) {
  const name = wrapperName(server), withProgram = scoped(`${name}-${platform}`, how), library = DUCKDB.includes(server.name);
  return { ...common(name, server, how), keywords: ["mcp", ...server.keywords], mcpName: registryName(server, how), type: "module",
    bin: { [name]: "launch.mjs" }, files: ["launch.mjs", "LICENSE", "NOTICE"], engines: { node: ">=18" },
    optionalDependencies: { [withProgram]: version, ...(library ? { [DUCKDB_PACKAGE]: DUCKDB_REVISION } : {}) },
    causeway: { program: server.program, start: server.arguments, platforms: { [platform]: withProgram }, ...(library ? { library: DUCKDB_PACKAGE } : {}) } };
}

export function programPackage(server, how) {
  return { ...common(`${wrapperName(server)}-${platform}`, server, how), description: `The program ${server.program} for ${platform} with glibc`,
    os: ["linux"], cpu: [CPU], libc: ["glibc"], files: ["bin", "lib", "share", "licenses"] };
}

/** Packs a folder. @return the path of the file */
function pack(folder, about) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(about, null, 2)}\n`);
  return join(dist, run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", dist, folder]).trim().split("\n").pop());
}

/** Makes both packages of one server. @return their paths */
export function packages(server, how) {
  const folder = join(dist, "stage", wrapperName(server)), files = [];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(top, "packaging", "npm", "launch.mjs"), join(folder, "launch.mjs"));
  for (const name of ["LICENSE", "NOTICE"])
    cpSync(join(top, name), join(folder, name));
  files.push(pack(folder, wrapper(server, how)));
  stage(server, folder, false);
  files.push(pack(folder, programPackage(server, how)));
  rmSync(folder, { recursive: true });
  return files;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const how = release(process.argv.slice(2));
  for (const server of servers)
    for (const file of packages(server, how))
      console.log(file);
}
