/*
 * project.mjs - what the scripts of this folder share: names, versions, the time of a release, the
 * words of a command line.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const top = dirname(dirname(fileURLToPath(import.meta.url)));
export const dist = join(top, "build", "dist");
export const servers = JSON.parse(readFileSync(join(top, "packaging", "servers.json"), "utf8")).servers;
export const version = /^project\(\w+ VERSION (\d+\.\d+\.\d+)/m.exec(readFileSync(join(top, "CMakeLists.txt"), "utf8"))[1];
export const CPU = { x64: "x64", arm64: "arm64" }[process.arch];
export const platform = `linux-${CPU}`;
export const AUTHORS = "The Causeway authors";

/** Where the project is published, when the command line does not say. */
const DEFAULTS = { owner: "@OWNER@", repo: "causeway", scope: "" };

/** The time that stands in archives, in seconds: SOURCE_DATE_EPOCH, else that of the commit. */
export function epoch() {
  return Number(process.env.SOURCE_DATE_EPOCH ?? execFileSync("git", ["-C", top, "log", "-1", "--format=%ct"], { encoding: "utf8" }));
}

export function run(command, args, options = {}) {
  return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 28, ...options });
}

/**
 * The words of a command line, each NAME=VALUE: `owner` and `repo` of the forge, `namespace` of the
 * registry's names (default io.github.OWNER), `images` before the names of images (default
 * ghcr.io/OWNER), `scope` of npm's names ("@acme").
 */
export function release(words) {
  const given = Object.fromEntries(words.map((word) => word.split(/=(.*)/s, 2)));
  for (const name of Object.keys(given))
    if (!["owner", "repo", "namespace", "images", "scope"].includes(name) || given[name] === undefined)
      throw new Error(`"${name}" is no setting of a release: owner=, repo=, namespace=, images= or scope=`);
  const all = { ...DEFAULTS, ...given };
  return { namespace: `io.github.${all.owner}`, images: `ghcr.io/${all.owner}`, ...all };
}

/** The name in the registry. */
export const registryName = (server, how) => server.registry.replace(/^[^/]+/, how.namespace);

export const repository = (how) => `https://github.com/${how.owner}/${how.repo}`;

/** The file name of a bundle. */
export const bundleName = (server) => `${server.program}-${version}-${platform}.mcpb`;
