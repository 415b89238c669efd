/*
 * release.test.mjs - the SBOM of the programs as they are built: the same bytes each time, valid in
 * itself, with every library that ldd finds; SHA256SUMS as sha256sum reads it; and a tree that is
 * no release is refused.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { spawnSync } from "node:child_process";
import { build, installed, libraries, packageOf, parts as partsOfProgram } from "../../packaging/programs.mjs";
import { obstacle, writeSums } from "../../packaging/release.mjs";
import { sbom, writeSbom } from "../../packaging/sbom.mjs";
import { claim, dist, missing, run, servers, test, top } from "./support.mjs";

const HASH = { "SHA-512": 128, "SHA-256": 64 };

function claimWhole(made) {
  const refs = new Set(made.components.map((part) => part["bom-ref"]));
  claim(refs.size === made.components.length, "a part is named twice");
  claim(made.bomFormat === "CycloneDX" && made.specVersion === "1.6" && /^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(made.serialNumber), "the head");
  for (const { name, version, purl, hashes } of made.components) {
    claim(/^pkg:(deb\/debian|npm|generic)\/[^@]+@[^@]+$/.test(purl) && version.length > 0, `${name}: ${purl}`);
    for (const { alg, content } of hashes ?? [])
      claim(content.length === HASH[alg] && /^[0-9a-f]+$/.test(content), `${name}: ${alg} ${content}`);
  }
  for (const { ref, dependsOn } of made.dependencies)
    for (const other of dependsOn)
      claim(refs.has(other), `${ref} depends on ${other}, which is no part`);
}

/* What LAPACK alone needs, of which our part of it needs nothing. */
const INSTEAD = /^lib(blas|gfortran|quadmath)\.so/;

function claimComplete(made) {
  for (const server of servers) {
    const ref = made.components.find((part) => part.name === server.program)["bom-ref"];
    const parts = made.dependencies.find((one) => one.ref === ref).dependsOn;
    const program = join(installed, "bin", server.program), shipped = partsOfProgram(program);
    for (const path of shipped.flatMap(({ origins }) => origins))
      claim(parts.some((part) => part.startsWith(`pkg:deb/debian/${packageOf(path).name}@`)), `${server.program} lacks ${path}`);
    for (const { name } of libraries(program))
      claim(shipped.some((part) => part.name === name) || INSTEAD.test(name), `${server.program} is shipped without ${name}`);
    claim(parts.some((part) => part.startsWith("pkg:npm/llhttp@")), `${server.program} lacks llhttp`);
  }
  for (const name of ["duckdb", "three", "uplot", "libtomlplusplus-dev"])
    claim(made.components.filter((part) => part.name === name).length === 1, `${name} is no part`);
  claim(!made.components.some((part) => part.name === "esbuild"), "a tool of the build is a part");
}

await test("release", () => {
  if (missing("the SBOM", { commands: ["cmake", "ninja", "ldd", "dpkg-query", "sha256sum", "git"] }))
    return;
  build();
  const made = sbom();
  claim(JSON.stringify(sbom()) === JSON.stringify(made), "the SBOM has other bytes when it is made again");
  claimWhole(made);
  claimComplete(made);

  const file = writeSbom();
  writeSums([file, join(top, "LICENSE")]);
  writeFileSync(join(dist, "LICENSE"), readFileSync(join(top, "LICENSE")));
  const summed = spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: dist, encoding: "utf8" });
  claim(summed.status === 0 && summed.stdout.includes(`${basename(file)}: OK`), `sha256sum: ${summed.stdout}${summed.stderr}`);
  run("rm", [join(dist, "LICENSE"), join(dist, "SHA256SUMS")]);

  if (obstacle() !== null) {
    const refused = spawnSync(process.execPath, [join(top, "packaging", "release.mjs"), "owner=acme"], { encoding: "utf8" });
    claim(refused.status !== 0 && refused.stderr.includes(`this is no release: ${obstacle()}`), `a tree that is no release: ${refused.stderr}`);
  }
});
