"""fixture_native, the plugin that tests of the host run: each mode does what it says.

usage: fixture.py PLUGINS TEST_PLUGINS
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ["CAUSEWAY_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import cfb  # noqa: E402

PLUGIN = os.path.join(sys.argv[2], "fixture_native", "1.0.0", "fixture_native")


def run(mode, **variables):
    return cfb.run(PLUGIN, "/dev/null", CF_FIXTURE_MODE=mode, **variables)


def row(number):
    return {"id": number, "value": f"row-{number}"}


class Fixture(unittest.TestCase):
    def test_rows(self):
        self.assertEqual(cfb.run(PLUGIN, "/dev/null").rows, {"fixture": [row(1), row(2), row(3)]})
        self.assertEqual(len(run("normal", CF_FIXTURE_ROWS="20000").rows["fixture"]), 20000)
        self.assertEqual(run("nulls", CF_FIXTURE_ROWS="4", CF_FIXTURE_EVERY="2").rows["fixture"],
                         [row(1), {"id": 2, "value": None}, row(3), {"id": 4, "value": None}])
        self.assertEqual([bool(row.get("_cf_row_error")) for row in run("row_errors", CF_FIXTURE_ROWS="6", CF_FIXTURE_EVERY="3").rows["fixture"]],
                         [False, False, True] * 2)
        self.assertEqual(run("wrong_type").rows["fixture"][0]["id"], "not a number")
        self.assertEqual(run("reserved_column").rows["fixture"][0], {**row(1), "_cf_job_id": "mine"})
        self.assertEqual(len(run("huge_row").rows["fixture"][0]["value"]), 8 << 20)

    def test_slow(self):
        begin = time.monotonic()
        self.assertEqual(len(run("slow", CF_FIXTURE_SLEEP_SECS="2").rows["fixture"]), 3)
        self.assertGreaterEqual(time.monotonic() - begin, 2)

    def test_two_outputs(self):
        result = run("two_outputs_interleaved", CF_FIXTURE_ROWS="40000")
        self.assertEqual({name: len(rows) for name, rows in result.rows.items()}, {"fixture": 20000, "fixture_other": 20000})
        self.assertGreater(len(result.streams), 2)

    def test_failures(self):
        result = run("error", CF_FIXTURE_ERROR_MSG="no luck")
        self.assertEqual((result.status, result.errors), (1, ["no luck"]))
        self.assertEqual(run("crash").status, -signal.SIGSEGV)
        self.assertIn("no mode", run("unknown").errors[0])

    def raw(self, mode, **variables):
        return subprocess.run([PLUGIN, "/dev/null"], env={"CF_FIXTURE_MODE": mode, **variables}, capture_output=True, timeout=60)

    def test_output_that_breaks_the_protocol(self):
        self.assertTrue(self.raw("bad_frame").stdout.endswith(b"\0\0\0\x08NOBATCH!"))
        self.assertIn(b"\na library greets\n", self.raw("stray_stderr").stderr)
        for mode in ("endless_rows", "endless_log"):
            guest = subprocess.Popen([PLUGIN, "/dev/null"], env={"CF_FIXTURE_MODE": mode}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(len(guest.stdout.read(3 << 20)), 3 << 20)
            guest.stdout.close()
            self.assertNotEqual(guest.wait(timeout=60), 0)

    def test_hang_and_stop(self):
        for mode, state in (("hang", "S"), ("stop_self", "T")):
            guest = subprocess.Popen([PLUGIN, "/dev/null"], env={"CF_FIXTURE_MODE": mode}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                with open(f"/proc/{guest.pid}/stat") as stat:
                    if stat.read().rpartition(") ")[2][0] == state:
                        break
                time.sleep(0.02)
            self.assertIsNone(guest.poll())
            guest.kill()
            guest.wait(timeout=60)

    def attempt(self, mode, limit=None, bound=0, **variables):
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([PLUGIN, "/dev/null"], env={"CF_FIXTURE_MODE": mode, **variables}, capture_output=True, timeout=60, cwd=scratch,
                                  preexec_fn=lambda: limit and resource.setrlimit(limit, (bound, bound)))
        [report] = cfb.Result(done.returncode, done.stdout, done.stderr).rows["fixture"]
        return report["value"]

    def test_attempts_say_how_they_ended(self):
        """What is not forbidden here is done; what is limited here is reported."""
        self.assertEqual(self.attempt("socket"), "socket: done")
        self.assertEqual(self.attempt("read_other"), "read_other: done")
        self.assertEqual(self.attempt("read_other", CF_FIXTURE_PATH="/nonexistent"), "read_other: No such file or directory")
        self.assertEqual(self.attempt("exec", CF_FIXTURE_PATH="/nonexistent"), "exec: No such file or directory")
        self.assertEqual(self.attempt("forge_frames"), "0 descriptors: done")
        self.assertRegex(self.attempt("oom", resource.RLIMIT_AS, 64 << 20), r"^\d\d MiB of memory: Cannot allocate memory$")
        self.assertRegex(self.attempt("fill_scratch", resource.RLIMIT_FSIZE, 5 << 20), "^5 MiB of scratch: File too large$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
