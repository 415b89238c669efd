"""examples/casparian/plugin: it compiles by the line that its first comment names, and emits the words of a file.

usage: example.py CC LIBRARY FLAG...
"""
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["CAUSEWAY_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import cfb  # noqa: E402

CC, LIBRARY, *FLAGS = sys.argv[1:]
EXAMPLE = os.path.join(SOURCE, "examples", "casparian", "plugin")


class Example(unittest.TestCase):
    def test_words(self):
        text = "one two\n\n  drei\tvier \r\n" + "x" * 50 + " end"
        with tempfile.TemporaryDirectory() as folder:
            program, file = os.path.join(folder, "words"), os.path.join(folder, "text")
            subprocess.run([CC, "-std=c17", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *FLAGS, "-I", os.path.join(SOURCE, "include"),
                            "words.c", LIBRARY, "-o", program], cwd=EXAMPLE, check=True)
            with open(file, "w", newline="") as out:
                out.write(text)
            result = cfb.run(program, file)
            self.assertEqual(result.status, 0)
            self.assertEqual(result.rows, {"words": [{"line": number, "word": word} for number, line in enumerate(text.split("\n"), 1)
                                                     for word in line.split()]})
            missing = cfb.run(program, file + "-not")
            self.assertEqual((missing.status, missing.errors), (1, ["No such file or directory"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
