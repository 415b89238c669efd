"""handshake.py - starts an MCP server, and has its name and its tools. usage: handshake.py PROGRAM [ARGUMENT...]"""
import json
import subprocess
import sys

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def answer(number):
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message["result"]
    sys.exit(f"{sys.argv[1]} ended without an answer")


send({"id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "autopkgtest", "version": "1"}}})
name = answer(1)["serverInfo"]["name"]
send({"method": "notifications/initialized"})
send({"id": 2, "method": "tools/list"})
tools = answer(2)["tools"]
server.stdin.close()
status = server.wait(60)
print(f"{sys.argv[1]}: {name}, {len(tools)} tools, status {status}")
sys.exit(0 if tools and status == 0 else 1)
