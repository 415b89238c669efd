"""csv_native against the module csv of Python.

usage: csv_rows.py PLUGINS TEST_PLUGINS
"""
import csv
import gzip
import io
import os
import random
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["CAUSEWAY_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import cfb  # noqa: E402

PLUGIN = os.path.join(sys.argv[1], "csv_native", "0.1.0", "csv_native")
SAMPLES = os.path.join(SOURCE, "examples", "casparian", "samples")


def expected(text, delimiter=","):
    """Rows as DictReader has them, but without cells for what a record lacks; `reader.line_num` is the last line of a record."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, header, before = [], None, 0
    for record in reader:
        first, before = before + 1, reader.line_num
        if header is None:
            header = record or None
        elif record:
            names = header + [f"extra_{number}" for number in range(1, len(record) - len(header) + 1)]
            rows.append({**dict(zip(names, record)), "__cf_row_id": first})
    return rows


class CsvRows(unittest.TestCase):
    maxDiff = 4000

    def run_on(self, data, suffix=".csv", **variables):
        with tempfile.NamedTemporaryFile(suffix=suffix) as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            return cfb.run(PLUGIN, file.name, **variables)

    def rows(self, data, **variables):
        result = self.run_on(data, **variables)
        self.assertEqual((result.status, result.errors, result.rows["csv_parse_errors"]), (0, [], []))
        return result.rows["rows"]

    def test_sample(self):
        with open(os.path.join(SAMPLES, "csv", "berths.csv"), newline="") as file:
            text = file.read()
        rows = self.rows(text)
        self.assertEqual(rows, expected(text))
        self.assertEqual(rows[2]["boat"], 'The "Old Lady"')
        self.assertEqual(rows[3], {"berth": "B1", "boat": "", "owner": "", "length_m": "", "fee": "", "paid": "", "note": "empty",
                                   "__cf_row_id": 6})
        self.assertEqual(list(rows[4]), ["berth", "boat", "owner", "length_m", "__cf_row_id"])
        self.assertEqual((rows[5]["extra_1"], rows[5]["extra_2"]), ("surplus", "more"))

    def test_large_file_plain_and_packed(self):
        text = subprocess.run([sys.executable, os.path.join(SAMPLES, "gen_csv.py"), "40000", "5"], capture_output=True, check=True).stdout
        result = self.run_on(text)
        self.assertEqual(result.rows["rows"], expected(text.decode()))
        packed = self.run_on(gzip.compress(text), ".csv.gz")
        self.assertEqual((packed.status, packed.stdout), (0, result.stdout))

    def test_lines_that_end_with_cr_alone(self):
        text = 'id,name\r1,"a\rb"\r\r2,c\r3,"x'
        result = self.run_on(text)
        self.assertEqual(result.rows["rows"], [{"id": "1", "name": "a\rb", "__cf_row_id": 2}, {"id": "2", "name": "c", "__cf_row_id": 5}])
        self.assertEqual(result.rows["csv_parse_errors"],
                         [{"line_number": 6, "error_reason": "a quote is not closed", "raw_line_preview": '3,"x'}])
        many = "id,name\r" + "".join(f"{i},n{i}\r" for i in range(50000))
        self.assertEqual(len(self.rows(many)), 50000)
        self.assertEqual(self.rows("a,b\r1,2"), [{"a": "1", "b": "2", "__cf_row_id": 2}])

    def test_cr_elsewhere_is_a_byte(self):
        self.assertEqual(self.rows("a\rb,c\n1\r2,3\n"), [{"a\rb": "1\r2", "c": "3", "__cf_row_id": 2}])
        self.assertEqual(self.rows('a,"b\rc"'), [])

    def test_utf_16(self):
        for encoding in ("utf-16", "utf-16-be"):
            data = ("\ufeff" if encoding != "utf-16" else "") + "a,b\r\n1,2\r\n"
            for variables in ({}, {"CSV_HEADER": "0"}):
                result = self.run_on(data.encode(encoding), **variables)
                self.assertEqual((result.status, result.errors), (1, ["the file is UTF-16: convert it, as by iconv -f UTF-16 -t UTF-8"]))

    def test_utf_16_without_a_mark(self):
        for encoding in ("utf-16-le", "utf-16-be"):
            result = self.run_on("a,b\r\n1,2\r\n".encode(encoding))
            self.assertEqual(result.status, 1)
            self.assertIn("iconv -f UTF-16LE", result.errors[0])

    def test_the_delimiter_is_that_of_the_first_line(self):
        self.assertEqual(self.rows("a;b\n1,5;2,5\n3,5;4,5\n"), [{"a": "1,5", "b": "2,5", "__cf_row_id": 2},
                                                               {"a": "3,5", "b": "4,5", "__cf_row_id": 3}])
        self.assertEqual(self.rows("id|name\n1|a,b,c,d\n"), [{"id": "1", "name": "a,b,c,d", "__cf_row_id": 2}])
        self.assertEqual(self.rows('"a,b,c"\tb\n1\t2\n'), [{"a,b,c": "1", "b": "2", "__cf_row_id": 2}])
        self.assertEqual(self.rows("\n\na;b\n1,5;2,5\n"), [{"a": "1,5", "b": "2,5", "__cf_row_id": 4}])
        self.assertEqual(self.rows("a\n1;2\n"), [{"a": "1", "extra_1": "2", "__cf_row_id": 2}])

    def test_a_cell_that_is_too_long_has_its_reason(self):
        result = self.run_on('id,text\n1,"' + "x" * (3 << 20) + '"\n2,y\n')
        self.assertEqual([row["error_reason"] for row in result.rows["csv_parse_errors"]], ["a quote is not closed within 1 MiB"])
        self.assertEqual(result.rows["rows"], [{"id": "2", "text": "y", "__cf_row_id": 3}])

    def test_random_texts(self):
        """Any mix of delimiters, quotes and line ends whose last quote is closed."""
        rng = random.Random(11)
        for _ in range(150):
            header = rng.randrange(1, 5)
            pieces = [rng.choice(["a", "bb", "1.5", "é", ",", ",", ",", '"', '""', "\n", "\r\n", " ", '"x"', ';', ',"', '",'])
                      for _ in range(rng.randrange(200))]
            text = ",".join(f"h{number}" for number in range(header)) + "\n" + "".join(pieces) + rng.choice(["", "\n", '"\n'])
            result = self.run_on(text, CSV_DELIMITER=",")
            if not result.rows["csv_parse_errors"]:
                self.assertEqual(result.rows["rows"], expected(text), repr(text))

    def test_delimiters(self):
        for delimiter in ",;|\t":
            text = delimiter.join("abc") + "\n" + delimiter.join(["1, 2", "3; 4", "5"]) + "\n" + delimiter.join("xyz") * 3
            for variables in ({}, {"CSV_DELIMITER": {"\t": "tab"}.get(delimiter, delimiter)}):
                self.assertEqual(self.rows(text, **variables), expected(text, delimiter))
        self.assertEqual(self.rows("a:b\n1:2", CSV_DELIMITER=":"), [{"a": "1", "b": "2", "__cf_row_id": 2}])
        for wrong in ("ab", '"', "\n"):
            result = self.run_on("a,b\n", CSV_DELIMITER=wrong)
            self.assertEqual((result.status, result.errors), (1, ["CSV_DELIMITER must be one byte, or tab"]))

    def test_without_a_header(self):
        self.assertEqual(self.rows("1,2\n3\n\n4,5,6\n", CSV_HEADER="0"),
                         [{"c1": "1", "c2": "2", "__cf_row_id": 1}, {"c1": "3", "__cf_row_id": 2},
                          {"c1": "4", "c2": "5", "c3": "6", "__cf_row_id": 4}])

    def test_names_become_unique(self):
        [row] = self.rows("id,ID,,extra_1,__cf_row_id,id\n1,2,3,4,5,6,7\n")
        self.assertEqual(row, {"id": "1", "ID_2": "2", "c3": "3", "extra_1": "4", "__cf_row_id_2": "5", "id_3": "6", "extra_1_2": "7",
                               "__cf_row_id": 2})

    def test_byte_order_mark_and_line_ends(self):
        self.assertEqual(self.rows("\ufeffa,b\r\n1,\"x\r\ny\"\r\n\r\n2,\r\n3,z"),
                         [{"a": "1", "b": "x\r\ny", "__cf_row_id": 2}, {"a": "2", "b": "", "__cf_row_id": 5},
                          {"a": "3", "b": "z", "__cf_row_id": 6}])
        self.assertEqual(self.rows(""), [])
        self.assertEqual(self.rows("a,b\n"), [])

    def test_quotes_that_do_not_close(self):
        text = 'a,b\n1,2\n3,"x\n4,5\n6,7\n' + '8,9\n' * 3
        for suffix, data in ((".csv", text.encode()), (".csv.gz", gzip.compress(text.encode()))):
            result = self.run_on(data, suffix)
            self.assertEqual([(row["a"], row["__cf_row_id"]) for row in result.rows["rows"]],
                             [("1", 2), ("4", 4), ("6", 5), ("8", 6), ("8", 7), ("8", 8)])
            self.assertEqual(result.rows["csv_parse_errors"],
                             [{"line_number": 3, "error_reason": "a quote is not closed", "raw_line_preview": '3,"x'}])

    def test_long_records(self):
        long = "x" * (1 << 20)
        text = f"a,b\n1,{long[:-3]}\n2,{long}\n3,\"{long[:900000]}\n{long[:300000]}\"\n4,z\n" + '5,"' + "q\n" * 700000 + '6,"y"\n'
        for suffix, data in ((".csv", text.encode()), (".csv.gz", gzip.compress(text.encode()))):
            result = self.run_on(data, suffix)
            rows = {row["a"]: row for row in result.rows["rows"] if len(row) > 2}
            self.assertEqual({name: (len(row["b"]), row["__cf_row_id"]) for name, row in rows.items()},
                             {"1": ((1 << 20) - 3, 2), "4": (1, 6), "6": (1, 700007)})
            self.assertEqual([(row["line_number"], row["error_reason"]) for row in result.rows["csv_parse_errors"]],
                             [(3, "the record is longer than 1 MiB"), (4, "a quote is not closed within 1 MiB"),
                              (7, "a quote is not closed within 1 MiB")])

    def test_quotes_that_cost_too_much(self):
        result = self.run_on('a,b\n' + 'x","y\n' * 3000000)
        self.assertEqual(result.status, 1)
        self.assertIn("is the delimiter right?", result.errors[0])

    def test_headers_that_cannot_be(self):
        for text, words in (('a,"b\nc\n', "a quote is not closed"), ("a," + "n" * 129 + "\n1,2\n", "longer than 128 bytes"),
                            ("a,b\0\n", "NUL"), (",".join(f"c{number}" for number in range(2001)), "more than 2000 columns")):
            result = self.run_on(text)
            self.assertEqual(result.status, 1)
            self.assertIn(words, result.errors[0])

    def test_many_columns(self):
        names = [f"name {number}" for number in range(2000)]
        text = ",".join(names) + "\n" + ",".join(map(str, range(2000))) + "\n" + ",".join(map(str, range(2001))) + "\n1\n"
        result = self.run_on(text)
        self.assertEqual(result.rows["rows"], [{**{name: str(number) for number, name in enumerate(names)}, "__cf_row_id": 2},
                                               {"name 0": "1", "__cf_row_id": 4}])
        self.assertEqual(result.rows["csv_parse_errors"][0]["error_reason"], "the record has more than 2000 cells")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
