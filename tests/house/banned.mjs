/*
 * banned.mjs - cmake/banned.h does refuse what it bans, and nothing that resembles it.
 * usage: node banned.mjs CC
 */
import { spawnSync } from "node:child_process";
import { finish, top } from "./tree.mjs";

const REFUSED = [
  "strcpy(a, b)", "strcat(a, b)", "sprintf(a, b)", "strncpy(a, b, 1)", "strtok(a, b)", "gets(a)", "(void)atoi(b)",
  "(void)alloca(1)", "(void)gmtime(0)", "(void)localtime(0)", "(void)rand()", "(void)system(b)", "(void)popen(b, b)",
  "printf(\"x\")",
];
const ALLOWED = [
  "(void)snprintf(a, 1, \"%s\", b)", "int system = 1; (void)system", "(void)strdup(b)", "struct tm t; (void)gmtime_r(0, &t)",
];

function compiles(statement) {
  const source = `void f(char *a, const char *b);\nvoid f(char *a, const char *b)\n{\n    (void)a;\n    (void)b;\n    ${statement};\n}\n`;
  const options = ["-std=c17", "-D_GNU_SOURCE", "-DCAUSEWAY_BAN_PRINTF", "-Werror", "-include", "cmake/banned.h"];
  return spawnSync(process.argv[2], [...options, "-fsyntax-only", "-x", "c", "-"], { cwd: top, input: source }).status === 0;
}

const findings = [
  ...REFUSED.filter(compiles).map((statement) => `compiles, and should not: ${statement}`),
  ...ALLOWED.filter((statement) => !compiles(statement)).map((statement) => `should compile: ${statement}`),
];
finish("banned", REFUSED.length + ALLOWED.length, findings);
