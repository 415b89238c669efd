/*
 * library.test.mjs - somebody who wants libmcp alone: in a bare Debian `scripts/bootstrap library`
 * installs what it takes and nothing of the servers, -DCAUSEWAY_SERVERS=OFF builds and installs the
 * library there, and a project that has the tree as a part builds and answers.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareDebian, claim, insideClaim, missing, run, test, top } from "./support.mjs";

const NOT_WANTED = ["nodejs", "npm", "coinor-libclp-dev", "libpq-dev", "libsqlite3-dev", "libcjose-dev", "libcurl4-openssl-dev", "libzstd-dev", "chromium", "clang", "postgresql"];

await test("library", () => {
  if (missing("the library in a bare Debian", { root: true, commands: ["mmdebstrap", "unshare", "git"] }))
    return;
  const root = bareDebian();
  const tree = join(root, "src", "causeway");
  mkdirSync(tree, { recursive: true });
  run("sh", ["-c", `git -C "$0" archive HEAD | tar -xf - -C "$1"`, top, tree]);

  insideClaim(root, ["/src/causeway/scripts/bootstrap", "library"], "bootstrap");
  const installed = insideClaim(root, ["dpkg-query", "-W", "-f", "${Package}\n"], "packages").stdout.split("\n");
  for (const name of NOT_WANTED)
    claim(!installed.includes(name), `scripts/bootstrap library installs ${name}`);

  insideClaim(root, ["cmake", "-S", "/src/causeway", "-B", "/src/build", "-G", "Ninja", "-DCAUSEWAY_SERVERS=OFF", "-DCAUSEWAY_TESTS=OFF"], "configuring");
  insideClaim(root, ["cmake", "--build", "/src/build"], "building");
  insideClaim(root, ["cmake", "--install", "/src/build"], "installing");
  insideClaim(root, ["sh", "-c", "ldconfig && cc /src/causeway/examples/hello.c $(pkg-config --cflags --libs mcp) -o /src/hello"], "hello.c");

  const project = join(root, "src", "project");
  cpSync(join(tree, "tests", "house", "installed"), project, { recursive: true });
  const list = readFileSync(join(project, "CMakeLists.txt"), "utf8");
  writeFileSync(join(project, "CMakeLists.txt"), list.replace(/^find_package\(mcp.*$/m, "add_subdirectory(/src/causeway mcp)"));
  insideClaim(root, ["cmake", "-S", "/src/project", "-B", "/src/part", "-G", "Ninja"], "configuring a project");
  insideClaim(root, ["cmake", "--build", "/src/part", "--target", "static", "shared"], "building a project");
  for (const program of ["/src/hello", "/src/part/static", "/src/part/shared"]) {
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`;
    const done = insideClaim(root, [program], program, { input });
    claim(JSON.parse(done.stdout || "{}").result?.tools?.length > 0, `${program} has no tools: ${done.words}`);
  }
});
