"""The C SDK for plugins: what its probe emits is read by the decoder of tests/support/cfb.py.

usage: sdk.py PROBE
"""
import hashlib
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["CAUSEWAY_SOURCE"], "tests", "support"))
import cfb  # noqa: E402

PROBE = sys.argv.pop(1)

# The batch of the protocol's page and its SHA-256.
GOLDEN = bytes.fromhex("""
    43464231 0100 0200 03000000 1f000000
    02000000 0200 0000 00000000 6964
    05010000 0500 0000 00000000 76616c7565  00
    0100000000000000 0200000000000000 0300000000000000
    0500000000000000
    00000000 01000000 01000000 04000000
    6163636300000000""")
GOLDEN_SHA256 = "86f20d3a6dad229f9b91dea1453c6fb7adecb069ba15c76dd42530979e6572d3"


class Sdk(unittest.TestCase):
    def test_golden_batch(self):
        result = cfb.run(PROBE, "golden")
        self.assertEqual(result.status, 0)
        self.assertEqual(hashlib.sha256(GOLDEN).hexdigest(), GOLDEN_SHA256)
        self.assertEqual(result.stdout, (104).to_bytes(4, "big") + GOLDEN + bytes(4))
        self.assertEqual(result.messages, [
            {"type": "hello", "protocol": "0.1", "parser_id": "sdk_probe", "parser_version": "1.0.0",
             "capabilities": {"multi_output": True, "finish": True}, "encoding": "cfb"},
            {"type": "output_begin", "output": "golden", "schema_hash": "*", "stream_index": 0},
            {"type": "output_end", "output": "golden", "rows_emitted": 3, "stream_index": 0},
            {"type": "finish"}])

    def test_types(self):
        result = cfb.run(PROBE, "types")
        self.assertEqual(result.messages[1]["schema_hash"], "abc")
        [batch] = result.batches["types"]
        self.assertEqual(batch.columns, [
            ("nothing", cfb.NULL, 0, 0, ""), ("flag", cfb.BOOLEAN, 0, 0, ""), ("integer", cfb.INT64, 0, 0, ""),
            ("number", cfb.FLOAT64, 0, 0, ""), ("money", cfb.DECIMAL, 38, 10, ""), ("text", cfb.STRING, 0, 0, ""),
            ("bytes", cfb.BINARY, 0, 0, ""), ("day", cfb.DATE, 0, 0, ""), ("wall", cfb.TIMESTAMP, 0, 0, ""),
            ("instant", cfb.TIMESTAMP_TZ, 0, 0, "Europe/Oslo"), ("clock", cfb.TIME, 0, 0, ""), ("span", cfb.DURATION, 0, 0, ""),
            ("universal", cfb.TIMESTAMP_TZ, 0, 0, "UTC")])
        first, second, third = result.rows["types"]
        self.assertEqual(list(first.values()), [None, True, -2**63, -0.5, -123, "Ärger \U0001f600", b"\0\xff\1", -1,
                                                -8, -9, -10, -11, -12])
        self.assertEqual(set(second.values()), {None})
        self.assertEqual(list(third.values()), [None, False, 2**63 - 1, sys.float_info.max, 10**38 - 1, "", b"", 19000,
                                                *(1700000000000000 + column for column in range(8, 13))])

    def test_batches_are_bounded(self):
        result = cfb.run(PROBE, "limits")
        rows = result.rows["limits"]
        lengths = [number % 7 for number in range(20000)] + [100000] * 40 + [3 << 20, 1]
        self.assertEqual([row["id"] for row in rows], list(range(20042)))
        self.assertEqual([row["value"] for row in rows],
                         ["x" * length if number % 5 or number >= 20000 else None for number, length in enumerate(lengths)])
        sizes = [batch.rows for batch in result.batches["limits"]]
        self.assertEqual(sizes[:2], [8192, 8192])
        # 100 kB a row: ten fit in a batch, and eleven do not.
        self.assertEqual(sizes[2:], [3616 + 9, 10, 10, 10, 1, 1, 1])
        self.assertEqual([batch.rows for batch in result.batches["limits"] if batch.size > 1 << 20], [1])

    def test_outputs_take_turns(self):
        result = cfb.run(PROBE, "turns")
        self.assertEqual([row["id"] for row in result.rows["a"]], [number for number in range(30000) if number % 3])
        self.assertEqual([row["id"] for row in result.rows["b"]], [number for number in range(30000) if number % 3 == 0])
        self.assertEqual(result.rows["none"], [])
        self.assertGreater(len(result.streams), 3)

    def test_open_schema_keeps_each_row_as_it_was(self):
        expected = []
        for number in range(200):
            row = [{"a": None}, {"a": None}, {"a": number}, {"a": number}, {"a": "again", "b": "first"}, {"a": "again", "b": "bb"},
                   {"b": "alone"}, None, {"a": number / 2, "c": "new"}, {}][number % 10]
            if row is not None:
                expected.append({**row, "__cf_row_id": number})
        result = cfb.run(PROBE, "shapes")
        self.assertEqual(result.rows["shapes"], expected)
        kinds = [{name: kind for name, kind, *_ in batch.columns} for batch in result.batches["shapes"]]
        self.assertEqual(kinds[0], {"a": cfb.INT64, "__cf_row_id": cfb.INT64}) # nulls join what follows
        self.assertEqual(result.batches["shapes"][0].rows, 4)

    def test_row_errors_and_ids(self):
        result = cfb.run(PROBE, "bad_rows")
        rows = result.rows["bad_rows"]
        self.assertEqual([row["__cf_row_id"] for row in rows], list(range(1, 10001)))
        self.assertEqual([row["id"] for row in rows if row.get("_cf_row_error") is not None],
                         [number for number in range(9000, 10000) if number % 10 == 0])
        self.assertNotIn("_cf_row_error", result.batches["bad_rows"][0].cells)

    def test_mistakes_drop_the_row(self):
        result = cfb.run(PROBE, "mistakes")
        self.assertEqual(result.warnings, ["-1 -1 -1 -2 0"])
        self.assertEqual(result.rows["mistakes"], [{"id": 5, "value": None}])
        self.assertEqual(result.status, 1)
        self.assertEqual(result.errors, ["the plugin lost 3 rows; the first, of output mistakes, has a column that there is not, or a value of another type (CF_E_USE)"])

    def test_a_wrong_schema_is_named(self):
        result = cfb.run(PROBE, "wrong_schema")
        self.assertEqual(result.status, 1)
        self.assertRegex(result.errors[0], "^output price: the column 'much' wants a name of 1 to 128 bytes, .* as a decimal a precision of 1 to 38")

    def test_messages(self):
        result = cfb.run(PROBE, "messages")
        self.assertEqual(result.messages[1:], [
            {"type": "warning", "message": 'a "quote", a \\ and\na line\x01'}, {"type": "error", "message": "it failed"},
            {"type": "progress", "bytes_done": 5, "bytes_total": 10, "rows": 2},
            {"type": "finish"}])

    def test_a_reader_that_goes_away_ends_the_program(self):
        guest = subprocess.Popen([PROBE, "endless"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        guest.stdout.read(300000)
        guest.stdout.close()
        guest.stderr.read()
        self.assertEqual(guest.wait(timeout=60), 1)
        guest.stderr.close()

    def test_a_slow_reader_gets_every_byte(self):
        whole = cfb.run(PROBE, "limits").stdout
        guest = subprocess.Popen([PROBE, "limits"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        pieces = iter(lambda: os.read(guest.stdout.fileno(), 777), b"")
        self.assertEqual(b"".join(pieces), whole)
        self.assertEqual(guest.wait(timeout=60), 0)
        guest.stdout.close()


if __name__ == "__main__":
    unittest.main()
