/*
 * install.mjs - the library as strangers get it: installed under a DESTDIR and moved from there, it
 * is all that a server of ten lines needs, built by pkg-config (shared, static) and by the CMake
 * package (shared, static, files embedded). Each of these programs answers over stdio, and needs
 * the shared library only where it should. One more holds all of libmcp.a, and so proves that
 * Libs.private names all that the library needs. The programs of the servers are installed too:
 * none has a path of the build folder, from which it would load a library. Licence, documentation,
 * completions, and units that name the programs at their places are installed too, and all of it is
 * removed again by the manifest.
 * usage: node install.mjs CMAKE CC READELF BUILD_FOLDER [FLAG...]      flags: what the library was instrumented with
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { finish, top } from "./tree.mjs";

const [cmake, cc, readelf, build, ...flags] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "mcp-install-"));
const source = join(top, "tests", "house", "installed");
const strict = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", ...flags];
const findings = [];
let looked = 0;

function run(command, args, env = {}) {
  return execFileSync(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] }).toString().trim();
}

function claim(holds, words) {
  looked++;
  if (!holds)
    findings.push(words);
}

/** Installs under a DESTDIR, then moves the tree to a place that the build has never heard of. */
function install() {
  const prefix = join(scratch, "moved here");
  run(cmake, ["--install", build, "--component", "library", "--prefix", "/opt/mcp"], { DESTDIR: join(scratch, "stage") });
  claim(readdirSync(join(scratch, "stage", "opt")).join() === "mcp", "something was installed outside the prefix");
  renameSync(join(scratch, "stage", "opt", "mcp"), prefix);
  return prefix;
}

/** The folder under `prefix` that holds the file of that name. */
function folderOf(prefix, name) {
  const found = readdirSync(prefix, { recursive: true }).map(String).find((path) => path.split("/").pop() === name);
  if (found === undefined)
    throw new Error(`${name} was not installed`);
  return dirname(join(prefix, found));
}

function checkFiles(prefix, libdir) {
  const version = run("pkg-config", ["--modversion", "mcp"], { PKG_CONFIG_PATH: join(libdir, "pkgconfig") });
  const soname = `libmcp.so.${version.split(".").slice(0, 2).join(".")}`;
  const dynamic = run(readelf, ["-d", join(libdir, "libmcp.so")]);

  claim(dynamic.includes(`Library soname: [${soname}]`), `the shared library's soname is not ${soname}`);
  claim(!/R(UN)?PATH/.test(dynamic), "the shared library carries a run path");
  claim(lstatSync(join(libdir, soname)).isSymbolicLink(), `${soname} is no link`);
  claim(existsSync(join(libdir, `libmcp.so.${version}`)), `no libmcp.so.${version}`);
  claim(existsSync(join(prefix, "share", "man", "man3", "libmcp.3")), "no manual page");
  for (const name of ["LICENSE", "NOTICE"])
    claim(existsSync(join(prefix, "share", "doc", "causeway", name)), `${name} was not installed`);
  for (const header of readdirSync(join(top, "include", "mcp")))
    claim(existsSync(join(prefix, "include", "mcp", header)), `${header} was not installed`);
  for (const name of ["mcp.pc", "mcp-config.cmake", "mcp-targets.cmake"]) {
    const words = readFileSync(join(folderOf(prefix, name), name), "latin1");
    claim(![top, build, scratch, "/opt/mcp"].some((place) => words.includes(place)), `${name} names a folder of this build`);
  }
}

/** The strings of a program that name that place. A sanitizer keeps the paths of its sources. */
function stringsWith(words, place) {
  return words.split("\0").filter((string) => string.includes(place) && !/\.(c|h|cpp|hpp)$/.test(string));
}

/** Without debugging information, which names the sources of a build of ours. */
function checkPrograms() {
  const stage = join(scratch, "programs");
  run(cmake, ["--install", build, "--component", "Unspecified", "--strip", "--prefix", "/opt/mcp"], { DESTDIR: stage });
  const bin = join(stage, "opt", "mcp", "bin");
  const programs = readdirSync(bin);
  claim(programs.length > 0, "no program was installed");
  for (const program of programs) {
    const words = readFileSync(join(bin, program), "latin1");
    for (const place of [build, join(top, ".deps"), scratch])
      claim(stringsWith(words, place).length === 0, `${program} has build paths in it: ${stringsWith(words, place)}`);
    claim(!/R(UN)?PATH/.test(run(readelf, ["-d", join(bin, program)])), `${program} carries a run path`);
  }
}

/** The files below the folder; links to folders count as files. */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

function checkShares() {
  const prefix = join(scratch, "programs", "opt", "mcp");
  for (const path of ["share/doc/causeway/configuration.md", "share/doc/causeway/universe.md", "lib/systemd/system/universe.socket"])
    claim(existsSync(join(prefix, path)), `${path} was not installed`);
  for (const unit of ["system/universe.service", "system/portarium.service", "system/cobre-mcp.service", "user/casparian-worker.service"]) {
    const [, program] = /^ExecStart=(\S+)/m.exec(readFileSync(join(prefix, "lib", "systemd", unit), "utf8")) ?? [];
    claim(program?.startsWith("/opt/mcp/bin/") && existsSync(join(scratch, "programs", program)), `${unit} starts ${program}`);
  }
  for (const name of ["cobre", "cobre-mcp", "casparian", "universe", "portarium"])
    for (const [shell, path] of [["bash", `bash-completion/completions/${name}`], ["zsh", `zsh/site-functions/_${name}`], ["fish", `fish/vendor_completions.d/${name}.fish`]]) {
      const words = existsSync(join(prefix, "share", path)) ? readFileSync(join(prefix, "share", path), "utf8").trim() : "";
      claim(words !== "" && words === run(join(build, "bin", name), ["completion", shell]), `share/${path} is not what ${name} completion ${shell} prints`);
    }
}

function uninstall() {
  const stage = join(scratch, "programs");
  const before = filesBelow(stage).length;
  run(join(top, "scripts", "uninstall"), [join(build, "install_manifest_Unspecified.txt"), stage]);
  claim(before > 20 && filesBelow(stage).length === 0, `uninstalling left ${filesBelow(stage)} of ${before}`);
  claim(!existsSync(join(stage, "opt", "mcp", "share", "casparian")), "uninstalling left share/casparian");
}

/** Files embedded without a CMake project: the installed embed.cmake run as a script. */
function embed(pkgConfig) {
  const list = join(scratch, "files.list");
  const out = join(scratch, "files.c");
  writeFileSync(list, "tools/echo.json\n");
  run(cmake, [`-DOUT=${out}`, "-DNAME=echo_files", `-DROOT=${source}`, `-DLIST=${list}`, "-P", pkgConfig("--variable=embed")[0]]);
  return out;
}

function byPkgConfig(libdir) {
  const words = (line) => line.match(/(\\.|[^\s\\])+/g).map((word) => word.replace(/\\(.)/g, "$1"));
  const pkgConfig = (...args) => {
    const line = run("pkg-config", [...args, "mcp"], { PKG_CONFIG_PATH: join(libdir, "pkgconfig") });
    return args[0].startsWith("--variable") ? [line.replace(/\\(.)/g, "$1")] : words(line);
  };
  const sources = [join(source, "server.c"), embed(pkgConfig)];
  const compile = (name, ...options) => {
    const program = join(scratch, name);
    run(cc, [...strict, ...sources, "-o", program, ...options]);
    return program;
  };
  const fixed = ["-Wl,--as-needed", ...pkgConfig("--static", "--cflags", "--libs")];

  return [
    [compile("pkg-shared", ...pkgConfig("--cflags", "--libs")), true],
    [compile("pkg-static", "-l:libmcp.a", ...fixed), false],
    [compile("pkg-whole", "-Wl,--whole-archive", "-l:libmcp.a", "-Wl,--no-whole-archive", ...fixed), false],
  ];
}

function byCMake(prefix) {
  const out = join(scratch, "cmake");
  mkdirSync(out);
  run(cmake, ["-S", source, "-B", out, "-G", "Ninja", `-DCMAKE_C_COMPILER=${cc}`, `-DCMAKE_PREFIX_PATH=${prefix}`,
    `-DCMAKE_C_FLAGS=${strict.join(" ")}`]);
  run(cmake, ["--build", out]);
  return [[join(out, "shared"), true], [join(out, "static"), false]];
}

const say = (message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const conversation =
  say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } }) +
  say({ method: "notifications/initialized" }) +
  say({ id: 2, method: "tools/call", params: { name: "echo", arguments: { message: "hällo" } } });

function talk([program, isShared], libdir) {
  const name = program.slice(scratch.length + 1);
  const server = spawnSync(program, [], { input: conversation, timeout: 30000, env: { ...process.env, LD_LIBRARY_PATH: libdir } });
  const answers = server.stdout.toString().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const needs = run(readelf, ["-d", program]).includes("[libmcp.so.");

  claim(server.status === 0, `${name} ended with ${server.status ?? server.signal}: ${server.stderr}`);
  claim(answers.find(({ id }) => id === 1)?.result?.serverInfo?.name === "installed", `${name} did not answer initialize`);
  claim(answers.find(({ id }) => id === 2)?.result?.content?.[0]?.text === "hällo", `${name} did not echo`);
  claim(needs === isShared, `${name} ${needs ? "needs" : "does not need"} libmcp.so`);
}

try {
  const prefix = install();
  const libdir = folderOf(prefix, "libmcp.so");
  checkFiles(prefix, libdir);
  checkPrograms();
  checkShares();
  uninstall();
  for (const program of [...byPkgConfig(libdir), ...byCMake(prefix)])
    talk(program, libdir);
} catch (error) {
  findings.push(`${error.message}\n${error.stdout ?? ""}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
finish("install", looked, findings);
