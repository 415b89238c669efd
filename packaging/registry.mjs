/*
 * registry.mjs - server.json of each server, as the registry of MCP servers takes it (schema of
 * 2025-12-11): an image, and a bundle where it has been made.
 *
 * What the schema does not say: a package of the type oci has its version in the identifier and no
 * member for it; the client adds `run -i --rm` itself; a bundle has the address of a release of the
 * forge and the SHA-256 of the file.
 * usage: node packaging/registry.mjs [owner=... repo=... namespace=... images=...]
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleName, dist, registryName, release, repository, servers, version } from "./project.mjs";

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** --mount of one folder of the image: a volume, or a folder that the user names. */
function mount({ setting, volume, at, readonly, description }) {
  const where = `dst=${at}${readonly ? ",readonly" : ""}`;
  if (volume !== undefined)
    return { type: "named", name: "--mount", value: `type=volume,src=${volume},${where}` };
  return { type: "named", name: "--mount", value: `type=bind,src={${setting}},${where}`, isRequired: true,
    variables: { [setting]: { description, format: "filepath", isRequired: true } } };
}

/** Files that the server writes belong to who owns the folder. */
const USER = { type: "named", name: "--user", value: "{uid}",
  variables: { uid: { description: "id -u of who owns the folder", default: "1000" } } };

function variable({ variable, title, type, required, sensitive, default: standard }) {
  const choices = type === "boolean" ? { choices: ["false", "true"] } : {};
  return { name: variable, description: title, ...choices, ...(required ? { isRequired: true } : {}), ...(sensitive ? { isSecret: true } : {}),
    ...(standard === undefined ? {} : { default: String(standard) }) };
}

function image(server, how) {
  const words = [...server.image.mounts.map(mount), ...(server.image.user ? [USER] : [])];
  const variables = server.settings.filter((one) => one.variable !== undefined).map(variable);
  return { registryType: "oci", identifier: `${how.images}/${server.image.name}:${version}`, runtimeHint: "docker", transport: { type: "stdio" },
    ...(words.length > 0 ? { runtimeArguments: words } : {}), ...(variables.length > 0 ? { environmentVariables: variables } : {}) };
}

function bundle(server, how, sum) {
  return { registryType: "mcpb", identifier: `${repository(how)}/releases/download/v${version}/${bundleName(server)}`, fileSha256: sum,
    transport: { type: "stdio" } };
}

/** @param sum SHA-256 of the bundle; undefined: there is none */
export function serverFile(server, how, sum) {
  return {
    $schema: SCHEMA, name: registryName(server, how), title: server.title, description: server.description, websiteUrl: repository(how),
    repository: { url: repository(how), source: "github", subfolder: `servers/${server.name}` }, version,
    packages: [image(server, how), ...(sum === undefined ? [] : [bundle(server, how, sum)])],
  };
}

export const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Writes the file of one server. @return its path */
export function register(server, how) {
  const made = join(dist, bundleName(server)), file = join(dist, `${server.name}.server.json`);
  mkdirSync(dist, { recursive: true });
  writeFileSync(file, `${JSON.stringify(serverFile(server, how, existsSync(made) ? sha256(made) : undefined), null, 2)}\n`);
  return file;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const how = release(process.argv.slice(2));
  for (const server of servers)
    console.log(register(server, how));
}
