/*
 * debian.test.mjs - the Debian packages of scripts/make-deb: lintian has nothing to say, everything
 * compiled is hardened and names no folder of the build, each server answers a handshake after an
 * installation in a bare Debian, the library builds a program there, removing and purging leaves
 * nothing, and a second build in another folder gives the same bytes.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stringsWith, weaknesses } from "../house/elf.mjs";
import { bareDebian, claim, dist, inside, insideClaim, install, missing, packages, run, scratch, test, top } from "./support.mjs";

const WANTED = ["libmcp0.1", "libmcp-dev", "libmcp-doc", "causeway-duckdb", "causeway-cobre", "causeway-casparian", "causeway-universe", "causeway-portarium"];
const debs = packages();

function lint() {
  const changes = readdirSync(dist).find((name) => name.endsWith(".changes"));
  const said = run("lintian", ["--allow-root", "-EvIL", "+pedantic", join(dist, changes)]).split("\n").filter((line) => /^[EWI]:/.test(line));
  claim(said.length === 0, `lintian: ${said.join("\n")}`);
}

/** Plugins of casparian are static and as they were pinned; DuckDB is as it was released. */
function checkCompiled() {
  for (const [name, path] of debs) {
    const place = join(scratch, "unpacked", name);
    mkdirSync(place, { recursive: true });
    run("dpkg-deb", ["-x", path, place]);
    if (name === "causeway-duckdb" || name.endsWith("-dbgsym"))
      continue;
    for (const entry of readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())) {
      const file = join(entry.parentPath ?? entry.path, entry.name);
      if (readFileSync(file).subarray(0, 4).toString("latin1") !== "\x7fELF" || file.endsWith(".a"))
        continue;
      const short = file.slice(place.length);
      const found = weaknesses("readelf", file, { isChecked: !short.includes("/casparian/") });
      claim(found.length === 0, `${name}: ${short} ${found}`);
      claim(stringsWith(file, [top]).length === 0, `${name}: ${short} has paths in it: ${stringsWith(file, [top])}`);
    }
  }
}

/** What is in the tree: paths, without what changes by itself. */
function treeOf(root) {
  return run("find", [root, "-xdev", "-path", `${root}/var/lib/apt`, "-prune", "-o", "-path", `${root}/var/cache`, "-prune",
    "-o", "-path", `${root}/var/log`, "-prune", "-o", "-path", `${root}/tmp`, "-prune", "-o", "-printf", "%P\n"]).split("\n");
}

function installAndRemove() {
  const root = bareDebian();
  /* What our packages need stays installed, so that what is left is ours. */
  install(root, [...debs].filter(([name]) => WANTED.includes(name)).map(([, path]) => path), "installing");
  for (const name of ["handshake", "library"]) {
    run("cp", ["-r", join(top, "packaging", "debian", "tests"), join(root, "tmp")]);
    if (name === "library")
      insideClaim(root, ["apt-get", "-qq", "install", "-y", "--no-install-recommends", "gcc", "libc6-dev", "pkg-config"], "a compiler");
    insideClaim(root, [`/tmp/tests/${name}`], name);
  }
  rmSync(join(root, "packages"), { recursive: true });
  const ours = (words) => words.filter((path) => /causeway|casparian|cobre|libmcp|portarium|universe|\bmcp\b/.test(path));
  claim(ours(treeOf(root)).length > 50, "nothing of ours is installed");
  mkdirSync(join(root, "var", "lib", "private", "universe"), { recursive: true });
  insideClaim(root, ["apt-get", "-qq", "remove", "-y", ...WANTED], "removing");
  claim(existsSync(join(root, "var", "lib", "private", "universe")), "removing took the state");
  claim(existsSync(join(root, "etc", "default", "universe")), "removing took a configuration file");
  insideClaim(root, ["dpkg", "--purge", ...WANTED], "purging");
  const left = ours(treeOf(root));
  claim(left.length === 0, `purging left ${left}`);
  claim(inside(root, ["dpkg", "--audit"]).words === "", "dpkg has complaints");
}

function buildAgain() {
  const other = join(scratch, "again");
  execFileSync(join(top, "scripts", "make-deb"), [other], { stdio: ["ignore", "ignore", "inherit"] });
  const again = packages(other);
  claim(again.size === debs.size, `${debs.size} packages, then ${again.size}`);
  for (const [name, path] of debs)
    claim(again.has(name) && readFileSync(path).equals(readFileSync(again.get(name))), `${name} has other bytes when it is built again`);
}

await test("debian", () => {
  if (!claim(WANTED.every((name) => debs.has(name)), `build/dist has no ${WANTED.filter((name) => !debs.has(name))}: scripts/make-deb`))
    return;
  if (!missing("lintian", { commands: ["lintian"] }))
    lint();
  checkCompiled();
  if (!missing("installing and removing", { root: true, commands: ["mmdebstrap", "unshare"] }))
    installAndRemove();
  if (!missing("the same bytes twice", { commands: ["dpkg-buildpackage"] }))
    buildAgain();
});
