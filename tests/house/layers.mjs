/*
 * layers.mjs - every #include of lib, kit, servers, examples and include/mcp, held against who may
 * use whom.
 *
 * A room is a folder that the table below names, or one of the few files that FILE_ROOMS names. An
 * include is resolved to the room that owns the header (a public header belongs to the layer that
 * implements it) or to the outside library that it comes from; then the row of the including room
 * must allow it. A header that the tables do not know is refused, so a new dependency shows up
 * here.
 */
import { files, finish, text } from "./tree.mjs";

const PUBLIC_OWNER = {
  alloc: "lib/base", error: "lib/base", arena: "lib/base", buf: "lib/base", clock: "lib/base", random: "lib/base", hash: "lib/base",
  log: "lib/base", files: "lib/base", json: "lib/json", schema: "lib/schema",
};

const LIBRARIES = [
  [/^simdjson\.h$/, "simdjson"], [/^pcre2\.h$/, "pcre2"], [/^uv\.h$/, "libuv"], [/^llhttp\.h$/, "llhttp"],
  [/^wslay\//, "wslay"], [/^openssl\//, "openssl"], [/^sqlite3\.h$/, "sqlite"], [/^libpq-fe\.h$/, "libpq"],
  [/^duckdb\.h$/, "duckdb"], [/^cjose\//, "cjose"], [/^curl\//, "curl"], [/^seccomp\.h$/, "seccomp"],
  [/^(coin\/)?Clp\w*\.(h|hpp)$/, "clp"], [/^xxhash\.h$/, "xxhash"], [/^zstd(_errors)?\.h$/, "zstd"], [/^zlib\.h$/, "zlib"], [/^mpi\.h$/, "mpi"],
  [/^toml\+\+\//, "toml++"], [/^snappy-c\.h$/, "snappy"],
];

/* C17, POSIX and Linux; for the C++ file also the headers of the language without a suffix. */
const SYSTEM = new RegExp("^(" + [
  "(assert|ctype|emmintrin|endian|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool",
  "stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|threads|time|uchar|wchar|wctype", "dirent|dlfcn|fcntl|fnmatch",
  "ftw|getopt|glob|grp|langinfo|libgen|link|malloc|netdb|poll|pthread|pwd|regex|sched|semaphore|spawn|strings|syslog",
  "termios|ucontext|unistd|utime|wordexp)\\.h", "(sys|linux|net|netinet|arpa|asm|sanitizer)\\/.*\\.h",
].join("|") + "|[a-z_0-9]+)$");

/* Of lib/mcp/core: its files, which know no call, and the named rooms; of lib/mcp/core/dispatch:
 * all. */
const LOW = ["lib/schema", "lib/json", "lib/net", "lib/base"];
const core = (...rooms) => [...LOW, "lib/mcp/core", ...rooms.map((room) => `lib/mcp/core/${room}`), "public"];
const CORE = core("call", "session", "subscriptions", "task", "dispatch");

/* Files that belong to another room than their folder. */
const PLUGIN_SDK = "include/casparian_plugin.h";
const FILE_ROOMS = [
  [/^include\/casparian_plugin\.h$/, "servers/casparian/guest"],
  [/^lib\/mcp\/core\/(dispatch|envelope|session_table)\.[ch]$/, "lib/mcp/core/dispatch"],
  [/^lib\/mcp\/features\.[ch]$/, "lib/mcp/feature"],
  [/^lib\/mcp\/method\.[ch]$/, "lib/mcp/method"],
];

const cobre = (...rooms) => rooms.map((room) => `servers/cobre/${room}`);
const universe = (...rooms) => rooms.map((room) => room === "public" ? room : `servers/universe/${room}`);
const casparian = (...rooms) => rooms.map((room) => room === "public" ? room : `servers/casparian/${room}`);
const portarium = (...rooms) => rooms.map((room) => room === "public" ? room : `servers/portarium/${room}`);

/* rooms: which folders of ours; libraries: which of others. A room may always use itself. */
const ROOMS = {
  "lib/base": { rooms: [], libraries: [] },
  "lib/base/hash": { rooms: ["lib/base"], libraries: ["openssl"] },
  "lib/json": { rooms: ["lib/base"], libraries: [] },
  "lib/json/cpp": { rooms: ["lib/json", "lib/base"], libraries: ["simdjson"] },
  "lib/schema": { rooms: ["lib/json", "lib/base"], libraries: ["pcre2"] },
  "lib/net": { rooms: ["lib/base"], libraries: ["libuv", "llhttp", "wslay", "openssl"] },
  "lib/mcp/core": { rooms: [...LOW, "public"] },
  "lib/mcp/core/call": { rooms: core() },
  "lib/mcp/core/session": { rooms: core("call") },
  "lib/mcp/core/subscriptions": { rooms: core("call", "session") },
  "lib/mcp/core/task": { rooms: core("call", "session", "subscriptions") },
  "lib/mcp/core/dispatch": { rooms: core("call", "session", "subscriptions", "task") },
  "lib/mcp/feature": { rooms: CORE },
  "lib/mcp/method": { rooms: [...CORE, "lib/mcp/feature"] },
  "lib/mcp/transport": { rooms: CORE },
  "lib/mcp": { rooms: [...CORE, "lib/mcp/feature", "lib/mcp/method", "lib/mcp/transport"] },
  public: { rooms: ["lib/base", "lib/json", "lib/schema"], libraries: [] },
  "kit/db": { rooms: ["kit/fault"], libraries: ["sqlite", "libpq"] },
  "kit/columns": { rooms: ["kit/guard", "kit/proc", "kit/flat", "kit/thread"], libraries: ["duckdb", "zstd", "snappy"] },
  "kit/flat": {},
  "kit/fault": {},
  "kit/guard": { libraries: ["zlib"] },
  "kit/jobs": { rooms: ["kit/db"] },
  "kit/approvals": { rooms: ["kit/db"] },
  "kit/bus": {},
  "kit/auth": { rooms: ["kit/fetch"], libraries: ["cjose", "openssl"] },
  "kit/fetch": { libraries: ["curl"] },
  "kit/client": { rooms: ["kit/proc", "kit/fetch"] },
  "kit/cli": {},
  "kit/config": { rooms: ["kit/cli"], libraries: ["toml++"] },
  "kit/keys": { libraries: ["openssl"] },
  "kit/page": { rooms: ["public"] },
  "kit/thread": {},
  "kit/serve": { rooms: ["kit/cli", "kit/auth", "kit/guard", "kit/trace", "kit/keys"] },
  "kit/trace": { rooms: ["kit/fetch"] },
  "kit/local": {},
  "kit/about": { rooms: ["kit/cli", "kit/serve"] },
  "kit/host": { rooms: ["kit/cli", "kit/serve", "kit/keys"] },
  "kit/proc": { libraries: ["seccomp"] },
  "servers/cobre/findings": { rooms: [] },
  "servers/cobre/case": { rooms: cobre("findings") },
  "servers/cobre/case/read": { rooms: cobre("case", "findings") },
  "servers/cobre/case/build": { rooms: cobre("case", "findings") },
  "servers/cobre/case/schema": { rooms: cobre("case/read", "case", "findings") },
  "servers/cobre/validate": { rooms: cobre("case/build", "case/read", "stochastic", "case", "findings") },
  "servers/cobre/stochastic": { rooms: cobre("case") },
  "servers/cobre/hydro": { rooms: cobre("case") },
  "servers/cobre/policy": { rooms: cobre("case") },
  "servers/cobre/lp": { rooms: [], libraries: ["clp"] },
  "servers/cobre/lp/dual": { rooms: cobre("lp") },
  "servers/cobre/sddp/program": { rooms: cobre("lp", "stochastic", "hydro", "case") },
  "servers/cobre/sddp/stage": { rooms: cobre("sddp/program", "lp/dual", "lp", "stochastic", "hydro", "case") },
  "servers/cobre/sddp": { rooms: cobre("sddp/stage", "sddp/program", "lp/dual", "lp", "policy", "stochastic", "hydro", "case") },
  "servers/cobre/results": { rooms: cobre("sddp", "sddp/program", "policy", "stochastic", "hydro", "case") },
  "servers/cobre/run": { rooms: cobre("results", "sddp", "lp", "policy", "stochastic", "hydro", "validate", "case", "findings") },
  "servers/cobre/chart": { rooms: [] },
  "servers/cobre/query": { rooms: cobre("results", "policy", "case/read", "case", "findings") },
  "servers/cobre/gateway": { rooms: [...cobre("findings"), "public"] },
  "servers/cobre/features": {
    rooms: [...cobre("gateway", "run", "query", "chart", "results", "policy", "sddp", "validate", "case/schema", "case/read", "case", "findings"), "public"],
  },
  "servers/cobre/report": { rooms: cobre("run", "query", "results", "sddp", "lp", "case") },
  "servers/cobre/mpi": { rooms: cobre("shell", "run", "results", "sddp"), libraries: ["mpi"] },
  "servers/cobre/shell": { rooms: cobre("report", "run", "query", "results", "sddp", "lp", "validate", "case/schema", "case/read", "case", "findings") },
  "servers/universe/model/pages": { rooms: [] },
  "servers/universe/model": { rooms: universe("model/pages") },
  "servers/universe/model/snapshot": { rooms: universe("model", "model/pages") },
  "servers/universe/model/motion": { rooms: universe("model", "model/pages") },
  "servers/universe/commands": { rooms: universe("model", "model/pages") },
  "servers/universe/generate/system": { rooms: universe("model") },
  "servers/universe/generate/extras": { rooms: universe("generate/system", "model") },
  "servers/universe/generate": { rooms: universe("generate/extras", "generate/system", "model") },
  "servers/universe/service/storage": { rooms: universe("commands", "model"), libraries: ["zstd"] },
  "servers/universe/service": { rooms: universe("service/storage", "commands", "model") },
  "servers/universe/gateway": { rooms: universe("service", "public") },
  "servers/universe/features": { rooms: universe("gateway", "service", "commands", "public") },
  "servers/universe/rest": { rooms: universe("gateway", "service", "generate", "commands", "public") },
  "servers/universe/shell": { rooms: universe("gateway", "service", "generate", "model", "public") },
  "servers/casparian/schema": { rooms: [] },
  "servers/casparian/check": { rooms: casparian("schema") },
  "servers/casparian/guest": { rooms: [] },
  "servers/casparian/plugins": { rooms: casparian("check", "schema") },
  "servers/casparian/sinks": { rooms: casparian("check", "schema"), libraries: ["duckdb"] },
  "servers/casparian/query": { rooms: casparian("check", "schema") },
  "servers/casparian/files": { rooms: [] },
  "servers/casparian/jobs": { rooms: casparian("files", "query", "sinks", "plugins", "check", "schema") },
  "servers/casparian/gateway": { rooms: casparian("jobs", "files", "query", "sinks", "plugins", "check", "schema", "public") },
  "servers/casparian/features": { rooms: casparian("gateway", "jobs", "files", "query", "sinks", "plugins", "check", "schema", "public") },
  "servers/casparian/rest": { rooms: casparian("gateway", "jobs", "files", "query", "sinks", "plugins", "check", "schema", "public") },
  "servers/casparian/shell": { rooms: casparian("gateway", "jobs", "files", "query", "sinks", "plugins", "check", "schema", "public") },
  "servers/casparian/parsers": { rooms: casparian("guest"), libraries: ["zlib"] },
  "servers/casparian": {},
  "servers/portarium/language": { rooms: [] },
  "servers/portarium/model": { rooms: portarium("language") },
  "servers/portarium/policy": { rooms: portarium("model", "language") },
  "servers/portarium/check": { rooms: portarium("policy", "model", "language") },
  "servers/portarium/evidence": { rooms: [] },
  "servers/portarium/store": { rooms: portarium("evidence", "model", "language") },
  "servers/portarium/executors": { rooms: portarium("model", "language") },
  "servers/portarium/engine": { rooms: portarium("executors", "store", "policy", "model", "language") },
  "servers/portarium/service": {
    rooms: portarium("engine", "executors", "store", "check", "evidence", "policy", "model", "language"),
  },
  "servers/portarium/client": { rooms: portarium("service", "store", "model") },
  "servers/portarium/gateway": { rooms: portarium("client", "service", "store", "policy", "model", "public") },
  "servers/portarium/features": { rooms: portarium("client", "gateway", "service", "store", "model", "public") },
  "servers/portarium/proxy": { rooms: portarium("gateway", "client", "executors", "service", "store", "model", "public") },
  "servers/portarium/shell": { rooms: portarium("evidence", "gateway", "service", "store", "model", "public") },
  "servers/portarium/commands": { rooms: portarium("client", "gateway", "service", "store", "model") },
  "servers/portarium/rest": { rooms: portarium("gateway", "service", "store", "model", "public") },
  "servers/portarium": {},
  examples: {},
};

const sources = files(/^(include|lib|kit|servers|examples)\/.*\.(c|h|cpp)$/);
const known = new Set(sources);

/** The row of a file, by the longest folder that has one. */
function roomOf(path) {
  if (path.startsWith("include/mcp/"))
    return PUBLIC_OWNER[path.slice("include/mcp/".length, -2)] ?? "public";
  if (/^lib\/base\/hash\.[ch]$/.test(path))
    return "lib/base/hash";
  if (/^lib\/json\/.*\.cpp$/.test(path))
    return "lib/json/cpp";
  const own = FILE_ROOMS.find(([pattern]) => pattern.test(path))?.[1];
  if (own)
    return own;
  for (let folder = path; folder.includes("/"); ) {
    folder = folder.slice(0, folder.lastIndexOf("/"));
    if (ROOMS[folder])
      return folder;
  }
  return path.split("/").slice(0, 2).join("/");
}

/** Where a quoted include leads, the way the compiler would look. */
function resolve(from, name) {
  const near = `${from.slice(0, from.lastIndexOf("/"))}/${name}`;
  const roots = from.startsWith("lib/") ? ["include/", "lib/"]
    : from.startsWith("servers/") ? ["include/", "kit/", `${from.split("/").slice(0, 2).join("/")}/`]
      : from.startsWith("kit/") ? ["include/", "kit/"] : ["include/"];
  return [near, ...roots.map((root) => root + name)].find((path) => known.has(path));
}

function mayUseRoom(from, path, room) {
  const mine = roomOf(from);
  const public_ = path.startsWith("include/mcp/");
  if (mine === room || (path === PLUGIN_SDK && mine === "examples"))
    return true;
  if (mine.startsWith(`${room}/`) && !room.startsWith("lib/mcp") && !ROOMS[mine]?.rooms)
    return true;
  /* Of the library the base alone, unless the row has "public". */
  if (from.startsWith("servers/") && ROOMS[mine]?.rooms) {
    const isServer = /^include\/mcp\/(server|mcp)\.h$/.test(path);
    return path.startsWith("kit/") || (public_ && room !== "public") || (ROOMS[mine].rooms.includes(room) && !isServer);
  }
  if (from.startsWith("lib/") || from.startsWith("include/"))
    return (ROOMS[mine]?.rooms ?? []).includes(room);
  if (public_)
    return !(/^servers\/[^/]+\/.+\//.test(from) && /^include\/mcp\/(server|mcp)\.h$/.test(path));
  if (from.startsWith("kit/"))
    return room === "kit/thread" || (ROOMS[mine]?.rooms ?? []).includes(room);
  if (from.startsWith("servers/"))
    return path.startsWith("kit/") || path.startsWith(`${from.split("/").slice(0, 2).join("/")}/`);
  return false;
}

function refusal(from, open, name) {
  const path = open === '"' ? resolve(from, name) : known.has(`include/${name}`) ? `include/${name}` : undefined;
  if (path) {
    const room = roomOf(path);
    return mayUseRoom(from, path, room) ? null : `${roomOf(from)} may not include ${name} (of ${room})`;
  }
  const library = LIBRARIES.find(([pattern]) => pattern.test(name))?.[1];
  if (library)
    return (ROOMS[roomOf(from)]?.libraries ?? []).includes(library)
      ? null : `${roomOf(from)} may not include ${name} (of ${library})`;
  if (open === "<" && SYSTEM.test(name))
    return null;
  return `${name} is neither a header of ours nor one that the table knows`;
}

const findings = [];
for (const from of sources) {
  (text(from) ?? "").split("\n").forEach((line, index) => {
    const include = /^\s*#\s*include\s*(["<])([^">]+)[">]/.exec(line);
    const why = include && refusal(from, include[1], include[2]);
    if (why)
      findings.push(`${from}:${index + 1}: ${why}`);
  });
}
finish("layers", sources.length, findings);
