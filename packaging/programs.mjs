/*
 * programs.mjs - programs that may be moved: built so that they look for libraries in ../lib of
 * their folder, and folders of one program with the libraries that a bare Linux lacks.
 *
 * The programs have an RPATH rather than a RUNPATH, which libraries would not pass on to those that
 * they need themselves. glibc, libstdc++ and OpenSSL stay the system's, so that their fixes arrive;
 * libcurl and libpq are opened when they are needed, where the system has them.
 * usage: node packaging/programs.mjs      builds causeway-V-linux-CPU.tar.xz
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { LAPACK, linkLapack, sources } from "./lapack.mjs";
import { dist, epoch, platform, run, servers, top, version } from "./project.mjs";

const SYSTEM = /^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s|ssl|crypto))\.so/;

/** Programs that open DuckDB. */
export const DUCKDB = ["cobre", "casparian"];

/** The folder with bin/, lib/ and share/ as they were installed; built when it is asked for. */
export const installed = join(dist, "tree");

export function build() {
  const folder = join(dist, "build");
  const quiet = { stdio: ["ignore", "ignore", "inherit"] };
  run("cmake", ["-S", top, "-B", folder, "-G", "Ninja", "--log-level=WARNING", "-DCMAKE_BUILD_TYPE=Release", "-DCAUSEWAY_TESTS=OFF",
    "-DCAUSEWAY_MPI=OFF", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib",
    "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags"], quiet);
  run("cmake", ["--build", folder], quiet);
  rmSync(installed, { recursive: true, force: true });
  run("cmake", ["--install", folder, "--prefix", installed, "--strip"], quiet);
  linkLapack(smallLapack);
}

const smallLapack = join(dist, "build", LAPACK);

/** What a program is linked with, from its own to the last: { name, path }. */
export function libraries(program) {
  const lines = run("ldd", [program]).split("\n");
  const missing = lines.find((line) => line.includes("not found"));
  if (missing !== undefined)
    throw new Error(`${program}: ${missing.trim()}`);
  return lines.map((line) => /^\s*(\S+) => (\/\S+)/.exec(line)).filter((found) => found !== null).map(([, name, path]) => ({ name, path }));
}

/** The names of the libraries that a program or library says it needs. */
const needs = (path) => [...run("readelf", ["-d", path]).matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name);

/** What a program that may be moved uses, the system's libraries too: { name, path, origins }, the
 *  last being files of the packages that it is made of. LAPACK is ours, which needs nothing. */
export function parts(program) {
  const linked = new Map(libraries(program).map((library) => [library.name, { ...library, origins: [library.path] }]));
  const used = new Map();
  if (linked.has(LAPACK))
    linked.set(LAPACK, { name: LAPACK, path: smallLapack, origins: sources() });
  for (const open = [program]; open.length > 0;)
    for (const name of needs(open.pop()).filter((name) => linked.has(name) && !used.has(name))) {
      used.set(name, linked.get(name));
      open.push(linked.get(name).path);
    }
  return [...linked.values()].filter(({ name }) => used.has(name));
}

export const isOfTheSystem = ({ name }) => SYSTEM.test(name);

/** The Debian package that a file is of: { name, version, source }. Where /lib is a link to
 *  /usr/lib, a package may know its file below either. */
export function packageOf(path) {
  if (!known.has(path))
    known.set(path, findPackage(path));
  return known.get(path);
}

const known = new Map();

function findPackage(path) {
  const real = realpathSync(path), places = [real, real.replace(/^\/usr/, "")];
  const found = spawnSync("dpkg-query", ["-S", ...places], { encoding: "utf8" }).stdout ?? "";
  if (found === "")
    throw new Error(`${real} is of no Debian package, so its version and its licence are not known`);
  const [name] = found.split(": ");
  const [version, source] = run("dpkg-query", ["-W", "-f", "${Version}\t${source:Package}", name]).split("\t");
  return { name: name.replace(/:.*/, ""), version, source };
}

function copy(from, to, mode) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: true });
  if (mode !== undefined)
    chmodSync(to, mode);
}

/** The texts of the licences: ours, and those of the libraries that are copied. */
function copyLicences(folder, copied, withDuckdb) {
  for (const name of ["LICENSE", "NOTICE"])
    copy(join(top, name), join(folder, "licenses", name), 0o644);
  copy(join(top, ".deps", "llhttp", "copyright"), join(folder, "licenses", "llhttp"), 0o644);
  for (const name of new Set(copied.flatMap(({ origins }) => origins.map((path) => packageOf(path).name))))
    copy(join("/usr/share/doc", name, "copyright"), join(folder, "licenses", name), 0o644);
  if (withDuckdb)
    writeFileSync(join(folder, "licenses", "duckdb"), readFileSync(join(top, "packaging", "licenses", "duckdb")), { mode: 0o644 });
}

/**
 * Copies one program into a folder, as bin/NAME, with lib/, licenses/ and its part of share/.
 *
 * @param withDuckdb false: the library comes from elsewhere (CAUSEWAY_DUCKDB)
 */
export function stage(server, folder, withDuckdb = DUCKDB.includes(server.name)) {
  const program = join(installed, "bin", server.program);
  if (!existsSync(program))
    throw new Error(`${program} is not there: make dist`);
  const copied = parts(program).filter((library) => !isOfTheSystem(library));
  rmSync(folder, { recursive: true, force: true });
  copy(realpathSync(program), join(folder, "bin", server.program), 0o755);
  for (const { name, path } of copied)
    copy(realpathSync(path), join(folder, "lib", name), 0o644);
  if (withDuckdb)
    copy(join(installed, "lib", "causeway", "libduckdb.so"), join(folder, "lib", "causeway", "libduckdb.so"), 0o644);
  if (server.name === "casparian")
    copy(join(installed, "share", "casparian"), join(folder, "share", "casparian"));
  copyLicences(folder, copied, withDuckdb);
}

/** All programs and the library in one archive, which may be unpacked anywhere. */
export function archive() {
  const name = `causeway-${version}-${platform}`, folder = join(dist, name), file = join(dist, `${name}.tar.xz`);
  rmSync(folder, { recursive: true, force: true });
  cpSync(installed, folder, { recursive: true, verbatimSymlinks: true });
  const copied = new Map(servers.flatMap((server) => parts(join(installed, "bin", server.program)))
    .filter((library) => !isOfTheSystem(library)).map((library) => [library.name, library]));
  for (const { name, path } of copied.values())
    copy(realpathSync(path), join(folder, "lib", name), 0o644);
  copyLicences(folder, [...copied.values()], true);
  run("tar", ["--sort=name", `--mtime=@${epoch()}`, "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "-C", dist, "-cJf", file, basename(folder)],
    { env: { ...process.env, XZ_OPT: "-T1 -6" } });
  rmSync(folder, { recursive: true });
  return file;
}

/** The files of a folder, from it, sorted by their bytes. */
export function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1)).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  build();
  console.log(archive());
}
