/*
 * abi.test.mjs - the library keeps the interface of its minor version (packaging/libmcp-*.abi):
 * whatever was built against it still runs. Further functions are no difference. A difference wants
 * the next minor version in CMakeLists.txt and its file, by packaging/abi.mjs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { interfaceFile } from "../../packaging/abi.mjs";
import { claim, missing, test, top } from "./support.mjs";

await test("abi", () => {
  const library = join(top, "build", "release", "libmcp.so");
  if (missing("the ABI of libmcp.so", { commands: ["abidiff", "cmake", "ninja"] }))
    return;
  const quiet = { cwd: top, stdio: ["ignore", "ignore", "inherit"] };
  execFileSync("cmake", ["--preset", "release", "--log-level=WARNING"], quiet);
  execFileSync("cmake", ["--build", "--preset", "release", "--target", "mcp_shared"], quiet);
  const file = interfaceFile();
  if (!claim(existsSync(file), `${file} is not there: node packaging/abi.mjs ${library}`))
    return;
  const done = spawnSync("abidiff", ["--no-added-syms", file, realpathSync(library)], { encoding: "utf8" });
  claim(done.status === 0, `the interface of ${file} has changed (${done.status}):\n${done.stdout}${done.stderr}`);
});
