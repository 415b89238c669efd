"""evtx_native on logs of tests/support/evtx_writer.py, whose values are known.

usage: evtx.py PLUGINS TEST_PLUGINS
"""
import hashlib
import json
import os
import struct
import sys
import tempfile
import unittest
import uuid

SOURCE = os.environ["CAUSEWAY_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import cfb  # noqa: E402
import evtx_writer  # noqa: E402
from evtx_writer import Sub  # noqa: E402

PLUGIN = os.path.join(sys.argv[1], "evtx_native", "0.1.0", "evtx_native")
MOMENT_US = 1715933741123456 # 2024-05-17T08:15:41.123456Z
FILETIME = (MOMENT_US + 11644473600000000) * 10 + 7 # 100 ns since 1601
GUID = "54849625-5478-4994-a5ba-3e3b0328c30d"
SID = b"\1\5" + (5).to_bytes(6, "big") + struct.pack("<5I", 21, 1, 2, 3, 1001)


def wide(text):
    return 1, text.encode("utf-16-le")


def system(event_id=Sub(0)):
    return ("System", None, [
        ("Provider", {"Name": "Test-Provider", "Guid": Sub(1)}), ("EventID", {"Qualifiers": Sub(2)}, [event_id]), ("Version", None, ["2"]),
        ("Level", None, ["4"]), ("Task", None, [Sub(9, True)]), ("Keywords", None, [Sub(3)]), ("TimeCreated", {"SystemTime": Sub(4)}),
        ("Execution", {"ProcessID": Sub(5), "ThreadID": "18"}), ("Channel", None, ["Security"]), ("Computer", None, [Sub(6)]),
        ("Security", {"UserID": Sub(7)})])


SYSTEM_VALUES = [(6, struct.pack("<H", 4624)), (15, uuid.UUID(GUID).bytes_le), (6, struct.pack("<H", 16384)),
                 (21, struct.pack("<Q", 0x8020000000000000)), (17, struct.pack("<Q", FILETIME)), (8, struct.pack("<I", 712)),
                 wide("Rechner-Ä.example"), (19, SID), (13, struct.pack("<I", 1)), (0, b"")]


class Evtx(unittest.TestCase):
    maxDiff = 4000

    def run_on(self, data, **variables):
        with tempfile.NamedTemporaryFile(suffix=".evtx") as file:
            file.write(data)
            file.flush()
            os.utime(file.name, ns=(MOMENT_US * 1000, MOMENT_US * 1000))
            self.path = file.name
            return cfb.run(PLUGIN, file.name, **variables)

    def data_of(self, values, names=None):
        """The key-value rows of one event with these values as its data."""
        names = names or [f"v{number:02}" for number in range(len(values))]
        data = [("Data", {"Name": name} if name else None, [Sub(10 + number)]) for number, name in enumerate(names)]
        template = ("Event", {"xmlns": "urn:test"}, [system(), ("EventData", None, data)])
        result = self.run_on(evtx_writer.log(template, [(1, FILETIME, SYSTEM_VALUES + values)]))
        self.assertEqual((result.status, result.rows["evtx_record_annotations"]), (0, []))
        return [{name: value for name, value in row.items() if value is not None and name not in ("event_record_id", "section")}
                for row in result.rows["evtx_eventdata_kv"]]

    def test_events_and_file(self):
        template = ("Event", {"xmlns": "urn:test"}, [system()])
        data = evtx_writer.log(template, [(number, FILETIME + number * 10, SYSTEM_VALUES) for number in range(1, 121)])
        result = self.run_on(data)
        self.assertEqual((result.status, result.rows["evtx_record_annotations"]), (0, []))
        rows = result.rows["evtx_events"]
        self.assertEqual([(row["event_record_id"], row["timestamp"]) for row in rows], [(number, MOMENT_US + number) for number in range(1, 121)])
        event = json.loads(rows[5].pop("raw_event_json"))["Event"]
        self.assertEqual(rows[5], {
            "event_record_id": 6, "timestamp": MOMENT_US + 6, "provider_name": "Test-Provider", "provider_guid": "{%s}" % GUID,
            "provider_event_source_name": None, "channel": "Security", "computer": "Rechner-Ä.example", "event_id": 4624,
            "event_qualifiers": 16384, "version": 2, "level": 4, "task": None, "opcode": None, "keywords_hex": "0x8020000000000000",
            "execution_process_id": 712, "execution_thread_id": 18, "security_user_id": "S-1-5-21-1-2-3-1001",
            "correlation_activity_id": None, "correlation_related_activity_id": None, "raw_event_xml": None})
        self.assertEqual(event["#attributes"], {"xmlns": "urn:test"})
        self.assertEqual(event["System"]["EventID"], {"#attributes": {"Qualifiers": "16384"}, "#text": "4624"})
        self.assertEqual(event["System"]["TimeCreated"]["#attributes"]["SystemTime"], "2024-05-17T08:15:41.123456Z")
        self.assertEqual(result.rows["evtx_files"], [{
            "file_path": self.path, "file_hash": hashlib.sha256(data).hexdigest(), "file_size": 4096 + 3 * 65536, "file_mtime": MOMENT_US,
            "record_count": 120, "parser_output_version": "0.1.0"}])
        self.assertIsNone(self.run_on(data, EVTX_INCLUDE_PATH="0").rows["evtx_files"][0]["file_path"])

    def test_values_by_type(self):
        values = [wide("text"), (2, b"ansi\xe9"), (3, b"\xff"), (4, b"\xff"), (5, b"\xfe\xff"), (6, b"\xfe\xff"), (7, struct.pack("<i", -7)),
                  (8, struct.pack("<I", 2**32 - 1)), (9, struct.pack("<q", -2**63)), (10, struct.pack("<Q", 2**64 - 1)), (11, struct.pack("<f", 0.5)),
                  (12, struct.pack("<d", -1.25)), (13, b"\1\0\0\0"), (13, bytes(4)), (14, b"\0\xab\x12"), (15, uuid.UUID(GUID).bytes_le),
                  (16, struct.pack("<Q", 255)), (17, struct.pack("<Q", FILETIME)), (18, struct.pack("<8H", 2024, 5, 5, 17, 8, 15, 41, 250)),
                  (19, SID), (20, struct.pack("<I", 0xC000006D)), (21, struct.pack("<Q", 2**63)), (0x81, "a\0b\0".encode("utf-16-le")),
                  (0x88, struct.pack("<3I", 1, 2, 3)), wide(""), wide("PT5M"), wide("2024-05-17T10:15:41+02:00"), wide("\U0001f600")]
        rows = self.data_of(values)
        self.assertEqual([row["value_raw"] for row in rows], [
            "text", "ansié", "-1", "255", "-2", "65534", "-7", "4294967295", "-9223372036854775808", "18446744073709551615", "0.5", "-1.25",
            "true", "false", "00AB12", "{%s}" % GUID, "0xff", "2024-05-17T08:15:41.123456Z", "2024-05-17T08:15:41.250000Z",
            "S-1-5-21-1-2-3-1001", "0xc000006d", "0x8000000000000000", "a,b", "1,2,3", "", "PT5M", "2024-05-17T10:15:41+02:00", "\U0001f600"])
        self.assertEqual([row["value_type"] for row in rows], [
            "string", "string", "int", "int", "int", "int", "int", "int", "int", "string", "string", "string", "bool", "bool", "string", "guid",
            "hex", "timestamp", "timestamp", "sid", "hex", "string", "string", "string", "empty", "duration", "timestamp", "string"])
        typed = {row["key"]: value for row in rows for name, value in row.items() if name in ("value_int64", "value_bool", "value_ts", "value_bytes")}
        self.assertEqual(typed, {
            "v02": -1, "v03": 255, "v04": -2, "v05": 65534, "v06": -7, "v07": 2**32 - 1, "v08": -2**63, "v12": True, "v13": False,
            "v14": b"\0\xab\x12", "v16": 255, "v17": MOMENT_US, "v18": MOMENT_US // 10**6 * 10**6 + 250000, "v20": 0xC000006D,
            "v26": MOMENT_US // 10**6 * 10**6})

    def test_keys_of_data(self):
        rows = self.data_of([wide("1"), wide("2"), wide("3"), wide("4")], ["Zeta", None, "Alpha", None])
        self.assertEqual([(row["key"], row.get("idx"), row["value_raw"]) for row in rows],
                         [("Alpha", None, "3"), ("Zeta", None, "1"), ("Data", 0, "2"), ("Data", 1, "4")])

    def test_user_data(self):
        template = ("Event", None, [system(), ("UserData", None, [
            ("Operation", {"kind": "a"}, [("Name", None, [Sub(6)]), ("Deep", None, [("Inner", {"x": "1"}, ["t"])]), ("Gone", None, [Sub(9, True)])])])])
        result = self.run_on(evtx_writer.log(template, [(9, FILETIME, SYSTEM_VALUES)]))
        self.assertEqual([(row["event_record_id"], row["section"], row["key"], row["value_raw"]) for row in result.rows["evtx_userdata_kv"]], [
            (9, "UserData", "Operation.#attributes.kind", "a"), (9, "UserData", "Operation.Name", "Rechner-Ä.example"),
            (9, "UserData", "Operation.Deep.Inner.#attributes.x", "1"), (9, "UserData", "Operation.Deep.Inner.#text", "t")])

    def test_fragments_as_values(self):
        """Data that are XML of their own, as embedded fragments."""
        template = ("Event", None, [system(), Sub(10, True)])
        data = ("EventData", None, [("Data", {"Name": "one"}, ["1"]), ("Data", {"Name": "nested"}, [("A", None, ["x"]), ("A", None, ["y"])])])
        records = [(number, FILETIME, SYSTEM_VALUES + [(33, data)]) for number in (1, 2)]
        result = self.run_on(evtx_writer.log(template, records))
        self.assertEqual(result.rows["evtx_record_annotations"], [])
        self.assertEqual([(row["event_record_id"], row["key"], row["value_raw"], row["value_type"]) for row in result.rows["evtx_eventdata_kv"]],
                         [(number, *rest) for number in (1, 2) for rest in (("nested", '{"#attributes":{"Name":"nested"},"A":["x","y"]}', "json"),
                                                                            ("one", "1", "int"))])

    def test_nesting_is_bounded(self):
        deep = "t"
        for _ in range(70):
            deep = ("D", None, [deep])
        result = self.run_on(evtx_writer.log(("Event", None, [system(), deep]), [(1, FILETIME, SYSTEM_VALUES)]))
        self.assertEqual([row["note_value"] for row in result.rows["evtx_record_annotations"]], ["the event is nested deeper than 64"])
        self.assertEqual(result.rows["evtx_events"][0]["event_id"], 4624)

    def test_damage_is_noted(self):
        template = ("Event", None, [system()])
        data = bytearray(evtx_writer.log(template, [(number, FILETIME, SYSTEM_VALUES) for number in range(1, 151)]))
        data[4096:4104] = b"Garbage!" # the first chunk
        data[4096 + 65536 + 52] ^= 1 # the checksum of the second chunk's records, which that of its header covers
        result = self.run_on(bytes(data) + b"cut")
        self.assertEqual([row["event_record_id"] for row in result.rows["evtx_events"]], list(range(51, 151)))
        self.assertEqual([(row["event_record_id"], row["note_value"]) for row in result.rows["evtx_record_annotations"]], [
            (0, "a chunk does not begin with ElfChnk; it is skipped"), (51, "the checksum of a chunk's header is wrong"),
            (51, "the checksum of a chunk's records is wrong"), (0, "the last chunk is cut; it is skipped")])
        self.assertEqual(result.rows["evtx_files"][0]["record_count"], 100)

    def test_a_cut_file_has_its_whole_records(self):
        template = ("Event", None, [system()])
        data = evtx_writer.log(template, [(number, FILETIME, SYSTEM_VALUES) for number in range(1, 61)])
        whole = [row["event_record_id"] for row in self.run_on(data).rows["evtx_events"]]
        self.assertEqual(whole, list(range(1, 61)))
        for cut in (len(data) - 1, len(data) - 65536 + 5000, len(data) - 65536 + 513, len(data) - 65536 + 100):
            result = self.run_on(data[:cut])
            rows = [row["event_record_id"] for row in result.rows["evtx_events"]]
            self.assertEqual((result.status, rows), (0, whole[:len(rows)]))
            self.assertGreaterEqual(len(rows), 50) # of the chunk that is whole
            self.assertIn("cut", result.rows["evtx_record_annotations"][0]["note_value"])
        self.assertGreater(len(self.run_on(data[:len(data) - 65536 + 5000]).rows["evtx_events"]), 50)

    def test_a_malformed_record_does_not_take_the_others(self):
        template = ("Event", None, [system()])
        data = bytearray(evtx_writer.log(template, [(number, FILETIME, SYSTEM_VALUES) for number in range(1, 21)]))
        at, starts = 4096 + 512, []
        while data[at:at + 4] == b"\x2a\x2a\0\0":
            starts.append(at)
            at += struct.unpack_from("<I", data, at + 4)[0]
        self.assertEqual(len(starts), 20)
        for field, value in ((0, b"xxxx"), (4, struct.pack("<I", 5)), (4, struct.pack("<I", 2**31))):
            damaged = bytearray(data)
            damaged[starts[7] + field:starts[7] + field + 4] = value
            result = self.run_on(bytes(damaged))
            self.assertEqual([row["event_record_id"] for row in result.rows["evtx_events"]], [n for n in range(1, 21) if n != 8])
            self.assertIn("a record is malformed; up to the next one is skipped",
                          [row["note_value"] for row in result.rows["evtx_record_annotations"]])

    def test_an_optional_null_drops_what_it_is_in(self):
        template = ("Event", None, [system(), ("UserData", None, [("Operation", {"kind": Sub(9, True), "of": "b"}, [("A", {"x": "1"}, [Sub(9, True)])])])])
        result = self.run_on(evtx_writer.log(template, [(9, FILETIME, SYSTEM_VALUES)]))
        self.assertEqual([(row["key"], row["value_raw"]) for row in result.rows["evtx_userdata_kv"]], [("Operation.#attributes.of", "b")])
        event = json.loads(result.rows["evtx_events"][0]["raw_event_json"])["Event"]
        self.assertEqual(event["UserData"], {"Operation": {"#attributes": {"of": "b"}}})
        self.assertNotIn("Task", event["System"])

    def test_every_byte_may_be_damaged(self):
        """Whatever byte is changed, the parser ends by itself and the log has rows or a reason."""
        template = ("Event", {"xmlns": "urn:test"}, [system(), ("EventData", None, [("Data", {"Name": "n"}, [Sub(6)])])])
        data = evtx_writer.log(template, [(number, FILETIME, SYSTEM_VALUES) for number in (1, 2, 3)])
        end = 4096 + struct.unpack_from("<I", data, 4096 + 48)[0]
        for at in list(range(4096 + 512, end, 7)) + list(range(0, 128, 3)) + list(range(4096, 4096 + 512, 11)):
            damaged = bytearray(data)
            damaged[at] ^= 0xFF
            result = self.run_on(bytes(damaged))
            self.assertIn(result.status, (0, 1), at)
            self.assertTrue(result.status == 0 or result.errors, at)

    def test_files_of_another_kind(self):
        for data, words in ((b"", "less than 4096 bytes"), (b"x" * 70000, "does not begin with ElfFile")):
            result = self.run_on(data)
            self.assertEqual(result.status, 1)
            self.assertIn(words, result.errors[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
