/*
 * bundle.test.mjs - bundles and packages of npm as they are shipped: the same bytes when they are
 * made again; no program needs a glibc later than Debian 12's; unpacked into a folder with a blank
 * in its name, in a bare Debian with libssl3 and libstdc++6 (portarium, which calls a plane: and
 * libcurl4), each starts by its manifest and answers a call; installed by npm without a network,
 * each wrapper answers. Sizes are bounded. Our part of LAPACK gives the bits of the system's.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { bundle } from "../../packaging/bundle.mjs";
import { packages, wrapper } from "../../packaging/npm.mjs";
import { release } from "../../packaging/project.mjs";
import { LAPACK, ROUTINES } from "../../packaging/lapack.mjs";
import { build, filesOf, installed, isOfTheSystem, libraries, parts } from "../../packaging/programs.mjs";
import { sha256 } from "../../packaging/registry.mjs";
import { bareDebian, claim, inside, insideClaim, missing, run, scratch, servers, test } from "./support.mjs";

const how = release(["owner=acme", "namespace=com.example", "scope=@acme"]);
const BUNDLE_MAX = 45e6, PROGRAM_MAX = 4e6, WRAPPER_MAX = 100e3;
const NEWEST_GLIBC = 36; /* 2.36 */
const REMOTE = { PORTARIUM_BASE_URL: "http://127.0.0.1:8080", PORTARIUM_TOKEN: "a-token-of-16-bytes" };
/* A tool of each server that needs nothing on the disk. Those of universe want a universe, those of
 * portarium a plane. */
const CALLS = {
  cobre: ["cobre_get_config_schema", {}], casparian: ["casparian_plugins", {}],
};

const initialize = { jsonrpc: "2.0", id: 1, method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bundle-test", version: "1" } } };

/** The lines of a conversation: initialize, the list of tools, a call of one. */
function conversation(server) {
  const [name, args] = CALLS[server.name] ?? [];
  return [initialize, { jsonrpc: "2.0", method: "notifications/initialized" }, { jsonrpc: "2.0", id: 2, method: "tools/list" },
    ...(name === undefined ? [] : [{ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name, arguments: args } }])]
    .map((line) => `${JSON.stringify(line)}\n`).join("");
}

function claimAnswers(server, done, what) {
  const answers = new Map(done.stdout.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)).map((one) => [one.id, one.result]));
  claim(answers.get(2)?.tools?.length > 0, `${what}: no tools: ${done.words.slice(-2000)}`);
  if (server.name in CALLS)
    claim(answers.get(3) !== undefined && answers.get(3).isError !== true, `${what}: the call: ${JSON.stringify(answers.get(3))?.slice(0, 500)}`);
}

function claimGlibc(server) {
  const program = join(installed, "bin", server.program);
  for (const path of [program, ...parts(program).filter((one) => !isOfTheSystem(one)).map((one) => one.path)])
    for (const [, minor] of run("readelf", ["-V", path]).matchAll(/\bGLIBC_2\.(\d+)/g))
      claim(Number(minor) <= NEWEST_GLIBC, `${path} needs GLIBC_2.${minor}`);
}

/** How a host starts an unpacked bundle, with two folders for the setting that is of folders. */
function words(manifest, place) {
  const { command, args } = manifest.server.mcp_config;
  const fill = (word) => word.replaceAll("${__dirname}", place).replaceAll("${HOME}", "/root");
  return [fill(command), ...args.flatMap((word) => (word === "${user_config.directories}" ? ["/srv", "/opt"] : [fill(word)]))];
}

function tryBundle(server, file, root) {
  const place = `/srv/a folder/${server.name}`;
  mkdirSync(join(root, place), { recursive: true });
  run("python3", ["-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])", file, join(root, place)]);
  const manifest = JSON.parse(readFileSync(join(root, place, "manifest.json"), "utf8"));
  claim(existsSync(join(root, place, manifest.icon)), `the bundle of ${server.name} has no ${manifest.icon}`);
  for (const name of filesOf(join(root, place)).filter((name) => name.startsWith("bin/") || name.includes("/plugins/") || name.includes("/host/")))
    run("chmod", ["755", join(root, place, name)]); /* Python's reader leaves modes out */
  const done = inside(root, words(manifest, place), { input: conversation(server), env: REMOTE });
  claimAnswers(server, done, `the bundle of ${server.name}`);
  const linked = insideClaim(root, ["sh", "-c", `ldd "$0"`, `${place}/bin/${server.program}`], "ldd").stdout;
  claim(!linked.includes("not found"), `${server.name}: ${linked}`);
}

function tryPackages(server, files) {
  const prefix = join(scratch, `npm-${server.name}`);
  mkdirSync(prefix);
  writeFileSync(join(prefix, "package.json"), "{}");
  const cache = join(scratch, "npm-cache");
  run("npm", ["install", "--prefix", prefix, "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional", "--cache", cache, ...files]);
  const modules = join(prefix, "node_modules"), { name, causeway } = wrapper(server, how);
  if (causeway.library !== undefined) {
    cpSync(join(installed, "lib", "causeway"), join(modules, causeway.library), { recursive: true });
    writeFileSync(join(modules, causeway.library, "package.json"), "{}");
  }
  const done = spawnSync(join(modules, ".bin", name.split("/").pop()), server.settings.some((one) => one.operand) ? [prefix] : [],
    { encoding: "utf8", input: conversation(server), cwd: "/", timeout: 120000, env: { PATH: process.env.PATH, HOME: scratch, ...REMOTE } });
  claimAnswers(server, { ...done, words: `${done.stdout}${done.stderr}` }, `npm's ${server.name}`);
}

/* Factorizes matrices by two libraries and solves with the factors, below and above the size of a
 * block, a singular one too: prints how many of the results differ in a byte. */
const SAME_BITS = `
import ctypes, random, sys
from array import array
small, system = (ctypes.CDLL(path) for path in sys.argv[1:])
random.seed(1)
def results(library, n, values):
    matrix, pivots, right = array("d", values), array("i", [0] * n), array("d", values[:n])
    size, one, info = ctypes.c_int(n), ctypes.c_int(1), ctypes.c_int(0)
    at = lambda numbers: ctypes.c_void_p(numbers.buffer_info()[0])
    ref = ctypes.byref
    library.dgetrf_(ref(size), ref(size), at(matrix), ref(size), at(pivots), ref(info))
    singular = info.value
    for how in (b"N", b"T"):
        library.dgetrs_(how, ref(size), ref(one), at(matrix), ref(size), at(pivots), at(right), ref(size), ref(info), ctypes.c_size_t(1))
    return matrix.tobytes(), pivots.tobytes(), right.tobytes(), singular
differing = 0
for n in (1, 2, 7, 63, 64, 65, 150, 200):
    for rank in (n, n - 1):
        values = [random.gauss(0, 1) if i % n < rank else 0.0 for i in range(n * n)]
        differing += results(small, n, values) != results(system, n, values)
print(differing, "differ")
`;

function tryLapack(small) {
  const { path } = libraries(join(installed, "bin", "cobre-mcp")).find(({ name }) => name === LAPACK);
  claim(run("python3", ["-c", SAME_BITS, small, path]) === "0 differ\n", `${small} and ${path} give other numbers`);
  const exported = run("nm", ["-D", "--defined-only", small]).trim().split("\n").map((line) => line.split(" ").pop());
  claim(`${exported.sort()}` === `${ROUTINES}`, `${small} has ${exported}`);
}

await test("bundle", () => {
  if (missing("bundles", { commands: ["cmake", "ninja", "ldd", "dpkg-query", "npm", "python3", "readelf", "nm"] }))
    return;
  build();
  const bare = missing("bundles in a bare Debian", { root: true, commands: ["mmdebstrap", "unshare"] }) ? null : bareDebian();
  if (bare !== null) {
    insideClaim(bare, ["apt-get", "-qq", "update"], "apt");
    insideClaim(bare, ["apt-get", "-qq", "install", "-y", "--no-install-recommends", "libssl3", "libstdc++6"], "apt");
  }
  tryLapack(parts(join(installed, "bin", "cobre-mcp")).find(({ name }) => name === LAPACK).path);
  for (const server of servers) {
    const file = bundle(server, how), sum = sha256(file);
    claim(sha256(bundle(server, how)) === sum, `the bundle of ${server.name} has other bytes when it is made again`);
    claim(statSync(file).size <= BUNDLE_MAX, `the bundle of ${server.name} has ${statSync(file).size} bytes`);
    claimGlibc(server);
    if (bare !== null && server.name === "portarium")
      insideClaim(bare, ["apt-get", "-qq", "install", "-y", "--no-install-recommends", "libcurl4"], "apt");
    if (bare !== null)
      tryBundle(server, file, bare);
    const files = packages(server, how);
    claim(statSync(files[0]).size <= WRAPPER_MAX, `${files[0]} has ${statSync(files[0]).size} bytes`);
    claim(statSync(files[1]).size <= PROGRAM_MAX, `${files[1]} has ${statSync(files[1]).size} bytes`);
    tryPackages(server, files);
  }
});
