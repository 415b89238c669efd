"""Holds the conversion of cells against a second reading of the data page (3.4, L1 to L5) in Python.

usage: against_python.py PROBE [SEED [COUNT]]

Each question is a column of a schema and rows of it: every observed type meets every declared one.
Numbers, dates and zones are those of Python's float, decimal, datetime and zoneinfo.
"""
import base64
import datetime
import decimal
import json
import random
import re
import struct
import subprocess
import sys
import zoneinfo

probe, seed, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1, int(sys.argv[3]) if len(sys.argv) > 3 else 4000
rng = random.Random(seed)
decimal.getcontext().prec = 200
EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)
TYPE, FORMAT, NULL = "type_mismatch", "format_mismatch", "null_not_allowed"
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "+05:30"]
FORMATS = {
    "date": [None, "%d/%m/%Y", "%Y%m%d", "%m-%d-%y", "%d %b %Y"],
    "timestamp": [None, "%d/%m/%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y%m%d%H%M%S"],
    "timestamp_tz": [None, "%d/%b/%Y:%H:%M:%S %z", "%Y-%m-%d %H:%M:%S"],
    "time": [None, "%H%M%S", "%H:%M"],
}


# Texts of values.

def fraction(micros):
    return f".{micros:06}" if micros else ""


def show_time(micros):
    seconds, rest = divmod(micros, 10**6)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction(rest)}"


def show_moment(moment):
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}T{moment.hour:02}:{moment.minute:02}:{moment.second:02}{fraction(moment.microsecond)}"


def show_instant(micros, zone):
    if re.fullmatch(r"[+-]\d\d:\d\d", zone):
        hours, minutes = int(zone[:3]), int(zone[0] + zone[4:])
        of = datetime.timezone(datetime.timedelta(hours=hours, minutes=minutes))
    else:
        of = zoneinfo.ZoneInfo(zone)
    local = (EPOCH + micros * MICROSECOND).replace(tzinfo=datetime.timezone.utc).astimezone(of)
    offset = int(local.utcoffset().total_seconds()) // 60
    sign = "-" if offset < 0 else "+"
    return show_moment(local) + (f"{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}" if offset else "Z")


def show_duration(micros):
    seconds, rest = divmod(abs(micros), 10**6)
    tail = f".{rest:06}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}PT{seconds}{tail}S"


def bits(number):
    return "7ff8000000000000" if number != number else f"{struct.unpack('<Q', struct.pack('<d', number))[0]:016x}"


def show_decimal(value, scale):
    return f"{abs(value) if value == 0 else value:.{scale}f}"


# What a text is.

def text_moment(text, kind, pattern, zone):
    """Microseconds of a text; None: it does not fit."""
    if pattern:
        try:
            moment = datetime.datetime.strptime(text, pattern)
        except ValueError:
            return None
    else:
        forms = {"date": r"\d{4}-\d\d-\d\d", "timestamp": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?",
                 "timestamp_tz": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", "time": r"\d\d:\d\d:\d\d(\.\d{1,9})?"}
        if not re.fullmatch(forms[kind], text, re.ASCII):
            return None
        cut = re.sub(r"\.(\d+)", lambda found: "." + found[1][:6].ljust(6, "0"), text).replace("Z", "+00:00")
        try:
            moment = datetime.datetime.fromisoformat(f"1970-01-01T{cut}" if kind == "time" else cut)
        except ValueError:
            return None
    if kind == "time":
        return (moment.replace(year=1970, month=1, day=1) - EPOCH) // MICROSECOND
    if kind == "timestamp_tz" and moment.tzinfo is None:
        if re.fullmatch(r"[+-]\d\d:\d\d", zone):
            moment = moment.replace(tzinfo=datetime.datetime.strptime(zone, "%z").tzinfo)
        else:
            moment = moment.replace(tzinfo=zoneinfo.ZoneInfo(zone))
            # A time that the clocks skip is taken by the offset before, as fold 0 does.
    if moment.tzinfo:
        moment = moment.replace(tzinfo=None) - moment.utcoffset()
    return (moment - EPOCH) // MICROSECOND


def text_duration(text):
    found = re.fullmatch(r"(-?)P(?:(\d{1,18})D)?(T(?:(\d{1,18})H)?(?:(\d{1,18})M)?(?:(\d{1,18})(?:\.(\d{1,6}))?S)?)?", text, re.ASCII)
    if not found or text.endswith(("P", "T")):
        return None
    sign, days, _, hours, minutes, seconds, rest = found.groups()
    total = (int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)) * 10**6 + int((rest or "").ljust(6, "0"))
    return (-total if sign else total) if total < 2**63 else None


def show_temporal(kind, micros, zone):
    if kind == "time":
        return show_time(micros)
    if kind == "timestamp_tz":
        return show_instant(micros, zone)
    return show_moment(EPOCH + micros * MICROSECOND) if kind == "timestamp" else f"{EPOCH + micros * MICROSECOND:%Y-%m-%d}".rjust(10, "0")


def of_text(text, column):
    kind, precision, scale = column["kind"], column.get("precision"), column.get("scale")
    if kind == "string":
        return text
    if text == "":
        return "null" if column["nullable"] else NULL
    if kind in FORMATS:
        micros = text_moment(text, kind, column["format"], column.get("timezone"))
        return FORMAT if micros is None else show_temporal(kind, micros, column.get("timezone"))
    if kind == "int64" and re.fullmatch(r"-?(0|[1-9][0-9]{0,18})", text) and -2**63 <= int(text) < 2**63:
        return str(int(text))
    if kind == "float64":
        if text.lower() in ("nan", "inf", "-inf"):
            return bits(float(text))
        if re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", text) and abs(float(text)) != float("inf"):
            return bits(float(text))
    if kind == "boolean" and text.lower() in ("true", "yes", "t", "y", "1", "false", "no", "f", "n", "0"):
        return "true" if text.lower() in ("true", "yes", "t", "y", "1") else "false"
    if kind == "decimal" and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        whole, _, rest = text.lstrip("-").partition(".")
        if len(rest) <= scale and len(whole.lstrip("0")) + scale <= precision:
            return show_decimal(decimal.Decimal(text), scale)
    if kind == "duration" and text_duration(text) is not None:
        return show_duration(text_duration(text))
    return TYPE


def of_number(value, column):
    """An integer or a decimal."""
    if column["kind"] == "float64":
        return bits(float(value))
    if column["kind"] == "decimal":
        scaled = decimal.Decimal(value).scaleb(column["scale"])
        if scaled == scaled.to_integral_value() and abs(scaled) < 10 ** column["precision"]:
            return show_decimal(decimal.Decimal(value), column["scale"])
    return TYPE


def convert(cell, column):
    kind = column["kind"]
    if cell is None:
        return "null" if column["nullable"] else NULL
    if isinstance(cell, str):
        return TYPE if kind == "binary" and cell else of_text(cell, column)
    if isinstance(cell, bool):
        return ("true" if cell else "false") if kind == "boolean" else TYPE
    if isinstance(cell, int):
        return str(cell) if kind == "int64" else of_number(cell, column)
    if isinstance(cell, float):
        return bits(cell) if kind == "float64" else TYPE
    [(observed, value)] = cell.items()
    if observed == "decimal":
        return of_number(value, column)
    if observed == "date" and kind == "timestamp":
        return show_temporal("timestamp", value * 86400 * 10**6, None)
    if observed != kind:
        return TYPE
    if kind == "binary":
        return base64.b64encode(value.encode()).decode()
    if kind == "date":
        return show_temporal("date", value * 86400 * 10**6, None)
    if kind == "duration":
        return show_duration(value)
    if kind == "time" and not 0 <= value < 86400 * 10**6:
        return TYPE
    return show_temporal(kind, value, column.get("timezone"))


# Questions.

def random_column():
    kind = rng.choice(["string", "int64", "float64", "boolean", "decimal", "date", "timestamp", "timestamp_tz", "time", "duration", "binary"])
    column = {"kind": kind, "nullable": rng.random() < 0.5, "format": rng.choice(FORMATS.get(kind, [None]))}
    if kind == "decimal":
        column["precision"] = rng.choice([1, 6, 18, 19, 38])
        column["scale"] = rng.randrange(0, min(column["precision"], 12) + 1)
    if kind == "timestamp_tz":
        column["timezone"] = rng.choice(ZONES)
    return column


def digits(most):
    return "".join(rng.choice("0123456789") for _ in range(rng.randrange(0, most)))


def spoil(text):
    if rng.random() < 0.75 or not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(["", "0", "9", ".", "-", "x", "e", " "]) + text[at + rng.randrange(2):]


def random_text(column):
    moment = datetime.datetime(rng.randrange(1971, 2068), rng.randrange(1, 13), rng.randrange(1, 29), rng.randrange(24), rng.randrange(60),
                               rng.randrange(60), rng.choice([0, 0, rng.randrange(10**6)]), datetime.timezone(datetime.timedelta(minutes=rng.choice([0, 60, -300, 330]))))
    if column["format"] and rng.random() < 0.7:
        return spoil(moment.strftime(column["format"]))
    naive = moment.replace(tzinfo=None)
    return spoil(rng.choice([
        rng.choice(["", "-"]) + digits(22), rng.choice(["", "-"]) + digits(8) + "." + digits(8), digits(17) + "e" + rng.choice(["", "-", "+"]) + digits(3),
        rng.choice(["true", "No", "T", "y", "0", "1", "YES", "maybe"]), rng.choice(["nan", "Inf", "-INF", "", "N/A"]),
        rng.choice(["", "-"]) + "P" + rng.choice(["", "3D"]) + rng.choice(["", "T5H", "T4M2.5S", "T0.000001S", "T", "T3S2M"]),
        f"{naive:%Y-%m-%d}", naive.isoformat(rng.choice("T ")), moment.isoformat(rng.choice("T ")).replace("+00:00", rng.choice(["Z", "+00:00"])),
        f"{naive:%H:%M:%S}", f"{naive:%H:%M:%S.%f}",
    ]))


def random_cell(column):
    choice = rng.randrange(20)
    if choice < 9:
        return random_text(column)
    if choice == 9:
        return None
    if choice == 10:
        return rng.random() < 0.5
    if choice < 13:
        return rng.choice([rng.randrange(-1000, 1000), rng.randrange(-2**63, 2**63)])
    if choice == 13:
        return rng.choice([3.0, 0.1, -2.5, 1e300])
    if choice < 16:
        return {"decimal": (rng.choice(["", "-"]) + "1" + digits(12) + rng.choice(["", "." + digits(6) + "0"]))}
    kind = rng.choice(["date", "timestamp", "timestamp_tz", "time", "duration", "binary"])
    return {kind: "ab\u00fc" if kind == "binary" else rng.randrange(0, 30000) if kind == "date" else rng.choice([-1, 0, 1]) * rng.randrange(0, 2 * 10**11)}


def leaves_python(text, column):
    """What differs on purpose (schema/against_python.py): blanks, seconds of 60 and 61, fractions of more than six digits; and
    offsets with seconds of the time before standard time, which a text shows in minutes."""
    if column["kind"] == "timestamp_tz" and re.match(r"[01]\d{3}", convert(text, column)) and convert(text, column) < "1950":
        return True
    return isinstance(text, str) and column["kind"] in FORMATS and (re.search(r"6[01]|\d{7}\.|\.\d{7}|  |[+-]\d\d:?\d\d:?\d", text) or text.strip() != text or
                                                                   (column["format"] and (" " in column["format"]) != (" " in text)) or
                                                                   (column["format"] and re.search(r"\d \d|^ | $", text)))


questions, expected = [], []
for _ in range(count):
    column = random_column()
    declared = {"name": "x", "nullable": column["nullable"], "type": {key: column[key] for key in ("kind", "precision", "scale", "timezone") if key in column}}
    if column["format"]:
        declared["format"] = column["format"]
    cells = [cell for cell in (random_cell(column) for _ in range(rng.choice([1, 9]))) if not leaves_python(cell, column)]
    if rng.random() < 0.4:
        cells = [cell for cell in cells if isinstance(cell, str)]
    if not cells:
        continue
    questions.append(json.dumps(declared) + "\t" + json.dumps([{"x": cell} for cell in cells]))
    expected.append([convert(cell, column) for cell in cells])

answers = subprocess.run([probe], input="\n".join(questions) + "\n", capture_output=True, text=True, check=True).stdout.splitlines()
wrong = [(question, want, got) for question, want, got in zip(questions, expected, answers, strict=True) if "\t".join(want) != re.sub("[7f]ff8000000000000", "7ff8000000000000", got)]
for question, want, got in wrong[:5]:
    print(f"seed {seed}: {question}\n  Python {want}\n  ours   {got.split(chr(9))}")
sys.exit(f"{len(wrong)} of {len(questions)} columns are converted otherwise") if wrong else print(f"{len(questions)} columns agree")
