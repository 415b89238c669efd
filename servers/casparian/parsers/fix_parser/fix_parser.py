"""fix_parser - FIX 4.x messages in log files.

A line may hold text before its first message, and several messages. Orders, executions and cancels
become rows of fix_order_lifecycle, messages of the session rows of fix_session_events, and what
cannot be read rows of fix_parse_errors. Environment: FIX_TZ, the zone of times (UTC), and
FIX_TAGS_ALLOWLIST, tags whose values fix_tags has, as in "58,9001".
"""

import datetime
import decimal
import hashlib
import os
import re
import zoneinfo

name = "fix_parser"
version = "1.2.0"
topics = ["fix"]
TOPIC = "fix_order_lifecycle"

outputs = {
    "fix_order_lifecycle": {"columns": [
        {"name": "source_path", "type": "string", "nullable": False},
        {"name": "line_number", "type": "int64", "nullable": False},
        {"name": "message_index", "type": "int64", "nullable": False},
        {"name": "raw_line_hash", "type": "string", "nullable": False},
        {"name": "source_fingerprint", "type": "string", "nullable": False},
        {"name": "__cf_row_id", "type": "int64", "nullable": False},
        {"name": "begin_string", "type": "string", "nullable": False},
        {"name": "body_length", "type": "int64"},
        {"name": "msg_type", "type": "string", "nullable": False},
        {"name": "msg_seq_num", "type": "int64"},
        {"name": "sending_time", "type": "timestamp_tz"},
        {"name": "sender_comp_id", "type": "string"},
        {"name": "target_comp_id", "type": "string"},
        {"name": "poss_dup_flag", "type": "string"},
        {"name": "orig_sending_time", "type": "timestamp_tz"},
        {"name": "sender_sub_id", "type": "string"},
        {"name": "target_sub_id", "type": "string"},
        {"name": "sender_location_id", "type": "string"},
        {"name": "target_location_id", "type": "string"},
        {"name": "cl_ord_id", "type": "string"},
        {"name": "orig_cl_ord_id", "type": "string"},
        {"name": "order_id", "type": "string"},
        {"name": "exec_id", "type": "string"},
        {"name": "secondary_cl_ord_id", "type": "string"},
        {"name": "cl_ord_link_id", "type": "string"},
        {"name": "symbol", "type": "string"},
        {"name": "side", "type": "string"},
        {"name": "security_id", "type": "string"},
        {"name": "security_id_source", "type": "string"},
        {"name": "currency", "type": "string"},
        {"name": "ord_type", "type": "string"},
        {"name": "time_in_force", "type": "string"},
        {"name": "order_qty", "type": "decimal(38,10)"},
        {"name": "price", "type": "decimal(38,10)"},
        {"name": "transact_time", "type": "timestamp_tz"},
        {"name": "exec_type", "type": "string"},
        {"name": "ord_status", "type": "string"},
        {"name": "cum_qty", "type": "decimal(38,10)"},
        {"name": "leaves_qty", "type": "decimal(38,10)"},
        {"name": "last_qty", "type": "decimal(38,10)"},
        {"name": "last_px", "type": "decimal(38,10)"},
        {"name": "avg_px", "type": "decimal(38,10)"},
        {"name": "lifecycle_event", "type": "string"},
        {"name": "account", "type": "string"},
        {"name": "acct_id_source", "type": "string"},
        {"name": "account_type", "type": "string"},
        {"name": "text", "type": "string"},
        {"name": "ord_rej_reason", "type": "string"},
        {"name": "cxl_rej_reason", "type": "string"},
        {"name": "business_reject_reason", "type": "string"},
        {"name": "ref_msg_type", "type": "string"},
        {"name": "ref_seq_num", "type": "int64"},
        {"name": "session_reject_reason", "type": "string"},
    ]},
    "fix_session_events": {"columns": [
        {"name": "source_path", "type": "string", "nullable": False},
        {"name": "line_number", "type": "int64", "nullable": False},
        {"name": "message_index", "type": "int64", "nullable": False},
        {"name": "raw_line_hash", "type": "string", "nullable": False},
        {"name": "source_fingerprint", "type": "string", "nullable": False},
        {"name": "__cf_row_id", "type": "int64", "nullable": False},
        {"name": "begin_string", "type": "string", "nullable": False},
        {"name": "body_length", "type": "int64"},
        {"name": "msg_type", "type": "string", "nullable": False},
        {"name": "msg_seq_num", "type": "int64"},
        {"name": "sending_time", "type": "timestamp_tz"},
        {"name": "sender_comp_id", "type": "string"},
        {"name": "target_comp_id", "type": "string"},
        {"name": "poss_dup_flag", "type": "string"},
        {"name": "orig_sending_time", "type": "timestamp_tz"},
        {"name": "sender_sub_id", "type": "string"},
        {"name": "target_sub_id", "type": "string"},
        {"name": "ref_msg_type", "type": "string"},
        {"name": "ref_seq_num", "type": "int64"},
        {"name": "business_reject_ref_id", "type": "string"},
        {"name": "business_reject_reason", "type": "string"},
        {"name": "session_reject_reason", "type": "string"},
        {"name": "text", "type": "string"},
        {"name": "cl_ord_id", "type": "string"},
        {"name": "order_id", "type": "string"},
        {"name": "exec_id", "type": "string"},
        {"name": "account", "type": "string"},
        {"name": "symbol", "type": "string"},
        {"name": "side", "type": "string"},
    ]},
    "fix_parse_errors": {"columns": [
        {"name": "source_path", "type": "string", "nullable": False},
        {"name": "line_number", "type": "int64", "nullable": False},
        {"name": "message_index", "type": "int64"},
        {"name": "raw_line_hash", "type": "string", "nullable": False},
        {"name": "source_fingerprint", "type": "string", "nullable": False},
        {"name": "error_reason", "type": "string", "nullable": False},
        {"name": "raw_line_preview", "type": "string", "nullable": False},
    ]},
    "fix_tags": {"columns": [
        {"name": "source_path", "type": "string", "nullable": False},
        {"name": "line_number", "type": "int64", "nullable": False},
        {"name": "message_index", "type": "int64", "nullable": False},
        {"name": "raw_line_hash", "type": "string", "nullable": False},
        {"name": "source_fingerprint", "type": "string", "nullable": False},
        {"name": "msg_type", "type": "string", "nullable": False},
        {"name": "tag", "type": "string", "nullable": False},
        {"name": "value", "type": "string", "nullable": False},
        {"name": "position", "type": "int64", "nullable": False},
    ]},
}

# Columns by the number of their tag.
ORDER_TAGS = (
    ("begin_string", "8"), ("body_length", "9"), ("msg_type", "35"), ("msg_seq_num", "34"),
    ("sending_time", "52"), ("sender_comp_id", "49"), ("target_comp_id", "56"),
    ("poss_dup_flag", "43"), ("orig_sending_time", "122"), ("sender_sub_id", "50"),
    ("target_sub_id", "57"), ("sender_location_id", "142"), ("target_location_id", "143"),
    ("cl_ord_id", "11"), ("orig_cl_ord_id", "41"), ("order_id", "37"), ("exec_id", "17"),
    ("secondary_cl_ord_id", "526"), ("cl_ord_link_id", "583"), ("symbol", "55"), ("side", "54"),
    ("security_id", "48"), ("security_id_source", "22"), ("currency", "15"), ("ord_type", "40"),
    ("time_in_force", "59"), ("order_qty", "38"), ("price", "44"), ("transact_time", "60"),
    ("exec_type", "150"), ("ord_status", "39"), ("cum_qty", "14"), ("leaves_qty", "151"),
    ("last_qty", "32"), ("last_px", "31"), ("avg_px", "6"), ("account", "1"),
    ("acct_id_source", "660"), ("account_type", "581"), ("text", "58"), ("ord_rej_reason", "103"),
    ("cxl_rej_reason", "102"), ("business_reject_reason", "380"), ("ref_msg_type", "372"),
    ("ref_seq_num", "45"), ("session_reject_reason", "373"),
)
SESSION_TAGS = (
    ("begin_string", "8"), ("body_length", "9"), ("msg_type", "35"), ("msg_seq_num", "34"),
    ("sending_time", "52"), ("sender_comp_id", "49"), ("target_comp_id", "56"),
    ("poss_dup_flag", "43"), ("orig_sending_time", "122"), ("sender_sub_id", "50"),
    ("target_sub_id", "57"), ("ref_msg_type", "372"), ("ref_seq_num", "45"),
    ("business_reject_ref_id", "379"), ("business_reject_reason", "380"),
    ("session_reject_reason", "373"), ("text", "58"), ("cl_ord_id", "11"), ("order_id", "37"),
    ("exec_id", "17"), ("account", "1"), ("symbol", "55"), ("side", "54"),
)

# A row of orders after its context, in the order of the declaration.
ORDER_BLANK = {column["name"]: None for column in outputs[TOPIC]["columns"][6:]}

ORDER_TYPES = frozenset("D8FG9H")
SESSION_TYPES = frozenset("A012345j")
DECIMALS = ("order_qty", "price", "cum_qty", "leaves_qty", "last_qty", "last_px", "avg_px")
TIMES = ("sending_time", "orig_sending_time", "transact_time")
INTEGERS = ("body_length", "msg_seq_num", "ref_seq_num")

EVENTS = {"D": "new_order", "F": "cancel_request", "G": "replace_request", "9": "cancel_reject",
          "H": "status_request"}
EXECUTIONS = {"0": "ack", "1": "partial_fill", "2": "fill", "4": "cancel", "5": "replace",
              "8": "reject"}

START = "8=FIX"
PREVIEW_MAX = 200
ROWS_MAX = 500  # that are collected before they are handed on
DIGITS_MAX = 38
INT_MAX = (1 << 63) - 1

TIME = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?", re.ASCII)
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
UNIT = decimal.Decimal("0.0000000001")
ROUNDING = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)


def zone_of_environment():
    zone = os.environ.get("FIX_TZ") or "UTC"
    return datetime.timezone.utc if zone == "UTC" else zoneinfo.ZoneInfo(zone)


def tags_of_environment():
    """The tags of fix_tags; none: the output does not exist."""
    items = (item.strip() for item in os.environ.get("FIX_TAGS_ALLOWLIST", "").split(","))
    return frozenset(item for item in items if item.isascii() and item.isdigit())


def fingerprint(path):
    try:
        found = os.stat(path)
    except OSError:
        return "unknown"
    text = f"{found.st_size}:{found.st_mtime_ns}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def time_of(text, zone):
    match = TIME.fullmatch(text)
    if match is None:
        return None
    *parts, fraction = match.groups()
    try:
        return datetime.datetime(*map(int, parts), int((fraction or "0").ljust(6, "0")), zone)
    except ValueError:
        return None


def integer_of(text):
    if INTEGER.fullmatch(text) is None or len(text) > 20:
        return None
    number = int(text)
    return number if -INT_MAX - 1 <= number <= INT_MAX else None


def decimal_of(column, text, warnings):
    """A number with ten digits behind the point; what is wrong with it becomes a warning."""
    number = None
    if DECIMAL.fullmatch(text.strip()) is not None:
        try:
            number = decimal.Decimal(text)
        except decimal.InvalidOperation:
            pass
    if number is None or not number.is_finite():
        warnings.append(f"Invalid decimal: field={column} value={text}")
        return None
    rounded = number.quantize(UNIT, context=ROUNDING) if number.adjusted() < DIGITS_MAX else None
    if rounded is None or len(rounded.as_tuple().digits) > DIGITS_MAX:
        warnings.append(f"Decimal overflow: field={column} value={text}")
        return None
    if rounded != number:
        warnings.append(f"Decimal rounded: field={column} value={text} rounded={rounded:f}")
    return rounded


def delimiter_of(message):
    for delimiter in ("\x01", "|", "^A"):
        if delimiter in message:
            return delimiter
    first = message.split()[:3]
    return " " if len(first) == 3 and all("=" in part for part in first) else "|"


def fields_of(message):
    """Tags and values in their order."""
    pairs = (part.partition("=") for part in message.split(delimiter_of(message)))
    return [(tag.strip(), value) for tag, equals, value in pairs if equals]


def messages_of(text):
    """The messages of a line, without what stands before the first."""
    at = text.find(START)
    while at >= 0:
        after = text.find(START, at + len(START))
        yield text[at:after if after >= 0 else len(text)].strip()
        at = after


def lifecycle_event(kind, tags):
    if kind != "8":
        return EVENTS[kind]
    event = EXECUTIONS.get(tags.get("150"))
    if event is None:
        event = "reject" if tags.get("39") == "8" else "exec_report"
    return event


class File:
    """Collects the rows of one file."""

    def __init__(self, path):
        self.path, self.fingerprint = path, fingerprint(path)
        self.zone, self.allowed = zone_of_environment(), tags_of_environment()
        names = [output for output in outputs if output != "fix_tags" or self.allowed]
        self.rows = {output: [] for output in names}

    def context(self, line, index, line_hash):
        return {"source_path": self.path, "line_number": line, "message_index": index,
                "raw_line_hash": line_hash, "source_fingerprint": self.fingerprint}

    def error(self, context, reason, text):
        row = dict(context, error_reason=reason, raw_line_preview=text[:PREVIEW_MAX])
        self.rows["fix_parse_errors"].append(row)

    def columns(self, row, columns, tags):
        for column, tag in columns:
            row[column] = tags.get(tag)
            if row[column] == "":
                row[column] = None
        for column in TIMES:
            if row.get(column) is not None:
                row[column] = time_of(row[column], self.zone)
        for column in INTEGERS:
            if row.get(column) is not None:
                row[column] = integer_of(row[column])

    def order(self, context, kind, tags, message):
        row = {**context, "__cf_row_id": context["line_number"], **ORDER_BLANK}
        self.columns(row, ORDER_TAGS, tags)
        row["lifecycle_event"] = lifecycle_event(kind, tags)
        warnings = []
        for column in DECIMALS:
            if row[column] is not None:
                row[column] = decimal_of(column, row[column], warnings)
        self.rows["fix_order_lifecycle"].append(row)
        for warning in warnings:
            self.error(context, warning, message)

    def session(self, context, tags):
        row = dict(context, __cf_row_id=context["line_number"])
        self.columns(row, SESSION_TAGS, tags)
        self.rows["fix_session_events"].append(row)

    def tags(self, context, kind, fields):
        for position, (tag, value) in enumerate(fields, 1):
            if tag in self.allowed:
                row = dict(context, msg_type=kind, tag=tag, value=value, position=position)
                self.rows["fix_tags"].append(row)

    def message(self, context, message):
        fields = fields_of(message)
        tags = dict(fields)
        kind = tags.get("35")
        if not kind:
            self.error(context, "Missing msg_type (tag 35)", message)
            return
        if self.allowed:
            self.tags(context, kind, fields)
        if kind in ORDER_TYPES:
            self.order(context, kind, tags, message)
        elif kind in SESSION_TYPES:
            self.session(context, tags)

    def line(self, number, raw):
        line_hash = hashlib.sha256(raw.rstrip(b"\r\n")).hexdigest()
        text = raw.decode("utf-8", "replace").strip()
        index = -1
        for index, message in enumerate(messages_of(text)):
            self.message(self.context(number, index, line_hash), message)
        if index < 0 and "=" in text:
            self.error(self.context(number, None, line_hash),
                       "No FIX message found (missing 8=FIX prefix)", text)

    def take(self, least):
        """The rows of outputs that have so many, or all."""
        for output, rows in self.rows.items():
            if len(rows) >= least:
                self.rows[output] = []
                yield output, rows


def parse(file_path):
    file = File(file_path)
    yield from file.take(0)  # every output exists, also without rows
    with open(file_path, "rb") as lines:
        for number, raw in enumerate(lines, 1):
            file.line(number, raw)
            yield from file.take(ROWS_MAX)
    yield from file.take(1)
