/*
 * images.mjs - the images of the servers, of packaging/container/Containerfile and the Debian
 * packages in build/dist, with their labels: the registry of MCP servers takes an image as the
 * owner's by io.modelcontextprotocol.server.name. CONTAINER_TOOL names docker or podman.
 * usage: node packaging/images.mjs [owner=... repo=... namespace=... images=...]      after make deb
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { dist, epoch, registryName, release, repository, run, servers, top, version } from "./project.mjs";

export const imageName = (server, how) => `${how.images}/${server.image.name}:${version}`;

export function labels(server, how) {
  return {
    "io.modelcontextprotocol.server.name": registryName(server, how),
    "org.opencontainers.image.title": server.title,
    "org.opencontainers.image.description": server.description,
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": run("git", ["-C", top, "rev-parse", "HEAD"]).trim(),
    "org.opencontainers.image.source": repository(how),
    "org.opencontainers.image.licenses": "Apache-2.0",
  };
}

/** The words of `podman build` or `docker build` for one server. podman takes a time for all files,
 *  with which the image is the same each time. */
export function buildWords(server, how, tool) {
  return ["build", ...(tool === "podman" ? ["--timestamp", String(epoch())] : []), "--file", join(top, "packaging", "container", "Containerfile"),
    "--target", server.image.name, "--tag", imageName(server, how), "--build-arg", `VERSION=${version}`,
    ...Object.entries(labels(server, how)).flatMap(([name, value]) => ["--label", `${name}=${value}`])];
}

function tool() {
  const found = (process.env.CONTAINER_TOOL ?? "podman docker").split(" ").find((name) => spawnSync(name, ["--version"]).status === 0);
  if (found === undefined)
    throw new Error("neither podman nor docker is installed");
  return found;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const how = release(process.argv.slice(2)), found = tool();
  for (const server of servers)
    run(found, [...buildWords(server, how, found), dist], { stdio: ["ignore", "inherit", "inherit"] });
}
