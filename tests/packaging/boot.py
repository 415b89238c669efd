"""boot.py - runs in a booted Debian with our packages, as the unit `check`: the servers of the packages
under systemd, on demand, reloaded, killed and stopped, and the worker of a user. Prints a line a
claim, `ok` or `not ok`, figures as `note`, and the journal.
"""
import http.client
import json
import os
import pwd
import signal
import subprocess
import time

PORTS = {"universe": 3001, "portarium": 8080, "cobre-mcp": 3000}
DEADLINE_S = 120
TESTER = "tester"  # made by boot.test.mjs


def claim(holds, words):
    print("ok" if holds else "not ok", words, flush=True)


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S, **options)


def systemctl(*words):
    return run("systemctl", *words)


def shown(unit, name):
    return systemctl("show", "-p", name, "--value", unit).stdout.strip()


def wait_for(what):
    """Whether it comes true before the deadline."""
    end = time.monotonic() + DEADLINE_S
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def request(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    connection.request(method, path, json.dumps(body) if body is not None else None,
                       {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})})
    answer = connection.getresponse()
    words = answer.read().decode()
    connection.close()
    return answer.status, words, answer.getheader("Mcp-Session-Id")


def message(words):
    """The JSON of an answer, or of the last event of a stream."""
    events = [line[5:] for line in words.splitlines() if line.startswith("data:") and line[5:].strip()]
    return json.loads(events[-1] if events else words)


class Client:
    """A client of the Model Context Protocol over HTTP, with a session and the token of boot.test.mjs."""

    def __init__(self, name):
        self.port = PORTS[name]
        self.session = None
        self.number = 1
        status, words, self.session = self.post({"id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "boot", "version": "1"}}})
        self.has_shaken_hands = status == 200 and "serverInfo" in message(words)["result"]
        self.post({"method": "notifications/initialized"})

    def post(self, body):
        return request(self.port, "POST", "/mcp", {"jsonrpc": "2.0", **body},
                       {"Authorization": "Bearer secret", **({"Mcp-Session-Id": self.session} if self.session else {})})

    def call(self, method, params):
        self.number += 1
        return message(self.post({"id": self.number, "method": method, "params": params})[1])


def on_demand(name):
    claim(systemctl("enable", "--now", f"{name}.socket").returncode == 0, f"{name}.socket is enabled")
    claim(shown(f"{name}.service", "ActiveState") == "inactive", f"{name} does not run before the first connection")
    begin = time.monotonic()
    status, _, _ = request(PORTS[name], "GET", "/health")
    print(f"note {name}: the first connection was answered after {(time.monotonic() - begin) * 1000:.0f} ms", flush=True)
    claim(status == 200, f"{name} is started by the first connection: {status}")
    begin = time.monotonic()
    request(PORTS[name], "GET", "/health")
    print(f"note {name}: the second one after {(time.monotonic() - begin) * 1000:.1f} ms", flush=True)
    client = Client(name)
    claim(client.has_shaken_hands, f"{name} shakes hands")
    claim(shown(f"{name}.service", "ActiveState") == "active", f"{name} is active")
    claim(len(client.call("tools/list", {})["result"]["tools"]) > 0, f"{name} has tools")
    confined(name, shown(f"{name}.service", "MainPID"))
    return client


def confined(name, process):
    """The kernel's word on what the unit asks for."""
    with open(f"/proc/{process}/status", encoding="utf8") as file:
        has = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    claim(has["NoNewPrivs"] == "1" and has["Seccomp"] == "2" and int(has["CapBnd"], 16) == 0, f"{name} is confined")
    claim(has["Uid"].split()[0] != "0", f"{name} is not root")


def reload_and_kill(name):
    before = shown(f"{name}.service", "MainPID")
    claim(systemctl("reload", name).returncode == 0, f"{name} is reloaded")
    claim(Client(name).has_shaken_hands, f"{name} answers after a reload")
    claim(shown(f"{name}.service", "MainPID") == before, f"{name} is the same process after a reload")
    os.kill(int(before), signal.SIGKILL)
    claim(wait_for(lambda: shown(f"{name}.service", "NRestarts") == "1" and shown(f"{name}.service", "ActiveState") == "active"),
          f"{name} is started again after it was killed")
    claim(Client(name).has_shaken_hands, f"{name} answers after it was killed")


def stop(name):
    systemctl("stop", f"{name}.socket", f"{name}.service")
    claim(shown(f"{name}.service", "Result") == "success", f"{name} is stopped: {shown(f'{name}.service', 'Result')}")
    claim(shown(f"{name}.service", "ActiveState") == "inactive", f"{name} does not run any more")


def upgrade_and_remove(name, package):
    """The same package once more is an upgrade to dpkg."""
    systemctl("start", f"{name}.socket")
    claim(request(PORTS[name], "GET", "/health")[0] == 200, f"{name} runs before the upgrade")
    before = shown(f"{name}.service", "MainPID")
    upgraded = run("sh", "-c", f"dpkg -i /packages/{package}_*.deb")
    claim(upgraded.returncode == 0, f"{package} is upgraded: {upgraded.stderr}")
    claim(request(PORTS[name], "GET", "/health")[0] == 200, f"{name} answers after the upgrade")
    after = shown(f"{name}.service", "MainPID")
    claim(after not in (before, "0"), f"{name} is the new program after the upgrade")
    removed = run("dpkg", "--remove", package)
    claim(removed.returncode == 0, f"{package} is removed: {removed.stderr}")
    claim(not os.path.exists(f"/proc/{after}"), f"{name} does not run after it was removed")


def universe():
    on_demand("universe")
    status, words, _ = request(3001, "POST", "/universes", {"id": "kept", "name": "kept", "state": {}})
    claim(status == 201, f"a universe is made: {status} {words[:200]}")
    reload_and_kill("universe")
    status, words, _ = request(3001, "GET", "/universes/kept")
    claim(status == 200, f"nothing was lost: {status} {words[:200]}")
    claim(request(3001, "GET", "/")[0] == 200, "universe serves its page")
    stop("universe")
    upgrade_and_remove("universe", "causeway-universe")


def portarium():
    """With the drop-in that gives it a file of tokens, which it could not read itself."""
    on_demand("portarium")
    claim(request(8080, "POST", "/mcp", {}, {"Authorization": "Bearer guessed"})[0] == 401, "portarium refuses another token")
    reload_and_kill("portarium")
    stop("portarium")


def cobre():
    run("sh", "-c", "cp -r /usr/share/doc/causeway-cobre/examples/cases/1dtoy /srv/cobre/case && chown -R cobre: /srv/cobre", check=True)
    with open("/etc/default/cobre-mcp", "a", encoding="utf8") as file:
        file.write("\nCOBRE_MCP_ALLOW_WRITE=true\nCOBRE_MCP_TOOL_NAMES=safe\n")
    client = on_demand("cobre-mcp")
    answer = client.call("tools/call", {"name": "cobre_run", "arguments": {"case_dir": "/srv/cobre/case"}})
    claim("result" in answer and not answer["result"].get("isError"), f"a case is trained: {json.dumps(answer)[:500]}")
    reload_and_kill("cobre-mcp")
    stop("cobre-mcp")


def as_tester(*words, **options):
    user = pwd.getpwnam(TESTER)
    return run("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "env", f"HOME={user.pw_dir}",
               f"XDG_RUNTIME_DIR=/run/user/{user.pw_uid}", *words, cwd=f"{user.pw_dir}/work", **options)


def ask_for_run(plugin, files):
    """An assistant's request for a run, through MCP; the id of the approval that it waits for."""
    lines = [{"id": 1, "method": "initialize", "params": {
                 "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "boot", "version": "1"}}},
             {"method": "notifications/initialized"},
             {"id": 2, "method": "tools/call", "params": {"name": "casparian_run_request", "arguments": {
                 "plugin_ref": plugin, "input_dir": files, "output": f"./{plugin}",
                 "quarantine": {"allow_quarantine": True, "max_quarantine_pct": 100}}}}]
    done = as_tester("casparian", "mcp", "serve", ".", input="".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    answer = next((one for one in answers if one.get("id") == 2), {})
    return answer.get("result", {}).get("structuredContent", {}).get("approval_id"), f"{answer} {done.stderr}"


def do_job(plugin, files):
    approval, words = ask_for_run(plugin, files)
    claim(approval, f"a run of {plugin} is requested: {words[:500]}")
    approved = as_tester("casparian", "approvals", "approve", "--yes", approval)
    claim(approved.returncode == 0, f"a run of {plugin} is approved: {approved.stderr}")
    jobs = lambda status: json.loads(as_tester("casparian", "jobs", "list", "--status", status, "--json").stdout)["jobs"]
    has_ended = wait_for(lambda: not jobs("queued") and not jobs("running"))
    done = next((job for job in jobs("all") if job["approval_id"] == approval), None)
    is_done = has_ended and done["status"] == "completed" and done["rows"] > 0
    claim(is_done, f"the worker does the job of {plugin}: {done}")
    if not is_done:
        print("note", as_tester("casparian", "jobs", "show", done["job_id"] if done else "1", "--json").stdout, flush=True)


def casparian():
    """A job that a person approves is done by the user's worker, whose plugins are confined in its turn."""
    user = pwd.getpwnam(TESTER)
    systemctl("start", f"user@{user.pw_uid}.service")
    started = as_tester("systemctl", "--user", "enable", "--now", "casparian-worker")
    claim(started.returncode == 0, f"the worker of a user is started: {started.stderr}")
    process = as_tester("systemctl", "--user", "show", "-p", "MainPID", "--value", "casparian-worker").stdout.strip()
    confined("casparian-worker", process)
    for plugin, files in (("weblog_native", "weblog"), ("fix_parser", "fix")):
        do_job(plugin, files)
    as_tester("systemctl", "--user", "stop", "casparian-worker")
    result = as_tester("systemctl", "--user", "show", "-p", "Result", "--value", "casparian-worker").stdout.strip()
    claim(result == "success", f"the worker is stopped: {result}")


for check in (universe, portarium, cobre, casparian):
    try:
        check()
    except Exception as error:  # the next server is looked at all the same
        claim(False, f"{check.__name__}: {error!r}")
print(run("journalctl", "--no-pager", "-o", "short").stdout)
