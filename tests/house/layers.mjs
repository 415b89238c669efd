/*
 * layers.mjs - every #include of lib, kit, servers, examples and include/mcp, held against who may use whom.
 *
 * A room is a folder that the table below names. An include is resolved to the room that owns the header (a public
 * header belongs to the layer that implements it) or to the outside library that it comes from; then the row of the
 * including room must allow it. A header that the tables do not know is refused, so a new dependency shows up here.
 */
import { files, finish, text } from "./tree.mjs";

const PUBLIC_OWNER = {
  error: "lib/base", arena: "lib/base", buf: "lib/base", clock: "lib/base", random: "lib/base", hash: "lib/base",
  log: "lib/base", files: "lib/base", json: "lib/json", schema: "lib/schema",
};

const LIBRARIES = [
  [/^simdjson\.h$/, "simdjson"], [/^pcre2\.h$/, "pcre2"], [/^uv\.h$/, "libuv"], [/^llhttp\.h$/, "llhttp"],
  [/^wslay\//, "wslay"], [/^openssl\//, "openssl"], [/^sqlite3\.h$/, "sqlite"], [/^libpq-fe\.h$/, "libpq"],
  [/^duckdb\.h$/, "duckdb"], [/^cjose\//, "cjose"], [/^curl\//, "curl"], [/^seccomp\.h$/, "seccomp"],
  [/^(coin\/)?Clp\w*\.(h|hpp)$/, "clp"], [/^omp\.h$/, "openmp"], [/^xxhash\.h$/, "xxhash"], [/^zstd\.h$/, "zstd"], [/^mpi\.h$/, "mpi"],
];

/* C17, POSIX and Linux; for the C++ file also the headers of the language without a suffix. */
const SYSTEM = new RegExp("^(" + [
  "(assert|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool",
  "stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|threads|time|uchar|wchar|wctype", "dirent|dlfcn|fcntl|fnmatch",
  "ftw|getopt|glob|grp|langinfo|libgen|link|malloc|netdb|poll|pthread|pwd|regex|sched|semaphore|spawn|strings|syslog",
  "termios|ucontext|unistd|utime|wordexp)\\.h", "(sys|linux|net|netinet|arpa|asm|sanitizer)\\/.*\\.h",
].join("|") + "|[a-z_0-9]+)$");

/* rooms: which folders of ours; libraries: which of others. A room may always use itself. */
const ROOMS = {
  "lib/base": { rooms: [], libraries: [] },
  "lib/base/hash": { rooms: ["lib/base"], libraries: ["openssl"] },
  "lib/json": { rooms: ["lib/base"], libraries: [] },
  "lib/json/cpp": { rooms: ["lib/json", "lib/base"], libraries: ["simdjson"] },
  "lib/schema": { rooms: ["lib/json", "lib/base"], libraries: ["pcre2"] },
  "lib/net": { rooms: ["lib/base"], libraries: ["libuv", "llhttp", "wslay", "openssl"] },
  "lib/mcp/core": { rooms: ["lib/schema", "lib/json", "lib/net", "lib/base", "public"], libraries: [] },
  "lib/mcp/feature": {
    rooms: ["lib/mcp/core", "lib/schema", "lib/json", "lib/net", "lib/base", "public"], libraries: [],
  },
  "lib/mcp/transport": {
    rooms: ["lib/mcp/core", "lib/schema", "lib/json", "lib/net", "lib/base", "public"], libraries: [],
  },
  "lib/mcp": {
    rooms: ["lib/mcp/core", "lib/mcp/feature", "lib/mcp/transport", "lib/schema", "lib/json", "lib/net", "lib/base",
      "public"],
    libraries: [],
  },
  public: { rooms: ["lib/base", "lib/json", "lib/schema"], libraries: [] },
  "kit/db": { libraries: ["sqlite", "libpq"] },
  "kit/columns": { rooms: ["kit/guard", "kit/proc"], libraries: ["duckdb"] },
  "kit/guard": {},
  "kit/jobs": { rooms: ["kit/db"] },
  "kit/approvals": { rooms: ["kit/jobs", "kit/db"] },
  "kit/bus": {},
  "kit/auth": { libraries: ["cjose", "curl", "openssl"] },
  "kit/cli": {},
  "kit/listen": { rooms: ["kit/cli", "kit/auth"] },
  "kit/proc": { libraries: ["seccomp"] },
  "servers/cobre/lp": { libraries: ["clp"] },
  "servers/cobre/sddp": { libraries: ["openmp"] },
  "servers/universe/service": { libraries: ["zstd"] },
  "servers/casparian": { libraries: ["xxhash"] },
  "servers/portarium": { libraries: ["curl"] },
  examples: {},
};

const sources = files(/^(include\/mcp|lib|kit|servers|examples)\/.*\.(c|h|cpp)$/);
const known = new Set(sources);

/** The row of a file, by the longest folder that has one. */
function roomOf(path) {
  if (path.startsWith("include/mcp/"))
    return PUBLIC_OWNER[path.slice("include/mcp/".length, -2)] ?? "public";
  if (/^lib\/base\/hash\.[ch]$/.test(path))
    return "lib/base/hash";
  if (/^lib\/json\/.*\.cpp$/.test(path))
    return "lib/json/cpp";
  for (let folder = path; folder.includes("/"); ) {
    folder = folder.slice(0, folder.lastIndexOf("/"));
    if (ROOMS[folder])
      return folder;
  }
  return path.split("/").slice(0, 2).join("/");
}

/** Where a quoted include leads, the way the compiler would look. */
function resolve(from, name) {
  const beside = `${from.slice(0, from.lastIndexOf("/"))}/${name}`;
  const roots = from.startsWith("lib/") ? ["include/", "lib/"]
    : from.startsWith("servers/") ? ["include/", "kit/", `${from.split("/").slice(0, 2).join("/")}/`]
      : from.startsWith("kit/") ? ["include/", "kit/"] : ["include/"];
  return [beside, ...roots.map((root) => root + name)].find((path) => known.has(path));
}

function mayUseRoom(from, path, room) {
  const mine = roomOf(from);
  const public_ = path.startsWith("include/mcp/");
  if (mine === room || mine.startsWith(`${room}/`) && !room.startsWith("lib/mcp"))
    return true;
  if (from.startsWith("lib/") || from.startsWith("include/"))
    return (ROOMS[mine]?.rooms ?? []).includes(room);
  if (public_)
    return !(/^servers\/[^/]+\/.+\//.test(from) && /^include\/mcp\/(server|mcp)\.h$/.test(path));
  if (from.startsWith("kit/"))
    return (ROOMS[mine]?.rooms ?? []).includes(room);
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
