"""fixture_plugin - a plugin of tests. CF_FIXTURE_MODE in its environment says what it does wrong.

normal, slow, collision, error; crash, hang, bad_frame, reserved_column, row_errors, nulls, wrong_type,
huge_row, oom, stray_stderr, two_outputs_interleaved, fork_bomb, thread_bomb, import_bomb, endless_rows,
endless_log, fill_scratch, setsid, exec, socket, read_other, forge_frames, stop_self. Further
variables: CF_FIXTURE_ROWS (3), CF_FIXTURE_SLEEP_SECS (1), CF_FIXTURE_ERROR_MSG, CF_FIXTURE_OTHER (a
file for read_other).
"""

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

MODE = os.environ.get("CF_FIXTURE_MODE", "normal")
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
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def read_other():
    with open(os.environ["CF_FIXTURE_OTHER"]) as file:
        yield {"id": 0, "value": file.read()}


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
    "fill_scratch": fill_scratch, "setsid": leave_session, "exec": execute, "socket": open_socket,
    "read_other": read_other, "forge_frames": forge_frames, "stop_self": stop_self,
}


def parse(file_path):
    return MODES[MODE]()
