"""fixture_plugin - a plugin of tests. CF_FIXTURE_MODE in its environment says what it does wrong, or
the name of its file up to the first dot.

normal, slow, collision, error; crash, hang, bad_frame, reserved_column, row_errors, nulls, wrong_type,
huge_row, oom, stray_stderr, two_outputs_interleaved, fork_bomb, thread_bomb, import_bomb, endless_rows,
endless_log, many_lines, loop, huge_cell, fill_scratch, setsid, exec, socket, read_other,
read_processes, read_sibling, system_calls, forge_frames, stop_self. Further variables:
CF_FIXTURE_ROWS (3), CF_FIXTURE_SLEEP_SECS (1), CF_FIXTURE_ERROR_MSG, CF_FIXTURE_OTHER (a file for
read_other).
"""

import ctypes
import errno
import itertools
import os
import signal
import socket
import sys
import threading
import time

from casparian_types import Output

name = "fixture_plugin"
version = "1.0.0"
topics = ["fixture"]
outputs = {
    "fixture": {"columns": [
        {"name": "id", "type": "int64", "nullable": False},
        {"name": "value", "type": "string"},
    ]},
}

MODE = os.environ.get("CF_FIXTURE_MODE")
ROWS = int(os.environ.get("CF_FIXTURE_ROWS", "3"))
SLEEP_S = float(os.environ.get("CF_FIXTURE_SLEEP_SECS", "1"))

if MODE == "import_bomb":
    while True:
        os.fork()


def rows(**more):
    for number in range(ROWS):
        yield {"id": number, "value": f"value_{number}", **more}


def slow():
    for row in rows():
        time.sleep(SLEEP_S)
        yield row


def error():
    yield {"id": 0, "value": "before"}
    raise ValueError(os.environ.get("CF_FIXTURE_ERROR_MSG", "the fixture fails"))


def hang():
    while True:
        time.sleep(60)


def bad_frame():
    os.write(3, b"\xff\xff\xff\x00")
    hang()


def row_errors():
    for number, row in enumerate(rows()):
        yield {**row, "_cf_row_error": "bad row" if number % 2 else "", "__cf_row_id": number + 1}


def nulls():
    for number in range(ROWS):
        yield {"id": None if number % 2 else number, "value": None}


def wrong_type():
    for number in range(ROWS):
        yield {"id": f"no number {number}", "value": number}


def huge_row():
    return {"id": 0, "value": "x" * (8 << 20)}


def oom():
    return [bytearray(1 << 28) for _ in range(1 << 20)]


def stray_stderr():
    print("a library says something", file=sys.stderr)
    return rows()


def two_outputs_interleaved():
    for row in rows():
        yield Output("fixture", row)
        yield Output("fixture_second", row)


def fork_bomb():
    while True:
        os.fork()


def thread_bomb():
    while True:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()


def endless_rows():
    return ({"id": number, "value": "x" * 1000} for number in itertools.count())


def endless_log():
    while True:
        print("x" * 1000)


def many_lines():
    for number in range(1000):
        print(f"line of {number}\n" * 1000)
    return rows()


def loop():
    while True:
        pass


def huge_cell():
    return {"id": 0, "value": "x" * (10 << 30)}


def fill_scratch():
    for number in itertools.count():
        with open(f"file{number}", "wb") as file:
            file.write(b"x" * (1 << 20))


def leave_session():
    if os.fork() == 0:
        os.setsid()
        hang()


def execute():
    os.execv("/bin/true", ["true"])


def open_socket():
    """Of every family and type; the first that opens is a row."""
    for family in range(1, 46):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind)
                return {"id": family, "value": "a socket"}
            except OSError as error:
                last = error
    raise last


def read(path):
    with open(path) as file:
        yield {"id": 0, "value": file.read()}


def read_other():
    return read(os.environ.get("CF_FIXTURE_OTHER", "/etc/passwd"))


def read_sibling():
    return read(os.path.join(os.path.dirname(os.environ["CF_FILE_PATH"]), "normal.txt"))


def system_calls():
    """By number, past Python; what is not denied is a row."""
    libc = ctypes.CDLL(None, use_errno=True)
    calls = {"ptrace": 101, "unshare": 272, "setns": 308, "mount": 165, "bpf": 321, "keyctl": 250,
             "io_uring_setup": 425, "userfaultfd": 323, "perf_event_open": 298, "fork": 57,
             "vfork": 58, "execve": 59, "execveat": 322, "clone3": 435}
    for name, number in calls.items() if os.uname().machine == "x86_64" else ():
        result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
        if result == 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            yield {"id": number, "value": name}
    yield {"id": 0, "value": "done"}


def forge_frames():
    os.write(3, b"\x00\x00\x00\x00")
    return rows()


def stop_self():
    os.kill(os.getpid(), signal.SIGSTOP)


MODES = {
    "normal": rows, "slow": slow, "collision": lambda: rows(_cf_job_id=1), "error": error,
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV), "hang": hang, "bad_frame": bad_frame,
    "reserved_column": lambda: rows(_cf_source_hash="x"), "row_errors": row_errors, "nulls": nulls,
    "wrong_type": wrong_type, "huge_row": huge_row, "oom": oom, "stray_stderr": stray_stderr,
    "two_outputs_interleaved": two_outputs_interleaved, "fork_bomb": fork_bomb,
    "thread_bomb": thread_bomb, "endless_rows": endless_rows, "endless_log": endless_log,
    "many_lines": many_lines, "loop": loop, "huge_cell": huge_cell, "read_sibling": read_sibling,
    "read_processes": lambda: read("/proc/1/environ"), "system_calls": system_calls,
    "fill_scratch": fill_scratch, "setsid": leave_session, "exec": execute, "socket": open_socket,
    "read_other": read_other, "forge_frames": forge_frames, "stop_self": stop_self,
}


def parse(file_path):
    stem = os.path.basename(file_path).partition(".")[0]
    return MODES[MODE or (stem if stem in MODES else "normal")]()
