"""The protocol of native plugins of casparian, read strictly: control lines and CFB1 batches.

Written from the protocol's page, independent of the SDK. It stops with an AssertionError at whatever breaks a rule.
"""
import json
import os
import struct
import subprocess

NULL, BOOLEAN, INT64, FLOAT64, DECIMAL, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_TZ, TIME, DURATION = range(12)
WIDTHS = {BOOLEAN: 1, INT64: 8, FLOAT64: 8, DECIMAL: 16, DATE: 4, TIMESTAMP: 8, TIMESTAMP_TZ: 8, TIME: 8, DURATION: 8}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        assert self.at + count <= len(self.data), "a section is cut"
        self.at += count
        return self.data[self.at - count:self.at]

    def unpack(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def pad(self):
        assert not any(self.take(-self.at % 8)), "padding that is not zero"


class Batch:
    """`columns`: a list of (name, type, precision, scale, zone); `cells`: by name, None is null."""

    def __init__(self, data):
        reader = Reader(data)
        assert reader.take(4) == b"CFB1"
        version, count, self.rows, length = reader.unpack("HHII")
        assert version == 1
        self.size, self.columns, self.cells = len(data), [], {}
        end = reader.at + length
        heads = []
        for _ in range(count):
            kind, flags, precision, scale, name_length, zone_length, zero = reader.unpack("BBBBHHI")
            assert zero == 0 and flags in (0, 1)
            name, zone = reader.take(name_length).decode(), reader.take(zone_length).decode()
            assert name not in self.cells, f"column {name} comes twice"
            self.cells[name] = None
            heads.append(flags)
            self.columns.append((name, kind, precision, scale, zone))
        assert reader.at == end, "the descriptors have another length"
        reader.pad()
        for (name, kind, *_), flags in zip(self.columns, heads):
            self.cells[name] = self.column(reader, kind, flags)
        assert reader.at == len(data), "bytes behind the last column"

    def column(self, reader, kind, flags):
        rows, valid = self.rows, None
        if kind == NULL:
            assert flags == 0
            return [None] * rows
        if flags:
            bits = reader.take((rows + 7) // 8)
            valid = [bits[i // 8] >> i % 8 & 1 for i in range(rows)]
            assert bits[-1] >> (rows - 1) % 8 + 1 == 0 or rows % 8 == 0, "bits behind the last row"
            assert 0 in valid, "a bitmap without a null"
            reader.pad()
        if kind in WIDTHS:
            values = self.fixed(kind, reader.take(rows * WIDTHS[kind]))
            reader.pad()
        else:
            offsets = reader.unpack(f"{rows + 1}I")
            reader.pad()
            assert offsets[0] == 0 and all(a <= b for a, b in zip(offsets, offsets[1:]))
            text = reader.take(offsets[-1])
            reader.pad()
            values = [text[a:b] for a, b in zip(offsets, offsets[1:])]
            values = values if kind == BINARY else [value.decode("utf-8", "replace") for value in values]
        return [value if not valid or valid[i] else None for i, value in enumerate(values)]

    @staticmethod
    def fixed(kind, data):
        if kind == BOOLEAN:
            assert all(byte <= 1 for byte in data)
            return [bool(byte) for byte in data]
        if kind == DECIMAL:
            return [int.from_bytes(data[i:i + 16], "little", signed=True) for i in range(0, len(data), 16)]
        code = {FLOAT64: "d", DATE: "i"}.get(kind, "q")
        return list(struct.unpack(f"<{len(data) // WIDTHS[kind]}{code}", data))

    def as_rows(self):
        names = [column[0] for column in self.columns]
        return [dict(zip(names, cells)) for cells in zip(*self.cells.values())] if names else [{}] * self.rows


class Result:
    """What a plugin has said: `batches` and `rows` by output, in the order of their first begin; the messages."""

    def __init__(self, status, stdout, stderr):
        self.status, self.stdout, self.stderr = status, stdout, stderr
        self.messages = [json.loads(line) for line in stderr.decode().splitlines() if line]
        self.batches, self.streams = {}, []
        hello = self.messages[0]
        assert hello["type"] == "hello" and hello["protocol"] == "0.1" and hello["encoding"] == "cfb", hello
        assert [message["type"] for message in self.messages].count("hello") == 1
        self.read_streams(Reader(stdout))
        self.rows = {name: [row for batch in batches for row in batch.as_rows()] for name, batches in self.batches.items()}
        self.errors = [message["message"] for message in self.messages if message["type"] == "error"]
        self.warnings = [message["message"] for message in self.messages if message["type"] == "warning"]

    def read_streams(self, reader):
        begun = None
        for message in self.messages:
            if message["type"] == "output_begin":
                assert begun is None and message["stream_index"] == len(self.streams), message
                begun = message
            elif message["type"] == "output_end":
                assert begun and (message["output"], message["stream_index"]) == (begun["output"], begun["stream_index"])
                batches = self.read_stream(reader)
                assert message["rows_emitted"] == sum(batch.rows for batch in batches), message
                self.batches.setdefault(message["output"], []).extend(batches)
                self.streams.append((message["output"], message["rows_emitted"]))
                begun = None
        assert self.status != 0 or (begun is None and reader.at == len(reader.data)), "data behind the last output"

    @staticmethod
    def read_stream(reader):
        batches = []
        while True:
            length = int.from_bytes(reader.take(4), "big")
            if length == 0:
                return batches
            assert length <= 64 << 20
            batches.append(Batch(reader.take(length)))
            assert 0 < batches[-1].rows <= 8192
            assert length <= 1 << 20 or batches[-1].rows == 1, "a batch over 1 MiB of several rows"


def run(program, *arguments, **variables):
    """Run a plugin to its end, with an environment of these variables alone."""
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=240,
                          env={"PATH": os.environ["PATH"], "TZ": "UTC", **variables})
    return Result(done.returncode, done.stdout, done.stderr)
