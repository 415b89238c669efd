"""weblog_native against a parser of access logs that is made of a regular expression and datetime.

usage: weblog.py PLUGINS TEST_PLUGINS
"""
import gzip
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timedelta, timezone

SOURCE = os.environ["CAUSEWAY_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import cfb  # noqa: E402

PLUGIN = os.path.join(sys.argv[1], "weblog_native", "0.1.0", "weblog_native")
SAMPLE = os.path.join(SOURCE, "examples", "casparian", "samples", "weblog", "access.log")
GENERATOR = os.path.join(SOURCE, "examples", "casparian", "samples", "gen_weblog.py")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

QUOTED = rb'"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"'
LINE = re.compile(rb"([^ ]+) ([^ ]+) ([^ ]+) \[([0-9]{2})/([A-Z][a-z]{2})/([0-9]{4}):([0-9]{2}):([0-9]{2}):([0-9]{2}) ([+-])([0-9]{2})([0-9]{2})\] "
                  + QUOTED + rb" ([0-9]{3}) (-|[0-9]+)(?: " + QUOTED + rb" " + QUOTED + rb")?")


def text(raw):
    return raw.decode("utf-8", "replace")


def field(raw):
    return None if raw in (None, b"", b"-") else text(raw)


def quoted(raw):
    return field(re.sub(rb'\\(["\\])', rb"\1", raw or b"-"))


def instant(found):
    day, month, year, hour, minute, second, sign, zone_hour, zone_minute = (text(found[i]) for i in range(4, 13))
    if month not in MONTHS or int(zone_hour) > 23 or int(zone_minute) > 59 or int(second) > 60:
        raise ValueError
    moment = datetime(int(year), MONTHS.index(month) + 1, int(day), int(hour), int(minute), tzinfo=timezone.utc)
    offset = timedelta(hours=int(zone_hour), minutes=int(zone_minute)) * (1 if sign == "+" else -1)
    return (moment + timedelta(seconds=int(second)) - offset - EPOCH) // timedelta(microseconds=1)


def expected_row(number, raw):
    """The row of a line; None: it is malformed."""
    found = LINE.fullmatch(raw)
    if not found or found[1] == b"-" or int(found[14]) < 100 or (found[15] != b"-" and int(found[15]) > 2**63 - 1):
        return None
    try:
        ts = instant(found)
    except ValueError:
        return None
    request = re.sub(rb'\\(["\\])', rb"\1", found[13])
    parts = request.split(b" ")
    if len(parts) == 3 and all(parts):
        target, mark, query = parts[1].partition(b"?")
        method, path, query, protocol = text(parts[0]), text(target), text(query) or None, text(parts[2])
    else:
        method, path, query, protocol = None, quoted(found[13]), None, None
    return {"line_number": number, "remote_host": text(found[1]), "ident": field(found[2]), "user": field(found[3]), "ts": ts,
            "method": method, "path": path, "query": query, "protocol": protocol, "status": int(found[14]),
            "bytes": None if found[15] == b"-" else int(found[15]), "referer": quoted(found[16]), "user_agent": quoted(found[17]),
            "__cf_row_id": number}


def expected(data):
    rows, bad = [], []
    for number, raw in enumerate(data.split(b"\n"), 1):
        raw = raw[:-1] if raw.endswith(b"\r") else raw
        if raw:
            row = expected_row(number, raw) if len(raw) <= 65536 else None
            bad.append(number) if row is None else rows.append(row)
    return rows, bad


class Weblog(unittest.TestCase):
    def run_on(self, data, suffix=".log", **variables):
        with tempfile.NamedTemporaryFile(suffix=suffix) as file:
            file.write(data)
            file.flush()
            return cfb.run(PLUGIN, file.name, **variables)

    def check(self, data):
        result = self.run_on(data)
        rows, bad = expected(data)
        self.assertEqual(result.status, 0)
        self.assertEqual(result.rows["http_requests"], rows)
        self.assertEqual([row["line_number"] for row in result.rows["http_parse_errors"]], bad)
        return result

    def test_sample(self):
        with open(SAMPLE, "rb") as file:
            result = self.check(file.read())
        self.assertEqual(len(result.rows["http_requests"]), 200)
        self.assertEqual({row["line_number"]: row["error_reason"] for row in result.rows["http_parse_errors"]}, {
            37: "the status is not a number from 100 to 999",
            79: "there is no time in brackets after three fields",
            128: "the time is not of the form 10/Oct/2023:13:55:36 +0200",
            174: "the request is not a quoted field"})
        [batch] = result.batches["http_requests"]
        self.assertIn(("ts", cfb.TIMESTAMP_TZ, 0, 0, "UTC"), batch.columns)

    def test_time_is_utc(self):
        result = self.run_on(b'192.0.2.1 - - [10/Oct/2023:13:55:36 +0200] "GET / HTTP/1.1" 200 5\n')
        # 2023-10-10T11:55:36Z, as `date -u -d @1696938936` says.
        self.assertEqual(result.rows["http_requests"][0]["ts"], 1696938936 * 10**6)

    def test_large_file_plain_and_packed(self):
        data = subprocess.run([sys.executable, GENERATOR, "30000", "7"], capture_output=True, check=True).stdout
        plain = self.check(data)
        half = len(data) // 2
        packed = self.run_on(gzip.compress(data[:half]) + gzip.compress(data[half:]), ".log.gz")
        self.assertEqual((packed.status, packed.stdout), (0, plain.stdout))

    def test_spoiled_lines(self):
        """Lines with a byte changed, cut or repeated: both parsers agree on which are malformed, and on the others."""
        rng = random.Random(3)
        with open(SAMPLE, "rb") as file:
            lines = file.read().splitlines()
        spoiled = []
        for _ in range(6000):
            line = bytearray(rng.choice(lines))
            at = rng.randrange(len(line))
            kind = rng.randrange(4)
            if kind == 0:
                line[at] = rng.choice(b' "\\[]-:/0179\xff\xc3aZ?+')
            elif kind == 1:
                del line[at:at + rng.randrange(1, 4)]
            elif kind == 2:
                line[at:at] = rng.choice([b" ", b'"', b"\\", b"\\\\", b'\\"', b"9", b"-", b"? ", b"]"])
            else:
                del line[at:]
            spoiled.append(bytes(line))
        result = self.check(b"\n".join(spoiled))
        self.assertGreater(len(result.rows["http_parse_errors"]), 1000)
        self.assertGreater(len(result.rows["http_requests"]), 1000)

    def test_long_lines(self):
        def line(length):
            head, tail = b'192.0.2.1 - - [10/Oct/2023:13:55:36 +0200] "GET /', b' HTTP/1.1" 200 5'
            return head + b"x" * (length - len(head) - len(tail)) + tail
        data = line(65536) + b"\r\n" + line(65537) + b"\n" + line(3 << 20) + b"\n" + line(100) + b"\n" + line(65537)
        for suffix, packed in ((".log", data), (".log.gz", gzip.compress(data))):
            result = self.run_on(packed, suffix)
            self.assertEqual([row["line_number"] for row in result.rows["http_requests"]], [1, 4])
            self.assertEqual([(row["line_number"], row["error_reason"], len(row["raw_line_preview"]))
                              for row in result.rows["http_parse_errors"]],
                             [(number, "line too long", 200) for number in (2, 3, 5)])

    def test_preview_ends_with_a_whole_character(self):
        [row] = self.run_on(b"x" * 198 + "€".encode() * 20 + b"\n").rows["http_parse_errors"]
        self.assertEqual(row["raw_line_preview"], "x" * 198)

    def test_files_that_cannot_be_read(self):
        self.assertEqual(self.run_on(b"").rows, {"http_requests": [], "http_parse_errors": []})
        packed = gzip.compress(b"some text that is long enough to be cut\n" * 100)
        for data, words in ((packed[:-20], "it ends too early"), (b"plain text\n", "it is not packed by gzip"),
                            (packed[:30] + b"\xff" * 30 + packed[60:], "cannot unpack the file")):
            result = self.run_on(data, ".gz")
            self.assertEqual(result.status, 1)
            self.assertIn(words, result.errors[0])
        more = gzip.compress(b"more text\n")
        for data in (packed + b"\0" + more[:-1], packed + more[:1], packed + more[:5], packed + b"x" + more[1:], packed + b"not packed"):
            result = self.run_on(data, ".gz") # a member that is damaged is not left out in silence
            self.assertEqual(result.status, 1)
            self.assertRegex(result.errors[0], "^cannot unpack the file: (it ends too early|what is behind its end is not packed by gzip)$")
        for data in (packed + more, packed + bytes(600) + more, packed + more + bytes(3)):
            result = self.run_on(data, ".gz")
            self.assertEqual((result.status, len(result.rows["http_parse_errors"])), (0, 101))
        missing = cfb.run(PLUGIN, "/nonexistent/access.log")
        self.assertEqual((missing.status, missing.errors), (1, ["cannot open the file: No such file or directory"]))
        self.assertIn("not a regular file", cfb.run(PLUGIN, "/dev/null").errors[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
