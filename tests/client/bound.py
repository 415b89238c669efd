"""bound.py - a server by ctypes: one tool, answered over standard input and output.

usage: python3 bound.py libmcp.so
"""
import ctypes as c
import sys

lib = c.CDLL(sys.argv[1])
HANDLER = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p)


class File(c.Structure):
    _fields_ = [("path", c.c_char_p), ("bytes", c.c_char_p), ("length", c.c_size_t)]


class Tool(c.Structure):
    _fields_ = [("name", c.c_char_p), ("run", HANDLER), ("flags", c.c_uint), ("timeout_ms", c.c_int),
                ("max_running", c.c_int)]


class Features(c.Structure):
    _fields_ = [("files", c.POINTER(File)), ("tools", c.POINTER(Tool)), ("resources", c.c_void_p),
                ("prompts", c.c_void_p), ("completions", c.c_void_p), ("data", c.c_void_p)]


lib.mcp_arg_string.restype = c.c_char_p
lib.mcp_arg_string.argtypes = [c.c_void_p, c.c_char_p]
lib.mcp_call_text.argtypes = [c.c_void_p, c.c_char_p]


@HANDLER
def greet(call, _data):
    return lib.mcp_call_text(call, b"Hello, " + lib.mcp_arg_string(call, b"name") + b"!")


DEFINITION = b"""{"name": "greet", "description": "Greets somebody.", "inputSchema": {"type": "object",
    "properties": {"name": {"type": "string"}}, "required": ["name"]}}"""
READS = 1  # MCP_READS
options = (c.c_char_p * 256)(b"bound", b"1")  # the required members are the first, zero is the default of all
files = (File * 2)(File(b"tools/greet.json", DEFINITION, len(DEFINITION)))
tools = (Tool * 2)(Tool(b"greet", greet, READS))
features = Features(files, tools)
server = c.c_void_p()
failed = (lib.mcp_server_new(c.byref(server), options, None) or lib.mcp_server_add(server, c.byref(features), None)
          or lib.mcp_server_stdio(server, None))
lib.mcp_server_free(server)
sys.exit(failed)
