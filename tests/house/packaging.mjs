/*
 * packaging.mjs - packaging/: servers.json has every server with texts that fit where they go, the
 * files of debian/ that are filled from it name servers that it has, versions are the project's,
 * every package and every unit is complete, and units differ from each other only where they must.
 * usage: node packaging.mjs VERSION
 */
import { files, finish, text } from "./tree.mjs";

const version = process.argv[2];
const { servers } = JSON.parse(text("packaging/servers.json"));
const control = text("packaging/debian/control");
const findings = [];
let looked = 0;

function claim(holds, words) {
  looked++;
  if (!holds)
    findings.push(words);
}

/** The bounds are those of the MCP registry (title and description 100, one slash in the name) and
 *  of a control file (a synopsis of 80, of which the package's name is no part). */
function checkServer(server) {
  const where = `packaging/servers.json: ${server.name}`;
  for (const name of ["title", "description"])
    claim(server[name]?.length > 0 && server[name].length <= 100, `${where}: ${name} has ${server[name]?.length} characters, 1 to 100 fit`);
  claim(server.description.length < 80 && !/\.$/.test(server.description), `${where}: the description is a line of a package: below 80 characters, no full stop`);
  claim(/^[a-zA-Z0-9.@-]+\/[a-zA-Z0-9._-]+$/.test(server.registry), `${where}: registry name ${server.registry}`);
  claim(server.about.length > 0 && server.about.every((line) => /\.$/.test(line)), `${where}: about has paragraphs of sentences`);
  claim(server.keywords.length > 0 && Array.isArray(server.arguments), `${where}: keywords, arguments`);
  for (const setting of server.settings) {
    claim(["boolean", "directory", "string"].includes(setting.type) && setting.title && setting.description, `${where}: setting ${setting.name}`);
    claim(setting.required === true || "default" in setting, `${where}: setting ${setting.name} is neither required nor has a default`);
    claim(setting.operand === true || /^[A-Z][A-Z0-9_]+$/.test(setting.variable), `${where}: setting ${setting.name} is no operand and has no variable`);
  }
  claim(control.includes(`@SYNOPSIS ${server.name}@\n@ABOUT ${server.name}@`), `packaging/debian/control does not describe ${server.name} from servers.json`);
}

const folders = new Set(files(/^servers\/\w+\/server\.cmake$/).map((path) => path.split("/")[1]));
for (const name of folders)
  claim(servers.some((server) => server.name === name), `packaging/servers.json lacks ${name}`);
for (const server of servers) {
  claim(folders.has(server.name), `packaging/servers.json has ${server.name}, which is no folder of servers/`);
  checkServer(server);
}

claim(text("packaging/debian/changelog").startsWith(`causeway (${version})`), `packaging/debian/changelog does not begin with version ${version}`);
for (const name of [...control.matchAll(/^Package: (\S+)$/gm)].map((match) => match[1]))
  claim(files(new RegExp(`^packaging/debian/${name.replaceAll(".", "\\.")}\\.(install|docs)$`)).length > 0, `packaging/debian: nothing is installed by ${name}`);

/* The sandbox is a list of lines that all services of the system share. */
const sandbox = (path) => text(path).split("\nNoNewPrivileges=")[1].split("\n\n[Install]")[0];
const services = files(/^packaging\/systemd\/[\w-]+\.service$/);
for (const path of services) {
  claim(sandbox(path) === sandbox(services[0]), `${path} has another sandbox than ${services[0]}: that is what drop-ins are for`);
  claim(text(path.replace(/service$/, "socket")) !== null, `${path} has no socket`);
}
finish("packaging", looked, findings);
