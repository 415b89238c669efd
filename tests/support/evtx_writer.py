"""Writes Windows event logs, for tests: chunks of records that share one template.

An element is (name, {attribute: part}, [part, ...]); a part is a str (literal text), an element, or Sub(index[, optional]).
Values of a record are (type, bytes), or (33, element). Written from the published layout of the format, independent of the parser.
"""
import struct
import zlib

CHUNK = 65536


class Sub:
    def __init__(self, index, optional=False):
        self.index, self.optional = index, optional


class Chunk:
    def __init__(self, template):
        self.data, self.names, self.template, self.definition = bytearray(512), {}, template, None
        self.ids = []

    def name(self, name):
        """The offset of a name, and the name itself where it is new."""
        offset = self.names.get(name)
        at = len(self.data)
        self.data += struct.pack("<I", offset if offset is not None else at + 4)
        if offset is None:
            self.names[name] = at + 4
            self.data += struct.pack("<IHH", 0, 0, len(name)) + name.encode("utf-16-le") + b"\0\0"

    def part(self, part):
        if isinstance(part, str):
            self.data += struct.pack("<BBH", 5, 1, len(part.encode("utf-16-le")) // 2) + part.encode("utf-16-le")
        elif isinstance(part, Sub):
            self.data += struct.pack("<BHB", 0x0E if part.optional else 0x0D, part.index, 0)
        else:
            self.element(*part)

    def element(self, name, attributes=None, content=()):
        self.data += struct.pack("<BHI", 0x41 if attributes else 0x01, 0xFFFF, 0)
        size_at = len(self.data) - 4
        self.name(name)
        if attributes:
            begin = len(self.data)
            self.data += bytes(4)
            for key, (attribute, part) in enumerate(attributes.items(), 1):
                self.data.append(0x06 if key == len(attributes) else 0x46)
                self.name(attribute)
                self.part(part)
            struct.pack_into("<I", self.data, begin, len(self.data) - begin - 4)
        if content:
            self.data.append(2)
            for part in content:
                self.part(part)
            self.data.append(4)
        else:
            self.data.append(3)
        struct.pack_into("<I", self.data, size_at, len(self.data) - size_at - 4)

    def record(self, number, filetime, values):
        begin = len(self.data)
        self.ids.append(number)
        self.data += struct.pack("<IIQQ", 0x2A2A, 0, number, filetime) + b"\x0f\x01\x01\x00\x0c\x01" + struct.pack("<I", 7)
        self.data += struct.pack("<I", self.definition or len(self.data) + 4)
        if self.definition is None:
            self.definition = len(self.data)
            self.data += bytes(4) + bytes(range(16)) + bytes(4) + b"\x0f\x01\x01\x00"
            self.element(*self.template)
            self.data.append(0)
            struct.pack_into("<I", self.data, self.definition + 20, len(self.data) - self.definition - 24)
        self.data += struct.pack("<I", len(values))
        descriptors = len(self.data)
        self.data += bytes(4 * len(values))
        for index, (kind, value) in enumerate(values):
            at = len(self.data)
            if isinstance(value, bytes):
                self.data += value
            else:
                self.data += b"\x0f\x01\x01\x00"
                self.element(*value)
                self.data.append(0)
            struct.pack_into("<HBB", self.data, descriptors + 4 * index, len(self.data) - at, kind, 0)
        self.data.append(0)
        size = len(self.data) - begin + 4
        self.data += struct.pack("<I", size)
        struct.pack_into("<I", self.data, begin + 4, size)

    def finish(self):
        free = len(self.data)
        assert free <= CHUNK
        head = b"ElfChnk\0" + struct.pack("<QQQQIII", self.ids[0], self.ids[-1], self.ids[0], self.ids[-1], 128, 0, free)
        head += struct.pack("<I", zlib.crc32(self.data[512:free]))
        self.data[:len(head)] = head
        struct.pack_into("<I", self.data, 124, zlib.crc32(self.data[128:512], zlib.crc32(self.data[:120])))
        return bytes(self.data) + bytes(CHUNK - free)


def log(template, records, per_chunk=50):
    """The bytes of a file; records are (number, filetime, values)."""
    chunks = []
    for begin in range(0, len(records), per_chunk):
        chunk = Chunk(template)
        for record in records[begin:begin + per_chunk]:
            chunk.record(*record)
        chunks.append(chunk.finish())
    head = bytearray(b"ElfFile\0" + struct.pack("<QQQIHHHH", 0, max(len(chunks) - 1, 0), len(records) + 1, 128, 1, 3, 4096, len(chunks)))
    head += bytes(4096 - len(head))
    struct.pack_into("<I", head, 124, zlib.crc32(head[:120]))
    return bytes(head) + b"".join(chunks)
