"""jsonl_native against the module json of Python.

usage: jsonl_rows.py PLUGINS TEST_PLUGINS
"""
import gzip
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["CAUSEWAY_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import cfb  # noqa: E402

PLUGIN = os.path.join(sys.argv[1], "jsonl_native", "0.1.0", "jsonl_native")
SAMPLES = os.path.join(SOURCE, "examples", "casparian", "samples")
HALVES = {half: 0xFFFD for half in range(0xD800, 0xE000)}


def repaired(text):
    """Halves of surrogate pairs are no characters."""
    return text.translate(HALVES)


def cell(value):
    if isinstance(value, (dict, list)):
        return json.loads(json.dumps(value), parse_int=str)
    if isinstance(value, int) and not isinstance(value, bool) and not -2**63 <= value < 2**63:
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return "1e400"  # the only one of these tests; its digits, since there is no such double
    return repaired(value) if isinstance(value, str) else value


def forbidden(word):
    raise ValueError(word)


class Members(dict):
    """An object that knows whether a name came twice."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.has_duplicate = len({repaired(name) for name, _ in pairs}) < len(pairs)


def expected(text):
    """The rows, and the numbers of the lines that are malformed, or have a member twice."""
    rows, bad = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t\r"):
            continue
        try:
            members = json.loads(line, parse_constant=forbidden, object_pairs_hook=Members)
            if not isinstance(members, dict):
                raise ValueError
            rows.append({**{repaired(name): cell(value) for name, value in members.items()}, "__cf_row_id": number})
            if members.has_duplicate:
                bad.append(number)
        except ValueError:
            bad.append(number)
    return rows, bad


class JsonlRows(unittest.TestCase):
    maxDiff = 4000

    def run_on(self, data, suffix=".jsonl"):
        with tempfile.NamedTemporaryFile(suffix=suffix) as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            return cfb.run(PLUGIN, file.name)

    def check(self, text):
        """Nested values are compared as values, because their text is that of the file."""
        result = self.run_on(text)
        rows, bad = expected(text)
        self.assertEqual(result.status, 0)
        self.assertEqual([row["line_number"] for row in result.rows["jsonl_parse_errors"]], bad)
        self.assertEqual(len(result.rows["rows"]), len(rows))
        for row, wanted in zip(map(dict, result.rows["rows"]), rows):
            for name, value in wanted.items():
                if isinstance(value, (dict, list)):
                    row[name] = json.loads(row[name], parse_int=str)
            self.assertEqual(row, wanted)
            self.assertEqual([type(value) for value in row.values()], [type(wanted[name]) for name in row])
        return result

    def test_sample(self):
        with open(os.path.join(SAMPLES, "jsonl", "tides.jsonl"), encoding="utf-8") as file:
            result = self.check(file.read())
        rows = result.rows["rows"]
        self.assertEqual(rows[2]["wind"], '{"from":"SW","knots":[12,15]}')
        self.assertEqual((rows[3]["station"], rows[3]["height_m"], rows[3]["reading"]), ("Köge", 1.2, "12345678901234567890"))
        self.assertEqual([row["error_reason"] for row in result.rows["jsonl_parse_errors"]],
                         ["the line is not an object", "the line is not an object", "a comma or brace was expected"])

    def test_members_with_names_of_casparian_are_data(self):
        result = self.run_on('{"__cf_row_id":7,"_cf_row_error":"not mine","a":1}\n')
        self.assertEqual(result.rows["rows"], [{"__cf_row_id_2": 7, "_cf_row_error_2": "not mine", "a": 1, "__cf_row_id": 1}])

    def test_large_file_plain_and_packed(self):
        text = subprocess.run([sys.executable, os.path.join(SAMPLES, "gen_jsonl.py"), "20000", "5"], capture_output=True, check=True).stdout
        result = self.check(text.decode())
        packed = self.run_on(gzip.compress(text), ".jsonl.gz")
        self.assertEqual((packed.status, packed.stdout), (0, result.stdout))

    def test_numbers(self):
        numbers = ["0", "-0", "1", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
                   "0.1", "-0.0", "1e5", "1E+5", "1e-7", "123456789012345.6", "0.30000000000000004", "5e-324", "1.7976931348623157e308",
                   "2.2250738585072011e-308", "9007199254740993.0", "1e400", "12345678901234567890123456789012345678901", "1e22", "1e23"]
        rng = random.Random(2)
        numbers += [repr(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)) for _ in range(2000)]
        numbers += [f"{rng.randrange(10**rng.randrange(1, 17))}.{rng.randrange(10**rng.randrange(1, 12))}" for _ in range(2000)]
        result = self.check("\n".join('{"n":%s}' % number for number in numbers))
        self.assertEqual(result.rows["jsonl_parse_errors"], [])

    def test_strings(self):
        strings = [r'""', r'"a\"\\\/\b\f\n\r\t"', r'"\u00e9\u20ac\ud83d\ude00"', '"\U0001f600é"', r'"\ud83d"', r'"\ude00x"', r'"\ud83d\u0041"',
                   r'"\ud83d\ud83d\ude00"', r'"\u0000"', r'"\x"', r'"\u12g4"', '"\x01"', '"tab\t"', '"open', r'"open\"', r'"\u12', '"a" "b"']
        self.check("\n".join('{"s":%s}' % string for string in strings))
        self.check("\n".join('{%s:1}' % string for string in strings[1:8]))

    def test_malformed_lines(self):
        lines = ["{}", "{ }", " {\t\"a\" : 1 , \"b\":[ ] } \r", "{", "}", "[]", "1", "null", "{,}", '{"a":1,}', '{"a" 1}', '{a:1}', '{"a":}',
                 '{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":1e}', '{"a":-}', '{"a":tru}', '{"a":nulll}', '{"a":NaN}', '{"a":Infinity}',
                 '{"a":[1,]}', '{"a":[1 2]}', '{"a":{"b"}}', '{"a":{"b":1,}}', '{"a":[}', '{"a":[1}', '{"a":{]}', '{"a":1}}', '{"a":1} x',
                 '{"a":abc}', '{"a":[{"b":"}]"},{"c":[[]]}]}', '{"a":"\\"}', '{"a":1,"a":"twice"}', '{"a":"twice","a":null}', "", "   "]
        self.check("\n".join(lines))

    def test_spoiled_lines(self):
        rng = random.Random(17)
        text = subprocess.run([sys.executable, os.path.join(SAMPLES, "gen_jsonl.py"), "300", "9"], capture_output=True, check=True).stdout.decode()
        lines = []
        for _ in range(5000):
            line = rng.choice(text.split("\n")[:-1])
            at = rng.randrange(len(line))
            piece = rng.choice(['"', "\\", "{", "}", "[", "]", ",", ":", " ", "1", "-", "e", ".", "null", "\t", "\\u00"])
            lines.append(rng.choice([line[:at] + piece + line[at:], line[:at] + line[at + 1:], line[:at] + piece + line[at + 1:], line[:at]]))
        result = self.check("\n".join(lines))
        self.assertGreater(len(result.rows["jsonl_parse_errors"]), 1000)
        self.assertGreater(len(result.rows["rows"]), 500)

    def test_shapes_and_types_change(self):
        rng = random.Random(4)
        values = ["1", "2.5", '"t"', "true", "null", "[1]", "-7"]
        text = "\n".join("{" + ",".join(f'"m{number}":{rng.choice(values)}' for number in rng.sample(range(6), rng.randrange(6))) + "}"
                         for _ in range(3000))
        self.check(text)

    def test_bounds(self):
        deep = '{"a":' + "[" * 64 + "]" * 64 + "}"
        result = self.run_on("\n".join([deep, '{"a":' + "[" * 65 + "]" * 65 + "}", '{"%s":1}' % ("n" * 129), '{"":1}',
                                        '{"a":"%s"}' % ("x" * (8 << 20)), '{"a":1%s}' % ("0" * 400), '{"a":2}']))
        self.assertEqual([row["__cf_row_id"] for row in result.rows["rows"]], [1, 7])
        self.assertEqual([row["error_reason"] for row in result.rows["jsonl_parse_errors"]], [
            "values are nested deeper than 64", "the name of a column is longer than 128 bytes",
            "the name of a column is empty", "the line is longer than 8 MiB",
            "a number has more than 400 characters"])

    def test_long_lines_packed(self):
        text = '{"a":1}\n{"a":"' + "x" * (40 << 20) + '"}\n{"a":"' + "y" * ((8 << 20) - 8) + '"}\n{"a":3}'
        for suffix, data in ((".jsonl", text.encode()), (".jsonl.gz", gzip.compress(text.encode(), 1))):
            result = self.run_on(data, suffix)
            self.assertEqual([row["__cf_row_id"] for row in result.rows["rows"]], [1, 3, 4])
            self.assertEqual([row["line_number"] for row in result.rows["jsonl_parse_errors"]], [2])

    def test_members_of_all_lines_are_bounded(self):
        result = self.run_on("\n".join('{"m%d":1}' % number for number in range(2001)) + '\n{"m5":2}')
        self.assertEqual(len(result.rows["rows"]), 2001)
        self.assertEqual([(row["line_number"], row["error_reason"]) for row in result.rows["jsonl_parse_errors"]],
                         [(2001, "the file has more than 2000 different members")])

    def test_names_are_utf8(self):
        result = self.run_on(b'{"a\xff\xc3\xa9\xe2\x82":1}\n{"\\u0000":1}')
        self.assertEqual(result.rows["rows"], [{"a\ufffd\u00e9\ufffd\ufffd": 1, "__cf_row_id": 1}])
        self.assertEqual([row["error_reason"] for row in result.rows["jsonl_parse_errors"]], ["the name of a column holds a NUL byte"])

    def test_a_member_twice_is_reported(self):
        """Another reader may take the first value, or refuse the line."""
        text = '{"a":1,"b":2,"a":3}\n{"a":4}\n{"c":[{"d":1,"d":2}]}\n{"b":5,"\\u0062":null}\n'
        result = self.run_on(text)
        self.assertEqual([(row["__cf_row_id"], row.get("a"), row.get("b")) for row in result.rows["rows"]],
                         [(1, 3, 2), (2, 4, None), (3, None, None), (4, None, None)])
        self.assertEqual([(row["line_number"], row["error_reason"], row["raw_line_preview"])
                          for row in result.rows["jsonl_parse_errors"]],
                         [(number, "a member comes twice: its last value is in the row", text.splitlines()[number - 1])
                          for number in (1, 4)])

    def test_byte_order_mark(self):
        self.assertEqual(self.run_on("\ufeff{\"a\":1}\n").rows["rows"], [{"a": 1, "__cf_row_id": 1}])
        self.assertEqual(self.run_on("").rows["rows"], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
