/*
 * alone.mjs - the library without the servers (-DCAUSEWAY_SERVERS=OFF): it is configured where
 * nothing of the servers' own needs can be found (Clp, DuckDB, cjose; SQLite, libpq, libcurl, zstd,
 * snappy), and the example hello builds and answers. A project that has the library as a part
 * (add_subdirectory) is configured there, too. As each build without sanitizers, library and
 * example are hardened, and even their debugging information has no path of the build.
 * usage: node alone.mjs CMAKE CC CXX READELF
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringsWith, weaknesses } from "./elf.mjs";
import { finish, top } from "./tree.mjs";

const [cmake, cc, cxx, readelf] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "mcp-alone-"));
const build = join(scratch, "build");
const packages = ["Clp", "DuckDB", "Cjose"];
const modules = ["sqlite3", "libpq", "libcurl", "libzstd", "snappy"];
const findings = [];
let looked = 0;

function claim(holds, words) {
  looked++;
  if (!holds)
    findings.push(words);
}

/** A compiler's cache may not change paths before the compiler sees them. */
function run(command, args) {
  return execFileSync(command, args, { env: { ...process.env, CCACHE_BASEDIR: "" }, stdio: ["ignore", "pipe", "pipe"] }).toString();
}

/** A pkg-config that does not know the modules of the servers. */
function blindPkgConfig() {
  const path = join(scratch, "pkg-config");
  const real = run("sh", ["-c", "command -v pkg-config"]).trim();
  writeFileSync(path, `#!/bin/sh\nfor word do case $word in ${modules.map((name) => `${name}*`).join("|")}) exit 1;; esac; done\nexec ${real} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

function configure(from, to, ...more) {
  run(cmake, ["-S", from, "-B", to, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_CXX_FLAGS=-O0",
    `-DCMAKE_C_COMPILER=${cc}`, `-DCMAKE_CXX_COMPILER=${cxx}`, ...packages.map((name) => `-DCMAKE_DISABLE_FIND_PACKAGE_${name}=ON`),
    `-DPKG_CONFIG_EXECUTABLE=${blindPkgConfig()}`, ...more]);
}

/** The project of tests/house/installed, with this tree in place of the installed package. */
function asPart() {
  const project = join(scratch, "project");
  cpSync(join(top, "tests", "house", "installed"), project, { recursive: true });
  const path = join(project, "CMakeLists.txt");
  const words = readFileSync(path, "utf8");
  writeFileSync(path, words.replace(/^find_package\(mcp.*$/m, `add_subdirectory(${top} mcp)`));
  claim(readFileSync(path, "utf8") !== words, "the project finds no package mcp");
  configure(project, join(scratch, "part"));
  const targets = run(cmake, ["--build", join(scratch, "part"), "--target", "help"]);
  run(cmake, ["--build", join(scratch, "part"), "--target", "static", "shared", "--", "-n"]);
  claim(!/\b(example-\w+|kit_\w+|cobre|universe|test)\b/.test(targets), "a project with the library as a part has our examples, servers or tests");
}

try {
  configure(top, build, "-DCAUSEWAY_SERVERS=OFF");
  const cache = readFileSync(join(build, "CMakeCache.txt"), "utf8");
  claim(!/NODE:FILEPATH/.test(cache), "Node.js was looked for");
  const targets = run(cmake, ["--build", build, "--target", "help"]);
  claim(!/\b(kit_\w+|cobre|universe)\b/.test(targets), "there are targets of the kit or of servers");
  run(cmake, ["--build", build, "--target", "mcp", "mcp_shared", "example-hello"]);
  claim(existsSync(join(build, "libmcp.a")), "there is no libmcp.a");
  for (const path of [join(build, "libmcp.so"), join(build, "bin", "example-hello")]) {
    claim(weaknesses(readelf, path).length === 0, `${path}: ${weaknesses(readelf, path)}`);
    claim(stringsWith(path, [top, build]).length === 0, `${path} has paths in it: ${stringsWith(path, [top, build])}`);
  }
  const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`;
  const hello = spawnSync(join(build, "bin", "example-hello"), [], { input, timeout: 60000 });
  asPart();
  claim(hello.status === 0 && JSON.parse(hello.stdout).result.tools.length > 0, `hello did not answer: ${hello.stderr}`);
} catch (error) {
  findings.push(`${error.message}\n${error.stdout ?? ""}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
finish("alone", looked, findings);
