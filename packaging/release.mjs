/*
 * release.mjs - everything that a release has, in build/dist, with SHA256SUMS: the source, movable
 * programs, bundles, packages of npm, the registry's files, the SBOM, and the Debian packages that
 * `make deb` left there. Nothing is sent anywhere. Refused: files that are not committed, another
 * tag than the version, a placeholder that nothing has filled.
 * usage: node packaging/release.mjs owner=... [repo=... namespace=... images=... scope=...]
 */
import { readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundle, manifest } from "./bundle.mjs";
import { packages, programPackage, wrapper } from "./npm.mjs";
import { dist, release, run, servers, top, version } from "./project.mjs";
import { archive, build } from "./programs.mjs";
import { register, serverFile, sha256 } from "./registry.mjs";
import { writeSbom } from "./sbom.mjs";

/** Why this tree is no release; null: it is one. */
export function obstacle() {
  if (run("git", ["-C", top, "status", "--porcelain", "--untracked-files=no"]) !== "")
    return "files are changed and not committed";
  const tags = run("git", ["-C", top, "tag", "--points-at", "HEAD"]).split("\n");
  return tags.includes(`v${version}`) ? null : `HEAD has no tag v${version}, the version of CMakeLists.txt`;
}

const PLACEHOLDER = /@[A-Z0-9]+@/;

/** The first placeholder in a text that people or programs will read; null: there is none. */
export const unfilled = (words) => PLACEHOLDER.exec(words)?.[0] ?? null;

/** Before anything is built: what would be written with these settings. */
export function checkFilled(how) {
  for (const server of servers)
    for (const made of [manifest(server, how), serverFile(server, how, "0".repeat(64)), wrapper(server, how), programPackage(server, how)]) {
      const left = unfilled(JSON.stringify(made));
      if (left !== null)
        throw new Error(`${left} would stay in ${made.name}: give its setting, as in owner=NAME`);
    }
}

function sourceArchive() {
  const file = join(dist, `causeway-${version}.tar.xz`);
  run("sh", ["-c", 'git -C "$0" archive --format=tar --prefix="$1/" HEAD | xz -T1 -6 > "$2"', top, `causeway-${version}`, file]);
  return file;
}

/** SHA256SUMS of the files, as `sha256sum --check` reads it. */
export function writeSums(files) {
  const lines = files.map((file) => `${sha256(file)}  ${basename(file)}\n`).sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1));
  writeFileSync(join(dist, "SHA256SUMS"), lines.join(""));
}

function make(how) {
  checkFilled(how);
  build();
  const files = [archive(), sourceArchive()];
  for (const server of servers)
    files.push(bundle(server, how), ...packages(server, how), register(server, how));
  files.push(writeSbom(), ...readdirSync(dist).filter((name) => name.endsWith(".deb") && name.includes(`_${version}`)).map((name) => join(dist, name)));
  for (const file of files.filter((name) => name.endsWith(".json"))) {
    const left = unfilled(readFileSync(file, "utf8"));
    if (left !== null)
      throw new Error(`${left} is left in ${file}`);
  }
  writeSums(files);
  return files;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const how = release(process.argv.slice(2));
  const why = obstacle();
  if (why !== null)
    throw new Error(`this is no release: ${why}`);
  for (const file of make(how))
    console.log(file);
}
