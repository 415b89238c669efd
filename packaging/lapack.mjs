/*
 * lapack.mjs - a liblapack.so.3 of 24 kB for programs that may be moved. Of LAPACK and what it
 * needs, which are 11 MB, Clp's factorization calls two routines: they are linked from Debian's
 * static libraries, so they give the same bits.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./project.mjs";

export const LAPACK = "liblapack.so.3";

/** The routines that it has. */
export const ROUTINES = ["dgetrf_", "dgetrs_"];

/** Debian's static libraries (liblapack-dev, libblas-dev: coinor-libclp-dev depends on them). */
export function sources() {
  return ["lapack", "blas"].map((name) => {
    const path = run("cc", [`-print-file-name=${name}/lib${name}.a`]).trim();
    if (!existsSync(path))
      throw new Error(`there is no lib${name}.a: apt-get install lib${name}-dev`);
    return path;
  });
}

/** Links it. Every other name is local, so a routine that calls another one finds that of here. */
export function linkLapack(path) {
  const own = join(dirname(fileURLToPath(import.meta.url)), "lapack");
  run("cc", ["-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-shared", `-Wl,-soname,${LAPACK}`, `-Wl,--version-script=${own}.map`,
    ...ROUTINES.map((name) => `-Wl,-u,${name}`), "-Wl,-z,relro,-z,now,-z,defs,--gc-sections,-s", "-o", path, `${own}.c`, ...sources()]);
}
