"""rows.py - rows of a Python plugin as frames: the form of each cell, and payloads of one output.

Rows are collected per output, and converted in small pieces, column by column. A piece whose
columns have one type each, of those in PACKED, is a payload of CFB1: its columns are packed by
functions of the interpreter, without work per cell. Other pieces are JSON (CFJ1), sent at 5,000
rows or 1 MiB; a column of strings, numbers within 64 bits and None needs no work per cell but the
JSON encoder's own.
"""

import _thread  # threading has work to do after each fork
import binascii
import codecs
import collections.abc
import datetime
import decimal
import enum
import itertools
import json
import math
import os
import struct

END, ERROR, LOG = 0, 0xFFFFFFFF, 0xFFFFFFFE
OUTPUT_START, OUTPUT_END, METRICS = 0xFFFFFFFD, 0xFFFFFFFC, 0xFFFFFFFB
OUTPUT_META, READY, EXIT = 0xFFFFFFFA, 0xFFFFFFF9, 0xFFFFFFF8

LEVEL_WARN = 4
PAYLOAD_MAX = 100 << 20
PAYLOAD_ROWS, PAYLOAD_BYTES = 5000, 1 << 20
PIECE_BYTES, PIECE_ROWS = 64 << 10, 1024
LOG_MAX = 64 << 10
MIXED_ROWS = 64  # below so many rows, rows with other keys join a payload as objects
INT_MAX = (1 << 63) - 1
DIGITS_MAX = 38
DECIMAL_END = 10 ** DIGITS_MAX

Mapping = collections.abc.Mapping

# Halves of surrogate pairs are no characters; open(path, errors="surrogateescape") makes them, too.
# "replace" would have question marks for them, which a text may have itself.
REPLACE = "casparian.replace"
codecs.register_error(REPLACE, lambda error: (b"\xef\xbf\xbd" * (error.end - error.start), error.end))


class Unsupported(Exception):
    """A cell has no form in a table."""


class TooLarge(Exception):
    """Rows do not fit into a frame."""


# ---- cells ----------------------------------------------------------------------------------------

encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False,
                               allow_nan=False).encode
encode_nested = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False,
                                 default=str).encode

EPOCH = datetime.datetime(1970, 1, 1)
EPOCH_UTC = EPOCH.replace(tzinfo=datetime.timezone.utc)
EPOCH_DAY = EPOCH.toordinal()
MICROSECOND = datetime.timedelta(microseconds=1)
NONE_TYPE = type(None)
PLAIN = frozenset((str, bool, NONE_TYPE))
NUMBERS = PLAIN | {int, float}
zone_names = {}


def int_cell(value, warn):
    if -INT_MAX - 1 <= value <= INT_MAX:
        return value
    if value.bit_length() > 4096:
        raise Unsupported(f"an integer of {value.bit_length()} bits")
    text = str(value)
    if len(text.lstrip("-")) <= DIGITS_MAX:
        return {"$n": text}
    warn("integers of more than 38 digits are sent as strings")
    return text


def infinite_text(number):
    return "nan" if number != number else "inf" if number > 0 else "-inf"


def float_cell(value, warn):
    if math.isfinite(value):
        return value
    return {"$f": infinite_text(value)}


def decimal_cell(value, warn):
    if not value.is_finite():
        warn("a Decimal that is not finite is sent as null")
        return None
    if abs(value.adjusted()) > 1000:
        warn("decimals of more than 38 digits are sent as strings")
        return str(value)
    text = format(value, "f")
    if len(text) > DIGITS_MAX and sum(map(str.isdigit, text.lstrip("-0."))) > DIGITS_MAX \
            or len(text) - text.find(".") - 1 > DIGITS_MAX and "." in text:
        warn("decimals of more than 38 digits are sent as strings")
        return text
    return {"$n": text}


def zone_name(value):
    zone = value.tzinfo
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if isinstance(name, str):
        return name
    seconds = round(value.utcoffset().total_seconds())
    if seconds == 0:
        return "UTC"
    minutes = abs(seconds) // 60
    return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def datetime_cell(value, warn):
    zone = value.tzinfo
    if zone is None or value.utcoffset() is None:
        since = (value if zone is None else value.replace(tzinfo=None)) - EPOCH
        return {"$ts": (since.days * 86400 + since.seconds) * 1000000 + since.microseconds}
    name = zone_names.get(zone)
    if name is None:
        name = zone_name(value)
        if getattr(zone, "key", None) or type(zone) is datetime.timezone:
            zone_names[zone] = name
    since = value - EPOCH_UTC
    return {"$tz": [(since.days * 86400 + since.seconds) * 1000000 + since.microseconds, name]}


def date_cell(value, warn):
    return {"$d": value.toordinal() - EPOCH_DAY}


def micros_of_day(value):
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * 1000000 + value.microsecond


def time_cell(value, warn):
    return {"$t": micros_of_day(value)}


def duration_cell(value, warn):
    micros = value // MICROSECOND
    if not -INT_MAX - 1 <= micros <= INT_MAX:
        raise Unsupported(f"a timedelta of {value.days} days")
    return {"$dur": micros}


def bytes_cell(value, warn):
    return {"$b": binascii.b2a_base64(value, newline=False).decode()}


def without_infinite(value):
    """A nested value whose numbers JSON has: NaN and infinities are texts, as in answers."""
    if isinstance(value, float):
        return value if math.isfinite(value) else infinite_text(value)
    if isinstance(value, dict):
        return {without_infinite(key): without_infinite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_infinite(item) for item in value]
    return value


def nested_text(value):
    try:
        return encode_nested(value)
    except ValueError as error:
        try:
            finite = without_infinite(value)
        except RecursionError:
            raise error from None  # it contains itself
        return encode_nested(finite)


def nested_cell(value, warn):
    warn("nested values are sent as JSON text")
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=repr)
    elif not isinstance(value, (dict, list, tuple)):
        value = dict(value)
    try:
        return nested_text(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Unsupported(f"a nested value that is no JSON: {error}") from None


def plain_cell(value, warn):
    return value


CELLS = {
    NONE_TYPE: plain_cell, bool: plain_cell, str: plain_cell, int: int_cell, float: float_cell,
    decimal.Decimal: decimal_cell, datetime.datetime: datetime_cell, datetime.date: date_cell,
    datetime.time: time_cell, datetime.timedelta: duration_cell, bytes: bytes_cell,
    bytearray: bytes_cell, memoryview: bytes_cell, dict: nested_cell, list: nested_cell,
    tuple: nested_cell, set: nested_cell, frozenset: nested_cell,
}
# Subclasses, after the types above: the order matters for datetime and date.
BASES = (
    (str, lambda value, warn: str.__str__(value)), (int, lambda value, warn: int_cell(int(value), warn)),
    (float, lambda value, warn: float_cell(float(value), warn)), (decimal.Decimal, decimal_cell),
    (datetime.datetime, datetime_cell), (datetime.date, date_cell), (datetime.time, time_cell),
    (datetime.timedelta, duration_cell), ((bytes, bytearray), bytes_cell),
    ((Mapping, list, tuple, set, frozenset), nested_cell),
)


def other_cell(value, warn):
    """A value whose type is none of CELLS."""
    kind = type(value)
    if kind.__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, enum.Enum):
        return cell(value.value, warn)
    if kind.__name__ == "ndarray":
        raise Unsupported("an array of numpy; its tolist() is sent as JSON text, or give each "
                          "value a row or a column of its own")
    if kind.__module__.split(".")[0] == "numpy" and hasattr(value, "item"):
        plain = value.item()
        if kind.__name__ in ("datetime64", "timedelta64") and isinstance(plain, int):
            plain = value.astype(f"{kind.__name__}[us]").item()  # it was of nanoseconds
        if type(plain) is not kind:
            return cell(plain, warn)
    for base, convert in BASES:
        if isinstance(value, base):
            return convert(value, warn)
    raise Unsupported(f"a value of type {kind.__name__}; convert it first, for example by str()")


def cell(value, warn):
    return CELLS.get(type(value), other_cell)(value, warn)


def column_cells(values, kinds, warn):
    """The cells of a column with values of these types; `values` itself where nothing has to
    change."""
    if kinds <= PLAIN:
        return values
    if kinds <= NUMBERS:
        for value in values:
            kind = type(value)
            if kind is int and not -INT_MAX - 1 <= value <= INT_MAX \
                    or kind is float and not math.isfinite(value):
                break
        else:
            return values
    if len(kinds) == 1:
        convert = CELLS.get(*kinds, other_cell)
        return [convert(value, warn) for value in values]
    find = CELLS.get
    return [find(type(value), other_cell)(value, warn) for value in values]


# ---- packed columns -------------------------------------------------------------------------------

class NotPacked(Exception):
    """Values that JSON has a form for, and a packed column has not."""


def padded(data):
    return data + bytes(-len(data) % 8)


# What makes a packed column of values of one type: its type, the precision and the scale of decimals,
# its zone, its buffer.

def pack_bools(values):
    return 1, 0, 0, b"", bytes(values)


def pack_ints(values):
    return 2, 0, 0, b"", struct.pack(f"<{len(values)}q", *values)


def pack_floats(values):
    return 3, 0, 0, b"", struct.pack(f"<{len(values)}d", *values)


# A number that has more digits is too long for a table, too.
WIDE = decimal.Context(prec=2 * DIGITS_MAX, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])


def exponents_of(values):
    first = values[0]
    if all(map(first.same_quantum, values)):
        return {first.as_tuple().exponent}
    return {value.as_tuple().exponent for value in values}


def pack_decimals(values):
    """With as many digits behind the point as the longest has."""
    exponents = exponents_of(values)
    if not all(type(one) is int and -DIGITS_MAX <= one <= DIGITS_MAX for one in exponents):
        raise NotPacked  # one is not finite, or too long
    scale = max(0, -min(exponents))
    numbers = list(map(int, map(WIDE.scaleb, values, itertools.repeat(scale))))
    largest = max(map(abs, numbers))
    if largest >= DECIMAL_END:
        raise NotPacked
    precision = max(len(str(largest)), scale)
    data = b"".join([number.to_bytes(16, "little", signed=True) for number in numbers])
    return 4, precision, scale, b"", data


def with_ends(values):
    ends = itertools.accumulate(map(len, values), initial=0)
    return padded(struct.pack(f"<{len(values) + 1}I", *ends))


def pack_texts(values):
    text = "".join(values)
    data = text.encode("utf-8", REPLACE)
    if len(data) != len(text):  # lengths in bytes are not those in characters
        values = [value.encode("utf-8", REPLACE) for value in values]
    return 5, 0, 0, b"", with_ends(values) + data


def pack_bytes(values):
    return 6, 0, 0, b"", with_ends(values) + b"".join(values)


def pack_dates(values):
    days = [value.toordinal() - EPOCH_DAY for value in values]
    return 7, 0, 0, b"", struct.pack(f"<{len(days)}i", *days)


def pack_micros(deltas):
    return struct.pack(f"<{len(deltas)}q", *[(delta.days * 86400 + delta.seconds) * 1000000 +
                                             delta.microseconds for delta in deltas])


def pack_datetimes(values):
    """Moments of no zone, or of UTC."""
    zone = values[0].tzinfo
    if any(value.tzinfo is not zone for value in values):
        raise NotPacked
    if zone is None:
        return 8, 0, 0, b"", pack_micros([value - EPOCH for value in values])
    if zone is datetime.timezone.utc:
        return 9, 0, 0, b"UTC", pack_micros([value - EPOCH_UTC for value in values])
    raise NotPacked


def pack_times(values):
    return 10, 0, 0, b"", struct.pack(f"<{len(values)}q", *map(micros_of_day, values))


def pack_durations(values):
    return 11, 0, 0, b"", pack_micros(values)


# By the type of the values: what packs them, and what is in the place of a None; None: another value.
PACKED = {
    bool: (pack_bools, False), int: (pack_ints, 0), float: (pack_floats, 0.0), str: (pack_texts, ""),
    decimal.Decimal: (pack_decimals, None), bytes: (pack_bytes, b""),
    datetime.date: (pack_dates, EPOCH.date()), datetime.datetime: (pack_datetimes, None),
    datetime.time: (pack_times, datetime.time()), datetime.timedelta: (pack_durations, MICROSECOND),
}
PACKED_NULL = (lambda values: (0, 0, 0, b"", b""), None)


def packed_form(kinds):
    """The row of PACKED for a column with values of these types; None: it cannot be packed."""
    types = kinds - {NONE_TYPE}
    return PACKED.get(*types) if len(types) == 1 else None if types else PACKED_NULL


def validity(values):
    """A bit per value, from the lowest: whether it is not None."""
    bits = "".join(["0" if value is None else "1" for value in reversed(values)])
    return padded(int(bits, 2).to_bytes((len(bits) + 7) // 8, "little"))


def without_none(values, zero):
    if zero is None:
        zero = next(value for value in values if value is not None)
    return [zero if value is None else value for value in values]


def packed_batch(names, count, columns, forms, kinds):
    """A batch of CFB1. Raises NotPacked, and struct.error where a number or a name is too large for
    it."""
    descriptors, buffers = [], []
    for name, values, form, types in zip(names, columns, forms, kinds):
        pack, zero = form
        has_nulls = form is not PACKED_NULL and NONE_TYPE in types
        if has_nulls:
            buffers.append(validity(values))
            values = without_none(values, zero)
        code, precision, scale, zone, data = pack(values)
        buffers.append(padded(data))
        name = name.encode("utf-8", REPLACE)
        descriptors += (struct.pack("<BBBBHH4x", code, has_nulls, precision, scale, len(name),
                                    len(zone)), name, zone)
    described = b"".join(descriptors)
    head = struct.pack("<4sHHII", b"CFB1", 1, len(names), count, len(described))
    return b"".join((head, padded(described), *buffers))


# ---- frames ---------------------------------------------------------------------------------------

def u32(number):
    return number.to_bytes(4, "big")


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def json_bytes(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8", REPLACE)


class Frames:
    """Writes whole frames; threads of the plugin may log while rows are written."""

    def __init__(self, fd):
        self.fd, self.lock = fd, _thread.allocate_lock()

    def send(self, *parts):
        data = b"".join(parts)
        with self.lock:
            write_all(self.fd, data)

    def send_json(self, signal_number, value):
        data = json_bytes(value)
        self.send(u32(signal_number), u32(len(data)), data)

    def log(self, level, text):
        data = text.encode("utf-8", REPLACE)
        if len(data) > LOG_MAX:
            data = data[:LOG_MAX].decode("utf-8", "ignore").encode()
        self.send(u32(LOG), bytes((level,)), u32(len(data)), data)


class Stream:
    """The rows of one output on their way. `values` are rows with the names `names`; in a mixed
    payload `names` is None and `values` are dicts."""

    def __init__(self, frames, index, name, table):
        self.frames, self.index, self.name = frames, index, name
        self.count = 0  # of all rows
        self.names, self.values = None, []
        self.pieces, self.piece_rows = [], MIXED_ROWS
        self.rows, self.bytes = 0, 0  # of `pieces`
        self.is_mixed = False
        self.warned = set()
        frames.send_json(OUTPUT_META, {"index": index, "name": name, "table": table})

    def warn_for(self, column):
        def warn(text):
            if (column, text) not in self.warned and len(self.warned) < 1000:
                self.warned.add((column, text))
                self.frames.log(LEVEL_WARN, f"output {self.name}, column {column}: {text}")
        return warn

    def add(self, row):
        """Take a row. Its values are copied at once: a plugin may use one dict for all rows."""
        if self.is_mixed:
            self.check_names(row)
            self.values.append(dict(row))
        else:
            names = tuple(row)
            if names != self.names and not self.change_names(names):
                self.values.append(dict(row))
            else:
                self.values.append(tuple(row.values()))
        self.count += 1
        if len(self.values) >= self.piece_rows:
            self.end_rows()

    def add_alike(self, items, end):
        """Take rows of an iterator, as long as they are dicts with the names of the last row whose
        first value is no list. Returns the first other item, or `end`. What `add` does, in a loop
        of its own because most of the time of a plugin with many rows is spent here."""
        names, values, most = self.names, self.values, self.piece_rows
        if self.is_mixed or not names:
            return next(items, end)
        for item in items:
            if type(item) is not dict or tuple(item) != names:
                return item
            row = tuple(item.values())
            if type(row[0]) is list:
                return item
            values.append(row)
            self.count += 1
            if len(values) >= most:
                self.end_rows()
                values, most = self.values, self.piece_rows
        return end

    def end_rows(self):
        self.encode()
        if self.rows >= PAYLOAD_ROWS or self.bytes >= PAYLOAD_BYTES:
            self.flush()

    def change_names(self, names):
        """Go on with rows of other keys. Returns False where the payload is mixed from now on."""
        self.check_names(names)
        if self.names is not None and (self.values or self.pieces):
            if not self.pieces and len(self.values) < MIXED_ROWS:
                self.values = [dict(zip(self.names, row)) for row in self.values]
                self.is_mixed, self.names = True, None
                return False
            self.flush()
        self.names = names
        return True

    def check_names(self, names):
        for name in names:
            if type(name) is not str:
                raise Unsupported(f"output {self.name}, column {name!r}: the name is a "[:300] +
                                  f"{type(name).__name__}; names of columns are strings")

    def convert(self, name, values, kinds):
        try:
            return column_cells(values, kinds, self.warn_for(name))
        except Unsupported as error:
            raise Unsupported(f"output {self.name}, column {name}: {error}") from None

    def encode(self):
        """Send `values` packed, or turn them into a piece of JSON; half of them at a time where they
        are too large for a payload."""
        if not self.values or self.encode_values():
            return
        values, half = self.values, len(self.values) // 2
        self.values = values[:half]
        self.encode()
        self.values = values[half:]
        self.encode()

    def encode_values(self):
        """Returns False where they are too large, and several."""
        if self.is_mixed:
            rows = [{name: self.convert(name, (row[name],), {type(row[name])})[0] for name in row}
                    for row in self.values]
        else:
            columns = list(zip(*self.values))
            kinds = [set(map(type, column)) for column in columns]
            payload = self.packed(columns, kinds)
            if payload is not None:
                return self.end_piece(payload, self.send)
            cells = list(map(self.convert, self.names, columns, kinds))
            changed = any(a is not b for a, b in zip(cells, columns))
            rows = list(zip(*cells)) if changed else self.values
        return self.end_piece(encode_json(rows)[1:-1].encode("utf-8", REPLACE), self.add_piece)

    def end_piece(self, piece, take):
        rows, length = len(self.values), len(piece)
        if rows > 1 and length > PAYLOAD_MAX // 2:
            return False
        take(piece)
        self.piece_rows = max(1, min(PIECE_ROWS, PIECE_BYTES * rows // (length + 1)))
        self.values = []
        return True

    def add_piece(self, piece):
        if self.bytes + len(piece) > PAYLOAD_MAX // 2:
            self.send_pieces()
        self.pieces.append(piece)
        self.rows += len(self.values)
        self.bytes += len(piece)

    def packed(self, columns, kinds):
        """`values` as a payload of their own; None where a column has several types, or values that
        cannot be packed. While there is JSON to be sent none are: they would probably be such, too."""
        forms = list(map(packed_form, kinds))
        if self.pieces or None in forms:
            return None
        try:
            return packed_batch(self.names, len(self.values), columns, forms, kinds)
        except (NotPacked, struct.error):
            return None

    def send_pieces(self):
        """Send the JSON that there is, and begin a new payload."""
        if self.pieces:
            head = b'CFJ1{"d":[' if self.is_mixed else \
                b'CFJ1{"c":' + encode_json(self.names).encode("utf-8", REPLACE) + b',"r":['
            self.send(b"".join((head, b",".join(self.pieces), b"]}")))
        self.pieces, self.rows, self.bytes = [], 0, 0

    def send(self, payload):
        if len(payload) > PAYLOAD_MAX:
            raise TooLarge(f"output {self.name}: a row of {len(payload)} bytes; at most "
                           f"{PAYLOAD_MAX} can be sent")
        index = u32(self.index)
        self.frames.send(u32(OUTPUT_START), index, u32(len(payload)), payload,
                         u32(OUTPUT_END), index)

    def flush(self):
        """Send what there is."""
        self.encode()
        self.send_pieces()
        if self.is_mixed:
            self.is_mixed, self.names = False, None
