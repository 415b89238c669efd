/*
 * default.mjs - /etc/default/NAME: each variable that `NAME serve --help` (or `NAME --help`) names,
 * commented out, below what it is for.
 * usage: node packaging/default.mjs PROGRAM
 */
import { execFileSync } from "node:child_process";
import { basename } from "node:path";

const program = process.argv[2];
const name = basename(program);
const words = name.endsWith("-mcp") ? ["--help"] : ["serve", "--help"];
const help = execFileSync(program, words, { env: { ...process.env, COLUMNS: "100" } }).toString();

/* An option begins two places in; the lines after it that are further in belong to it. */
const options = help.split(/\n(?= {2}--)/).slice(1).map((text) => text.split(/\n(?! {3})/)[0].replace(/\s+/g, " ").trim());
const lines = [
  `# Settings of ${name}.service: what the flags of ${[name, ...words.slice(0, -1)].join(" ")} say by variables of the environment.`,
  `# A flag of the unit precedes its variable. See ${name}(1); after a change: systemctl restart ${name}.`,
];
for (const option of options) {
  const variable = / ?([(;]) ?environment (\w+)\)/.exec(option);
  if (variable !== null)
    lines.push("", `# ${option.replace(variable[0], variable[1] === ";" ? ")" : "")}`, `#${variable[2]}=`);
}
console.log(lines.join("\n"));
