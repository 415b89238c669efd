"""hl7_v2 - HL7 v2.x messages in files: admissions, orders and results.

Segments end with CR, LF or both; MLLP framing and batch envelopes are left out. A message begins
with MSH, which says which characters separate its fields, components and repetitions. Of a field
that repeats the first counts; value_string of an observation has all of them. Times are those of
the wall clock; an offset is not applied.
"""

import datetime
import hashlib
import json
import re

name = "hl7_v2"
version = "0.1.0"
topics = ["hl7"]
TOPIC = "hl7_messages"

outputs = {
    "hl7_messages": {"columns": [
        {"name": "message_id", "type": "string", "nullable": False},
        {"name": "message_datetime", "type": "timestamp"},
        {"name": "message_type", "type": "string"},
        {"name": "trigger_event", "type": "string"},
        {"name": "message_structure", "type": "string"},
        {"name": "hl7_version", "type": "string"},
        {"name": "sending_application", "type": "string"},
        {"name": "sending_facility", "type": "string"},
        {"name": "receiving_application", "type": "string"},
        {"name": "receiving_facility", "type": "string"},
        {"name": "processing_id", "type": "string"},
        {"name": "patient_id", "type": "string"},
        {"name": "segment_count", "type": "int64"},
        {"name": "raw_message_hash", "type": "string"},
        {"name": "parse_warnings", "type": "string"},
        {"name": "source_line", "type": "int64"},
    ]},
    "hl7_patients": {"columns": [
        {"name": "patient_id", "type": "string"},
        {"name": "patient_id_type", "type": "string"},
        {"name": "patient_id_authority", "type": "string"},
        {"name": "name_family", "type": "string"},
        {"name": "name_given", "type": "string"},
        {"name": "name_middle", "type": "string"},
        {"name": "birth_date", "type": "date"},
        {"name": "birth_date_raw", "type": "string"},
        {"name": "gender", "type": "string"},
        {"name": "race", "type": "string"},
        {"name": "address_street", "type": "string"},
        {"name": "address_city", "type": "string"},
        {"name": "address_state", "type": "string"},
        {"name": "address_zip", "type": "string"},
        {"name": "address_country", "type": "string"},
        {"name": "phone_home", "type": "string"},
        {"name": "marital_status", "type": "string"},
        {"name": "ssn", "type": "string"},
        {"name": "death_indicator", "type": "boolean"},
        {"name": "death_datetime", "type": "timestamp"},
        {"name": "message_id", "type": "string"},
        {"name": "message_datetime", "type": "timestamp"},
    ]},
    "hl7_visits": {"columns": [
        {"name": "visit_id", "type": "string"},
        {"name": "patient_id", "type": "string"},
        {"name": "visit_class", "type": "string"},
        {"name": "location_unit", "type": "string"},
        {"name": "location_room", "type": "string"},
        {"name": "location_bed", "type": "string"},
        {"name": "location_facility", "type": "string"},
        {"name": "admission_type", "type": "string"},
        {"name": "attending_id", "type": "string"},
        {"name": "attending_name", "type": "string"},
        {"name": "hospital_service", "type": "string"},
        {"name": "admit_datetime", "type": "timestamp"},
        {"name": "admit_datetime_raw", "type": "string"},
        {"name": "discharge_datetime", "type": "timestamp"},
        {"name": "discharge_datetime_raw", "type": "string"},
        {"name": "discharge_disposition", "type": "string"},
        {"name": "event_type", "type": "string"},
        {"name": "message_id", "type": "string"},
        {"name": "message_datetime", "type": "timestamp"},
    ]},
    "hl7_orders": {"columns": [
        {"name": "order_id", "type": "string"},
        {"name": "filler_order_id", "type": "string"},
        {"name": "patient_id", "type": "string"},
        {"name": "visit_id", "type": "string"},
        {"name": "universal_service_id", "type": "string"},
        {"name": "universal_service_text", "type": "string"},
        {"name": "universal_service_system", "type": "string"},
        {"name": "order_datetime", "type": "timestamp"},
        {"name": "results_datetime", "type": "timestamp"},
        {"name": "result_status", "type": "string"},
        {"name": "ordering_provider_id", "type": "string"},
        {"name": "message_id", "type": "string"},
    ]},
    "hl7_observations": {"columns": [
        {"name": "observation_id", "type": "string"},
        {"name": "patient_id", "type": "string"},
        {"name": "visit_id", "type": "string"},
        {"name": "order_id", "type": "string"},
        {"name": "filler_order_id", "type": "string"},
        {"name": "observation_code", "type": "string"},
        {"name": "observation_code_text", "type": "string"},
        {"name": "observation_code_system", "type": "string"},
        {"name": "value_type", "type": "string"},
        {"name": "value_numeric", "type": "float64"},
        {"name": "value_string", "type": "string"},
        {"name": "value_coded", "type": "string"},
        {"name": "value_coded_text", "type": "string"},
        {"name": "units", "type": "string"},
        {"name": "reference_range", "type": "string"},
        {"name": "abnormal_flags", "type": "string"},
        {"name": "result_status", "type": "string"},
        {"name": "observation_datetime", "type": "timestamp"},
        {"name": "message_id", "type": "string"},
    ]},
    "hl7_errors": {"columns": [
        {"name": "source_line", "type": "int64"},
        {"name": "error_type", "type": "string"},
        {"name": "error_message", "type": "string"},
        {"name": "raw_preview", "type": "string"},
    ]},
}

# Where columns of a segment come from: field, and component; 0 is all components.
PATIENT = (
    ("patient_id", 3, 1), ("patient_id_type", 3, 5), ("patient_id_authority", 3, 4),
    ("name_family", 5, 1), ("name_given", 5, 2), ("name_middle", 5, 3), ("birth_date_raw", 7, 1),
    ("gender", 8, 1), ("race", 10, 1), ("address_street", 11, 1), ("address_city", 11, 3),
    ("address_state", 11, 4), ("address_zip", 11, 5), ("address_country", 11, 6),
    ("phone_home", 13, 1), ("marital_status", 16, 1), ("ssn", 19, 1),
)
VISIT = (
    ("visit_id", 19, 1), ("visit_class", 2, 1), ("location_unit", 3, 1), ("location_room", 3, 2),
    ("location_bed", 3, 3), ("location_facility", 3, 4), ("admission_type", 4, 1),
    ("attending_id", 7, 1), ("hospital_service", 10, 1), ("admit_datetime_raw", 44, 1),
    ("discharge_datetime_raw", 45, 1), ("discharge_disposition", 36, 1),
)
ORDER = (
    ("order_id", 2, 1), ("filler_order_id", 3, 1), ("universal_service_id", 4, 1),
    ("universal_service_text", 4, 2), ("universal_service_system", 4, 3), ("result_status", 25, 1),
    ("ordering_provider_id", 16, 1),
)
OBSERVATION = (
    ("observation_code", 3, 1), ("observation_code_text", 3, 2), ("observation_code_system", 3, 3),
    ("value_type", 2, 1), ("value_coded", 5, 1), ("value_coded_text", 5, 2),
    ("units", 6, 1), ("reference_range", 7, 1), ("abnormal_flags", 8, 1), ("result_status", 11, 1),
)
HEADER = (
    ("message_type", 9, 1), ("trigger_event", 9, 2), ("message_structure", 9, 3),
    ("hl7_version", 12, 1), ("sending_application", 3, 1), ("sending_facility", 4, 1),
    ("receiving_application", 5, 1), ("receiving_facility", 6, 1), ("processing_id", 11, 1),
)

ENVELOPES = ("FHS", "BHS", "BTS", "FTS")
FRAMING = "\x0b\x1c"
PREVIEW_MAX = 200
ROWS_MAX = 500  # that are collected before they are handed on
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)", re.ASCII)
TIME = re.compile(r"(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:\.(\d{1,4}))?(?:[+-]\d{4})?",
                  re.ASCII)


class Broken(Exception):
    """A message that cannot be read."""


class Separators:
    """The characters of MSH-1 and MSH-2."""

    def __init__(self, header):
        if len(header) < 5:
            raise Broken("MSH has no field separator and encoding characters")
        self.field = header[3]
        given = header[4:].split(self.field)[0]
        given += "^~\\&"[len(given):]
        self.component, self.repetition, self.escape, self.sub = given[:4]
        self.escapes = {"F": self.field, "S": self.component, "T": self.sub, "R": self.repetition,
                        "E": self.escape, ".br": "\n"}
        escape = re.escape(self.escape)
        self.pattern = re.compile(f"{escape}([^{escape}]*){escape}")

    def unescape(self, text):
        if self.escape not in text:
            return text
        return self.pattern.sub(lambda match: self.escapes.get(match[1], match[0]), text)


class Segment:
    """A segment; field n of MSH is one place further left, since MSH-1 is the separator itself."""

    def __init__(self, line, separators):
        self.separators = separators
        self.fields = line.split(separators.field)
        self.kind = self.fields[0]
        if self.kind == "MSH":
            self.fields.insert(1, separators.field)

    def get(self, field, component):
        """A component as text; None where there is none. HL7's explicit null is two quotes."""
        text = self.fields[field] if field < len(self.fields) else ""
        text = text.split(self.separators.repetition)[0]
        if component:
            parts = text.split(self.separators.component)
            text = parts[component - 1] if component <= len(parts) else ""
            text = text.split(self.separators.sub)[0]
        return None if text in ("", '""') else self.separators.unescape(text)

    def whole(self, field):
        """All repetitions of a field as text, with the character between them."""
        text = self.fields[field] if field < len(self.fields) else ""
        repetition = self.separators.repetition
        return None if text in ("", '""') else \
            repetition.join(map(self.separators.unescape, text.split(repetition)))

    def columns(self, table):
        return {column: self.get(field, component) for column, field, component in table}


class Message:
    """Rows of one message, as its segments come."""

    def __init__(self, line, number):
        self.separators = Separators(line)
        header = Segment(line, self.separators)
        self.line, self.lines, self.warnings = number, [line], []
        self.rows = {output: [] for output in outputs}
        self.id = header.get(10, 1)
        if self.id is None:
            raise Broken("MSH-10, the id of the message, is empty")
        self.moment = self.time(header, 7, "MSH-7")
        self.header = header.columns(HEADER)
        self.patient = self.visit = self.order = self.filler = None

    def time(self, segment, field, what):
        """The time of a field; a date alone is its midnight."""
        text = segment.get(field, 1)
        found = time_of(text) if text else None
        if text and found is None:
            self.warnings.append(f"{what} is no date with a day: {text}"[:PREVIEW_MAX])
        return found

    def add(self, line):
        self.lines.append(line)
        segment = Segment(line, self.separators)
        read = {"PID": self.pid, "PV1": self.pv1, "OBR": self.obr, "OBX": self.obx}.get(segment.kind)
        if read:
            read(segment)

    def pid(self, segment):
        row = segment.columns(PATIENT)
        birth = self.time(segment, 7, "PID-7")
        row["birth_date"] = birth.date() if birth else None
        row["death_indicator"] = {"Y": True, "N": False}.get(segment.get(30, 1))
        row["death_datetime"] = self.time(segment, 29, "PID-29")
        self.patient = row["patient_id"]
        self.emit("hl7_patients", row)

    def pv1(self, segment):
        row = segment.columns(VISIT)
        names = [part for part in (segment.get(7, 2), segment.get(7, 3)) if part]
        row["attending_name"] = " ".join(names) or None
        row["admit_datetime"] = self.time(segment, 44, "PV1-44")
        row["discharge_datetime"] = self.time(segment, 45, "PV1-45")
        row["event_type"] = self.header["trigger_event"]
        self.visit = row["visit_id"]
        self.emit("hl7_visits", row)

    def obr(self, segment):
        row = segment.columns(ORDER)
        row["order_datetime"] = self.time(segment, 7, "OBR-7")
        row["results_datetime"] = self.time(segment, 22, "OBR-22")
        self.order, self.filler = row["order_id"], row["filler_order_id"]
        self.emit("hl7_orders", row)

    def obx(self, segment):
        row = segment.columns(OBSERVATION)
        row["observation_id"] = f"{self.id}-{segment.get(1, 1) or ''}"
        row["value_string"] = segment.whole(5)
        row["value_numeric"] = number_of(segment.get(5, 0)) if row["value_type"] == "NM" else None
        row["observation_datetime"] = self.time(segment, 14, "OBX-14")
        self.emit("hl7_observations", row)

    def emit(self, output, values):
        """Add what all rows of a message have, in the order of the declaration."""
        known = {"patient_id": self.patient, "visit_id": self.visit, "order_id": self.order,
                 "filler_order_id": self.filler, "message_id": self.id,
                 "message_datetime": self.moment}
        names = (column["name"] for column in outputs[output]["columns"])
        self.rows[output].append({name: values[name] if name in values else known[name]
                                  for name in names})

    def finish(self):
        raw = "\r".join(self.lines).encode("utf-8", "surrogateescape")
        warnings = json.dumps(self.warnings, ensure_ascii=False) if self.warnings else None
        self.emit("hl7_messages", {**self.header, "segment_count": len(self.lines),
                                   "raw_message_hash": hashlib.sha256(raw).hexdigest(),
                                   "parse_warnings": warnings, "source_line": self.line})
        return self.rows


def time_of(text):
    """A date, perhaps with a time; None where it is less than a day or no date."""
    match = TIME.fullmatch(text)
    if match is None or match[3] is None:
        return None
    *parts, fraction = match.groups()
    try:
        return datetime.datetime(*(int(part or 0) for part in parts),
                                 int((fraction or "0").ljust(6, "0")))
    except ValueError:
        return None


def number_of(text):
    return float(text) if text and NUMBER.fullmatch(text) else None


class File:
    """Messages of one file, and the rows that were not handed on yet."""

    def __init__(self):
        self.rows = {output: [] for output in outputs}
        self.message = None
        self.is_lost = False  # since a line that belongs to no message

    def error(self, number, kind, text, line):
        self.rows["hl7_errors"].append({"source_line": number, "error_type": kind,
                                        "error_message": text, "raw_preview": line[:PREVIEW_MAX]})

    def begin(self, number, line):
        self.end()
        try:
            self.message = Message(line, number)
            self.is_lost = False
        except Broken as error:
            self.error(number, "PARSE_ERROR", str(error), line)
            self.is_lost = True

    def end(self):
        if self.message:
            for output, rows in self.message.finish().items():
                self.rows[output] += rows
        self.message = None

    def line(self, number, line):
        line = line.strip("\r\n" + FRAMING)
        if not line.strip() or line.startswith(ENVELOPES):
            return
        if any("\udc80" <= c <= "\udcff" for c in line):
            line = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            self.error(number, "ENCODING_ERROR", "bytes that are not UTF-8 were replaced", line)
        if line.startswith("MSH"):
            self.begin(number, line)
        elif self.message:
            self.message.add(line)
        elif not self.is_lost:
            self.error(number, "MISSING_MSH", "a segment before the first MSH", line)
            self.is_lost = True

    def take(self, least):
        for output, rows in self.rows.items():
            if len(rows) >= least:
                self.rows[output] = []
                yield output, rows


def parse(file_path):
    file = File()
    yield from file.take(0)  # every output exists, also without rows
    with open(file_path, encoding="utf-8", errors="surrogateescape", newline=None) as lines:
        for number, line in enumerate(lines, 1):
            file.line(number, line)
            yield from file.take(ROWS_MAX)
    file.end()
    yield from file.take(1)
