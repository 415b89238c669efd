/*
 * boot.test.mjs - a bare Debian with our packages is booted in a container of systemd-nspawn, which
 * needs no systemd on this machine; boot.py there starts, asks, reloads, kills and stops the
 * servers.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareDebian, claim, install, insideClaim, missing, packages, test, top } from "./support.mjs";

const UNIT = `[Unit]
Description=The checks of boot.py
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 /boot.py
ExecStopPost=/usr/bin/systemctl poweroff -ff
StandardOutput=file:/checks
StandardError=file:/checks
TimeoutStartSec=900
[Install]
WantedBy=default.target
`;

await test("boot", () => {
  if (missing("the boot", { root: true, commands: ["mmdebstrap", "unshare", "systemd-nspawn"] }))
    return;
  const root = bareDebian();
  install(root, [...packages()].filter(([name]) => /^causeway-(?!.*-dbgsym)/.test(name)).map(([, path]) => path), "installing");
  insideClaim(root, ["install", "-d", "-o", "cobre", "-g", "cobre", "/srv/cobre"], "the folder of cobre");
  insideClaim(root, ["sh", "-c", `useradd --create-home tester && cd ~tester && mkdir work &&
    cp -r /usr/share/doc/causeway-casparian/examples/samples/* work/ && chown -R tester: .`], "a user with files");
  insideClaim(root, ["sh", "-c", `install -d -m 700 /etc/causeway && umask 77 && echo "$(printf secret | sha256sum | cut -d' ' -f1) boot" > /etc/causeway/portarium.tokens &&
    install -D -m 644 /usr/share/doc/causeway-portarium/examples/portarium-tokens.conf /etc/systemd/system/portarium.service.d/tokens.conf`], "a drop-in with tokens");
  copyFileSync(join(top, "tests", "packaging", "boot.py"), join(root, "boot.py"));
  writeFileSync(join(root, "etc", "systemd", "system", "check.service"), UNIT);
  const wants = join(root, "etc", "systemd", "system", "default.target.wants");
  mkdirSync(wants, { recursive: true });
  symlinkSync("../check.service", join(wants, "check.service"));
  const booted = spawnSync("systemd-nspawn", ["-q", "--register=no", "--keep-unit", "--private-network", "-D", root, "-b", "--console=pipe"],
    { timeout: 1200000, maxBuffer: 1 << 28 });
  const said = existsSync(join(root, "checks")) ? readFileSync(join(root, "checks"), "utf8") : "";
  const lines = said.split("\n").filter((line) => /^(not )?ok /.test(line));
  claim(lines.length > 20, `the checks did not come to their end: ${said.slice(-4000)}${booted.stderr.toString().slice(-2000)}`);
  for (const line of lines)
    claim(line.startsWith("ok "), line);
  console.log(said.split("\n").filter((line) => line.startsWith("note ")).join("\n"));
  if (lines.some((line) => line.startsWith("not ok")))
    console.error(said.split("\n").filter((line) => /universe|portarium|cobre|casparian|systemd\[1\]/.test(line) && !/^(not )?ok /.test(line)).slice(-120).join("\n"));
});
