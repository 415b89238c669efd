/*
 * sbom.mjs - causeway-V.cdx.json, the parts that each program is made of (CycloneDX 1.6): the
 * Debian packages of the libraries that it is linked with; DuckDB, by the pin of its script; what
 * is compiled in (llhttp, toml++) and built into its pages, by package-lock.json.
 * usage: node packaging/sbom.mjs      after packaging/programs.mjs
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AUTHORS, dist, epoch, platform, run, servers, top, version } from "./project.mjs";
import { DUCKDB, installed, packageOf, parts as partsOfProgram } from "./programs.mjs";

const licence = (id) => [{ license: { id } }];
const text = (...path) => readFileSync(join(top, ...path), "utf8");

function ownPart(name, type, description) {
  const purl = `pkg:generic/${name}@${version}`;
  return { type, "bom-ref": purl, name, version, description, authors: [{ name: AUTHORS }], licenses: licence("Apache-2.0"), purl };
}

function debianPart(path) {
  const { name, version } = packageOf(path);
  const arch = run("dpkg", ["--print-architecture"]).trim();
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`;
  return { type: "library", "bom-ref": purl, name, version, purl };
}

function duckdbPart() {
  const script = text("scripts", "fetch-duckdb");
  const [, revision] = /^revision=(\S+)$/m.exec(script);
  const sum = new RegExp(`cpu=${platform.split("-")[1]}\\s+library_sum=([0-9a-f]{128})`).exec(script)[1];
  const purl = `pkg:npm/%40duckdb/node-bindings-${platform}@${revision}`;
  return { type: "library", "bom-ref": purl, name: "duckdb", version: revision, description: "libduckdb.so, opened at run time; the hash is that of the package",
    licenses: licence("MIT"), hashes: [{ alg: "SHA-512", content: sum }], purl };
}

/** Compiled in where the system has no library of it. */
function llhttpPart() {
  const header = text(".deps", "llhttp", "llhttp.h");
  const number = ["MAJOR", "MINOR", "PATCH"].map((part) => new RegExp(`LLHTTP_VERSION_${part} (\\d+)`).exec(header)[1]).join(".");
  const purl = `pkg:npm/llhttp@${number}`;
  return { type: "library", "bom-ref": purl, name: "llhttp", version: number, licenses: licence("MIT"), purl };
}

/** What the pages below a server's folder import from npm; their builders are no part of them. */
function pageParts(server) {
  const lock = JSON.parse(text("package-lock.json")).packages;
  const folder = join(top, "servers", server.name);
  const sources = readdirSync(folder, { recursive: true }).filter((name) => /(^|\/)web\/.*\.(m?js|tsx?)$/.test(name) && !name.endsWith("/build.mjs"));
  const names = new Set(sources.flatMap((name) => [...readFileSync(join(folder, name), "utf8").matchAll(/\bfrom ["']((?:@[\w-]+\/)?[a-z][\w-]*)/g)]
    .map(([, imported]) => imported)).filter((name) => `node_modules/${name}` in lock));
  return [...names].sort().map((name) => {
    const { version, integrity, license } = lock[`node_modules/${name}`];
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
    return { type: "library", "bom-ref": purl, name, version, licenses: licence(license), hashes: [{ alg: "SHA-512", content }], purl };
  });
}

/** Headers alone, of which code is in the programs that read settings (kit/config). */
function headerParts(server) {
  const [, kit] = /^set\(server_kit (.*)\)$/m.exec(text("servers", server.name, "server.cmake"));
  return kit.split(" ").includes("config") ? [debianPart("/usr/include/toml++/toml.h")] : [];
}

function partsOf(server) {
  const linked = partsOfProgram(join(installed, "bin", server.program)).flatMap(({ origins }) => origins.map(debianPart));
  const bundled = [llhttpPart(), ...headerParts(server), ...pageParts(server), ...(DUCKDB.includes(server.name) ? [duckdbPart()] : [])];
  return [...linked, ...bundled];
}

/** A number that is the same for the same content (RFC 9562, version 8). */
function serial(content) {
  const bytes = createHash("sha256").update(JSON.stringify(content)).digest().subarray(0, 16);
  bytes[6] = bytes[6] & 0x0f | 0x80;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  return `urn:uuid:${bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")}`;
}

export function sbom() {
  const whole = ownPart("causeway", "application", "Servers of the Model Context Protocol, and the C library that they are made with");
  const programs = servers.map((server) => ({ part: ownPart(server.program, "application", server.description), parts: partsOf(server) }));
  const parts = new Map(programs.flatMap(({ part, parts }) => [part, ...parts]).map((part) => [part["bom-ref"], part]));
  const names = (list) => [...new Set(list.map((part) => part["bom-ref"]))].sort();
  const content = {
    metadata: { timestamp: new Date(epoch() * 1000).toISOString(), component: whole },
    components: [...parts.values()].sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1)),
    dependencies: [{ ref: whole["bom-ref"], dependsOn: names(programs.map(({ part }) => part)) },
      ...programs.map(({ part, parts }) => ({ ref: part["bom-ref"], dependsOn: names(parts) }))],
  };
  return { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: serial(content), version: 1, ...content };
}

/** @return the path of the file */
export function writeSbom() {
  if (!existsSync(installed))
    throw new Error(`${installed} is not there: make dist`);
  const file = join(dist, `causeway-${version}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(sbom(), null, 2)}\n`);
  return file;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href)
  console.log(writeSbom());
