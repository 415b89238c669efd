"""shim.py - what runs inside the guest of a Python plugin.

The host starts `python3 -s -u -B` with one end of a stream socket as descriptor 3 and sends rows.py
and this file through it: they share one namespace. The shim then answers requests: u32 big-endian
length and JSON. `load` imports the module of the plugin; `parse` forks a child that runs it over one
file; `exit` ends the guest.

Rows do not go through that socket. With each `parse` come the write end of a pipe, for the frames of
this file alone, and perhaps a Landlock ruleset. The child puts the pipe in the place of descriptor
3, restricts itself (Landlock to its one input, then the seccomp filter of the host), and calls the
plugin only when both hold. So a plugin cannot reach the socket, and what is left of one file cannot
get among the rows of the next. When the child has ended, the parent says how on its socket (EXIT).
"""

import base64
import ctypes
import gc
import json
import linecache
import os
import signal
import socket
import sys
import time
import traceback
import types

CHANNEL_FD = 3
DEPTH_MAX = 16
WARM_UPS = 20
FORK_TRIES, FORK_PAUSE_S = 10, 0.05
END_OF_ITEMS = object()


class Output:
    """Rows of one output. `table` is the name that they had upstream; it has no effect."""

    def __init__(self, name, data, table=None):
        self.name, self.data, self.table = name, data, table

    def __repr__(self):
        return f"Output(name={self.name!r}, data={type(self.data).__name__}, table={self.table!r})"


# ---- what parse gives -----------------------------------------------------------------------------

def is_frame(value):
    """Whether a value is a DataFrame or an Arrow table, of whatever library."""
    return hasattr(value, "to_pylist") or hasattr(value, "iter_rows") and hasattr(value, "columns") \
        or hasattr(value, "iloc") and hasattr(value, "columns")


def names_once(output, names):
    """The names of a frame's columns, each of which is there once."""
    names = list(names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Unsupported(f"output {output}, column {twice}: the table has two columns of this "
                          "name; rename one of them, or leave it out")
    return names


def arrow_cells(output, name, column):
    try:
        return column.to_pylist()
    except (ArithmeticError, ImportError, LookupError, NotImplementedError, TypeError,
            ValueError) as error:
        raise Unsupported(f"output {output}, column {name}: Python has no form for values of type "
                          f"{column.type} ({type(error).__name__}); cast the column to another "
                          "type first") from None


def pandas_cells(column):
    """pandas marks what is missing by NaN, also among texts and categories. Only in a column of
    floats that may be a number."""
    cells = column.tolist()
    if getattr(getattr(column, "dtype", None), "kind", "f") != "f" \
            and any(issubclass(kind, float) for kind in set(map(type, cells))):
        return [None if isinstance(value, float) and value != value else value for value in cells]
    return cells


def frame_columns(output, value):
    """The names and the columns of a DataFrame or an Arrow table, a few thousand rows at a time."""
    if hasattr(value, "to_pylist"):
        names = names_once(output, value.schema.names)
        batches = value.to_batches(max_chunksize=PAYLOAD_ROWS) if hasattr(value, "to_batches") \
            else (value,)
        for batch in batches:
            yield names, [arrow_cells(output, name, column)
                          for name, column in zip(names, batch.columns)]
        return
    names = names_once(output, value.columns)
    for start in range(0, len(value), PAYLOAD_ROWS):
        part = value.iloc[start:start + PAYLOAD_ROWS]
        yield names, [pandas_cells(part[name]) for name in names]


def frame_rows(output, value):
    """The rows of a DataFrame or an Arrow table as dicts."""
    if not hasattr(value, "columns"):
        yield from value.to_pylist()  # an Arrow array of structs
        return
    if hasattr(value, "iter_rows"):
        yield from value.iter_rows(named=True)
        return
    for names, columns in frame_columns(output, value):
        for row in zip(*columns):
            yield dict(zip(names, row))


class LimitReached(Exception):
    """Every output has as many rows as were requested."""


class Emitter:
    """Takes what a plugin returns or yields, and sends it."""

    def __init__(self, frames, default, declared, row_limit):
        self.frames, self.default, self.declared = frames, default, declared
        self.row_limit = row_limit
        self.streams = {}
        self.open_outputs = set(declared)  # that have fewer rows than the limit
        self.beyond = 0  # rows above a limit

    def stream(self, name, table=None):
        found = self.streams.get(name)
        if found is None:
            if not isinstance(name, str) or not is_output_name(name):
                raise ValueError(f"{name!r} is no name of an output: lower-case letters, digits "
                                 "and _, at most 63, a letter first"[:300])
            found = Stream(self.frames, len(self.streams) + 1, name, table)
            self.streams[name] = found
            self.open_outputs.add(name)
            if table is not None:
                self.frames.log(LEVEL_WARN, f"output {name}: the third argument of Output, "
                                            f"{table!r}, has no effect"[:300])
        return found

    def row(self, stream, row):
        if self.row_limit is None or stream.count < self.row_limit:
            stream.add(row)
            return
        self.open_outputs.discard(stream.name)
        self.beyond += 1
        if not self.open_outputs or self.beyond > 20 * self.row_limit + 1000:
            raise LimitReached

    def rows(self, stream, row, items):
        """A row, and those like it that follow. Returns the first other item."""
        self.row(stream, row)
        return next(items, END_OF_ITEMS) if self.row_limit is not None \
            else stream.add_alike(items, END_OF_ITEMS)

    def data(self, name, data, depth=0):
        """Rows of a named output."""
        table = None
        if isinstance(name, Output):
            name, table = name.name, name.table
        stream = self.stream(name, table)
        if data is None:
            return
        if isinstance(data, Mapping):
            self.row(stream, data)
        elif is_frame(data):
            for row in frame_rows(name, data):
                self.row(stream, row)
        elif isinstance(data, (str, bytes)) or not hasattr(data, "__iter__") or depth > DEPTH_MAX:
            raise TypeError(f"output {name}: a {type(data).__name__} has no rows; rows are dicts")
        else:
            items = iter(data)
            item = next(items, END_OF_ITEMS)
            while item is not END_OF_ITEMS:
                if type(item) is dict:
                    item = self.rows(stream, item, items)
                else:
                    self.data(name, item, depth + 1)
                    item = next(items, END_OF_ITEMS)

    def is_map(self, value):
        """Whether a dict is a map of outputs, not a row."""
        return all(type(part) is list or is_frame(part) for part in value.values()) \
            and all(name in self.declared for name in value) \
            and all(isinstance(row, Mapping) or is_frame(row)
                    for part in value.values() if type(part) is list for row in part)

    def value(self, value, depth=0):
        """Whatever parse returned or yielded."""
        if value is None:
            return
        if isinstance(value, Mapping):
            first = next(iter(value.values()), None)
            if (type(first) is list or is_frame(first)) and self.is_map(value):
                for name, data in value.items():
                    self.data(name, data)
            else:
                self.row(self.stream(self.default), value)
        elif isinstance(value, Output):
            self.data(value, value.data)
        elif type(value) is tuple and len(value) == 2 and isinstance(value[0], str):
            self.data(value[0], value[1])
        elif is_frame(value):
            self.data(self.default, value)
        elif isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or depth > DEPTH_MAX:
            raise TypeError(f"parse gave a {type(value).__name__}; it gives rows (dict), "
                            "Output(name, rows), or a sequence of these")
        else:
            self.values(value, depth)

    def values(self, values, depth):
        stream, items = None, iter(values)
        item = next(items, END_OF_ITEMS)
        while item is not END_OF_ITEMS:
            if type(item) is dict and not isinstance(next(iter(item.values()), None), list):
                if stream is None:
                    stream = self.stream(self.default)
                item = self.rows(stream, item, items)
            else:
                self.value(item, depth + 1)
                item = next(items, END_OF_ITEMS)

    def finish(self):
        for stream in self.streams.values():
            stream.flush()
        rows = sum(stream.count for stream in self.streams.values())
        metrics = json_bytes({
            "rows_published": rows, "status": "limited" if self.beyond else "ok",
            "output_info": [{"name": name, "table": None} for name in self.streams]})
        self.frames.send(u32(METRICS), u32(len(metrics)), metrics, u32(END))


def is_output_name(name):
    return 0 < len(name) <= 63 and name[0].isascii() and name[0].islower() \
        and all(c == "_" or c.isascii() and (c.islower() or c.isdigit()) for c in name)


# ---- the sandbox of one file ----------------------------------------------------------------------

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
NR_LANDLOCK_RESTRICT_SELF = 446  # on every architecture

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
libc.syscall.argtypes = [ctypes.c_long] * 4
libc.syscall.restype = ctypes.c_long


class FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


class SandboxFailed(Exception):
    """A protection that the host wants does not hold."""


def check(result, what):
    if result != 0:
        raise SandboxFailed(f"{what}: {os.strerror(ctypes.get_errno())}")


class Filter:
    """The seccomp filter of the host as the kernel takes it, made once for all files."""

    def __init__(self, filter_bytes):
        self.code = ctypes.create_string_buffer(filter_bytes, len(filter_bytes))
        self.program = FilterProgram(len(filter_bytes) // 8, ctypes.addressof(self.code))
        self.address = ctypes.addressof(self.program)


def restrict(ruleset_fd, seccomp):
    """Give up what the plugin must not have. It cannot be taken back."""
    if ruleset_fd is None and seccomp is None:
        return
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if ruleset_fd is not None:
        check(libc.syscall(NR_LANDLOCK_RESTRICT_SELF, ruleset_fd, 0, 0), "Landlock")
        os.close(ruleset_fd)
    if seccomp is not None:
        check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, seccomp.address, 0, 0), "seccomp")


# ---- errors ---------------------------------------------------------------------------------------

RETRY_ERRNOS = {11, 16}  # EAGAIN, EBUSY


def clipped(text, most):
    return text if len(text) <= most else text[:most] + "..."


# The folder that the plugin is run in, and the one that it is a copy of.
shown_folders = None


def shown(text):
    """A text with the plugin's paths as people know them."""
    return text.replace(*shown_folders) if shown_folders else text


def message_of(error):
    try:
        text = shown(str(error))
    except Exception:
        text = "(its text cannot be made)"
    return clipped(f"{type(error).__name__}: {text}" if text else type(error).__name__, 2000)


def frames_of(error):
    """The traceback without the frames of the shim."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename.startswith("<casparian>"):
        at = at.tb_next
    lines = traceback.format_exception(type(error), error, at, limit=-20, chain=False)
    text = shown("".join(lines))
    return text if len(text) <= 16000 else "...\n" + text[-16000:]


def describe(error, kind):
    if isinstance(error, MemoryError):
        kind = "memory_limit"
    elif isinstance(error, Unsupported):
        kind = "unsupported_value"
    elif isinstance(error, SandboxFailed):
        kind = "sandbox_failed"
    elif isinstance(error, TooLarge):
        kind = "output_limit"
    retryable = getattr(error, "retryable", None) is True \
        or getattr(error, "errno", None) in RETRY_ERRNOS
    told = str(error) if isinstance(error, (Unsupported, SandboxFailed, TooLarge)) \
        else message_of(error)
    try:
        trace = frames_of(error)
    except Exception:
        trace = ""
    return {"error": told, "retryable": retryable, "kind": kind, "traceback": trace}


# ---- the plugin -----------------------------------------------------------------------------------

class Plugin:
    """The module of the plugin, once it is imported."""

    def __init__(self, load):
        self.load_request = load
        self.parse = None

    def import_module(self):
        path = self.load_request["path"]
        stem = os.path.splitext(os.path.basename(path))[0]
        if stem in sys.stdlib_module_names or stem in sys.modules:
            stem = "casparian_plugin_" + stem
        sys.path.insert(0, os.path.dirname(path))
        module = types.ModuleType(stem)
        module.__file__ = path
        sys.modules[stem] = module
        with open(path, "rb") as file:
            source = file.read()
        exec(compile(source, path, "exec"), module.__dict__)
        self.bind(module)

    def bind(self, module):
        handler = getattr(module, "Handler", None)
        self.parse = getattr(module, "parse", None)
        where = module
        if self.parse is None and isinstance(handler, type):
            where = handler()
            self.parse = getattr(where, "parse", None) or getattr(where, "transform", None)
        if not callable(self.parse):
            raise AttributeError("the module has no function parse(file_path)")
        self.outputs = list(self.load_request.get("outputs") or ())
        topic = getattr(where, "TOPIC", None)
        self.default = topic if isinstance(topic, str) else self.load_request["default_output"]

    def metadata(self):
        return {"name": self.load_request["name"], "outputs": self.outputs,
                "default_output": self.default}


def listen_to_logging(frames):
    """Send the records of the plugin's loggers as LOG frames, with their levels."""
    logging = sys.modules.get("logging")
    if logging is None or not hasattr(logging, "Handler"):
        return

    class FrameHandler(logging.Handler):
        def emit(self, record):
            level = 2 if record.levelno < 20 else 3 if record.levelno < 30 \
                else 4 if record.levelno < 40 else 5
            try:
                frames.log(level, self.format(record))
            except OSError:
                pass

    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(FrameHandler())


def run(plugin, request, frames_fd, prepare):
    """Parse one file. Returns the exit code of the guest's child: 0, 1 permanent, 2 transient."""
    frames = Frames(frames_fd)
    try:
        prepare()
        if plugin.parse is None:
            try:
                plugin.import_module()
            except BaseException as error:
                frames.send_json(ERROR, describe(error, "import_error"))
                return 1
        listen_to_logging(frames)
        emitter = Emitter(frames, plugin.default, plugin.outputs, request.get("row_limit"))
        try:
            emitter.value(plugin.parse(request["file"]))
        except LimitReached:
            pass
        emitter.finish()
        return 0
    except BrokenPipeError:
        return 1
    except BaseException as error:
        told = describe(error, "parse_error")
        emitter = None
        frames.send_json(ERROR, told)
        return 2 if told["retryable"] else 1


def warm_up():
    """Send rows to nowhere, as often as the interpreter needs to fill its caches. What a child
    finds filled it neither computes nor writes to, so the page stays the guest's."""
    with open(os.devnull, "wb", buffering=0) as nowhere:
        for _ in range(WARM_UPS):
            emitter = Emitter(Frames(nowhere.fileno()), "rows", (), None)
            emitter.value({"number": i, "text": str(i)} for i in range(20))
            emitter.finish()


# ---- the guest ------------------------------------------------------------------------------------

class Guest:
    def __init__(self):
        self.channel = socket.socket(fileno=CHANNEL_FD)
        self.frames = Frames(CHANNEL_FD)
        self.plugin, self.filter, self.forks = None, None, True
        self.is_restricted = False

    def receive(self):
        """The next request, and the descriptors that came with it; None at the end."""
        data, fds = b"", []
        need = 4
        while len(data) < need:
            part, new, _, _ = socket.recv_fds(self.channel, need - len(data), 2)
            fds += new
            if not part:
                return None, fds
            data += part
            if need == 4 and len(data) == 4:
                need += int.from_bytes(data, "big")
        return json.loads(data[4:]), fds

    def load(self, request):
        global shown_folders
        folder, original = request.get("folder"), request.get("shown_folder")
        if folder and original and folder != original:
            shown_folders = folder + "/", original + "/"
        self.plugin = Plugin(request)
        filter_bytes = base64.b64decode(request.get("filter") or "")
        self.filter = Filter(filter_bytes) if filter_bytes else None
        self.forks = request.get("forks", True)
        answer = {}
        try:
            if request.get("imports_here", True):
                self.plugin.import_module()
                answer = self.plugin.metadata()
            if self.forks:
                warm_up()
        except BaseException as error:
            answer = describe(error, "import_error")
        sys.stdout.flush()
        gc.collect()
        gc.freeze()
        self.frames.send_json(READY, answer)

    def restrict_guest(self):
        if not self.is_restricted:
            restrict(None, self.filter)
        self.is_restricted = True

    def parse_here(self, request, fds):
        code = run(self.plugin, request, fds[0], self.restrict_guest)
        for fd in fds:
            os.close(fd)
        return {"exit_code": code, "signal": 0}

    def child(self, request, fds):
        """The child of one file. Does not return."""
        code = 1
        try:
            os.setpgid(0, 0)
            self.channel.detach()
            os.dup2(fds[0], CHANNEL_FD)
            os.close(fds[0])
            ruleset = fds[1] if len(fds) > 1 else None
            code = run(self.plugin, request, CHANNEL_FD, lambda: restrict(ruleset, self.filter))
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        finally:
            os._exit(code)

    def fork(self):
        """The limit of processes counts all of the user's, and others may run as this user."""
        for _ in range(FORK_TRIES):
            try:
                return os.fork()
            except BlockingIOError:
                time.sleep(FORK_PAUSE_S)
        return os.fork()

    def parse_in_child(self, request, fds):
        try:
            pid = self.fork()
        except OSError as error:
            told = describe(error, "crashed")
            told["error"] = f"no process for the file: {told['error']}"
            Frames(fds[0]).send_json(ERROR, told)
            for fd in fds:
                os.close(fd)
            return {"exit_code": 2, "signal": 0}
        if pid == 0:
            self.child(request, fds)
        for fd in fds:
            os.close(fd)
        _, status = os.waitpid(pid, 0)
        try:
            os.killpg(pid, signal.SIGKILL)  # what it left behind, where it may start processes
        except OSError:
            pass
        killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return {"exit_code": -1 if killed_by else os.WEXITSTATUS(status), "signal": killed_by}

    def parse(self, request, fds):
        os.environ.update(request.get("env") or {})
        end = self.parse_in_child(request, fds) if self.forks else self.parse_here(request, fds)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self.frames.send_json(EXIT, end)

    def serve(self):
        while True:
            request, fds = self.receive()
            if request is None or request["op"] == "exit":
                return
            if request["op"] == "load":
                self.load(request)
            elif request["op"] == "parse":
                self.parse(request, fds)


def main():
    shim = types.ModuleType("casparian_types")
    shim.Output = Output
    sys.modules["casparian_types"] = shim
    linecache.clearcache()
    Guest().serve()


main()
