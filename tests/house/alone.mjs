/*
 * alone.mjs - the library without the servers (-DCAUSEWAY_SERVERS=OFF): it is configured where
 * nothing of the servers' own needs can be found (Clp, DuckDB, cjose; SQLite, libpq,
 * libcurl, zstd, snappy), and the example hello builds and answers. As in each build without
 * sanitizers, both are hardened, and even their debugging information has no path of the build.
 * usage: node alone.mjs CMAKE CC CXX READELF
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

try {
  run(cmake, ["-S", top, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_CXX_FLAGS=-O0",
    `-DCMAKE_C_COMPILER=${cc}`, `-DCMAKE_CXX_COMPILER=${cxx}`, "-DCAUSEWAY_SERVERS=OFF",
    ...packages.map((name) => `-DCMAKE_DISABLE_FIND_PACKAGE_${name}=ON`), `-DPKG_CONFIG_EXECUTABLE=${blindPkgConfig()}`]);
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
  claim(hello.status === 0 && JSON.parse(hello.stdout).result.tools.length > 0, `hello did not answer: ${hello.stderr}`);
} catch (error) {
  findings.push(`${error.message}\n${error.stdout ?? ""}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
finish("alone", looked, findings);
