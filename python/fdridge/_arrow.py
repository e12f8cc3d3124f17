"""Writer of Arrow IPC streams, the form in which rows go to the program.

A stream is a schema, record batches, and an end mark. A row-major block of float64 is the values
of one list column, so it is written as it lies in memory. The metadata are FlatBuffers
(https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc).
"""

import struct

import numpy as np

END = struct.pack("<Ii", 0xFFFFFFFF, 0)
BLOCK = 1 << 23  # most bytes of the rows in a record batch

# Kinds of the unions of Arrow's schema.
_FLOAT, _UTF8, _TIMESTAMP, _LIST = 3, 5, 10, 16
_SCHEMA, _BATCH = 1, 3


def _table(*fields):
    """A FlatBuffers table; a field is None, ("<h", number), or bytes of an object it refers to."""
    return ("table", fields)


def _write(out, node):
    """Append a table, a string or a vector to out, and return its offset."""
    kind, content = node
    out.extend(b"\0" * (-len(out) % 8))
    if kind == "string":
        text = content.encode()
        at = len(out)
        out.extend(struct.pack("<I", len(text)) + text + b"\0")
        return at
    if kind == "structs":  # pairs of int64: the vector's length stands just before them
        out.extend(b"\0" * 4)
        at = len(out)
        out.extend(struct.pack("<I", len(content)))
        for pair in content:
            out.extend(struct.pack("<qq", *pair))
        return at
    if kind == "tables":
        at = len(out)
        out.extend(struct.pack("<I", len(content)) + b"\0" * 4 * len(content))
        slots = [(at + 4 + 4 * i, child) for i, child in enumerate(content)]
    else:  # each field has eight bytes, so that all are aligned
        size = 4 + 2 * len(content)
        vtable = len(out)
        used = [0 if f is None else 8 + 8 * i for i, f in enumerate(content)]
        out.extend(struct.pack(f"<HH{len(used)}H", size, 8 + 8 * len(used), *used))
        out.extend(b"\0" * (-len(out) % 8))
        at = len(out)
        out.extend(struct.pack("<i", at - vtable) + b"\0" * (4 + 8 * len(used)))
        slots = []
        for i, f in enumerate(content):
            if f is not None and f[0][0] == "<":
                struct.pack_into(f[0], out, at + 8 + 8 * i, f[1])
            elif f is not None:
                slots.append((at + 8 + 8 * i, f))
    for slot, child in slots:
        struct.pack_into("<I", out, slot, _write(out, child) - slot)
    return at


def _message(kind, header, body):
    """The frame and the metadata of a message with body bytes after it."""
    out = bytearray(8)  # the offset of the root
    root = _table(("<h", 4), ("<B", kind), header, ("<q", body))
    struct.pack_into("<I", out, 0, _write(out, root))
    out.extend(b"\0" * (-len(out) % 8))
    return struct.pack("<Ii", 0xFFFFFFFF, len(out)) + out


def _field(column):
    name, kind, width = column
    children = ("tables", [])
    if width:
        children = ("tables", [_field(("item", kind, 0))])
        union, of = _LIST, _table(("<i", width))
    elif kind == "utf8":
        union, of = _UTF8, _table()
    elif kind == "time":
        union, of = _TIMESTAMP, _table(("<h", 2))  # microseconds, without a zone
    else:
        union, of = _FLOAT, _table(("<h", {"f4": 1, "f8": 2}[kind]))
    return _table(("string", name), ("<B", 1), ("<B", union), of, None, children)


def schema(columns):
    """The first message of a stream. A column is (name, kind, width).

    kind is "f8", "f4", "utf8" or "time"; width is the length of lists, 0 if there are none.
    """
    fields = ("tables", [_field(c) for c in columns])
    return _message(_SCHEMA, _table(("<h", 0), fields), 0)


def batch(rows, columns):
    """Buffers of a record batch. A column is (width, missing, buffers).

    missing is None or a boolean array; buffers are contiguous arrays without the bitmap of missing
    values.
    """
    nodes, buffers, parts, at = [], [], [], 0

    def add(data):
        nonlocal at
        size = 0 if data is None else data.nbytes
        buffers.append((at, size))
        if size:
            parts.append(memoryview(data).cast("B"))
            if size % 8:
                parts.append(bytes(-size % 8))
            at += size + -size % 8

    for width, missing, data in columns:
        gaps = 0 if missing is None else int(np.count_nonzero(missing))
        nodes.append((rows, gaps))
        add(np.packbits(~missing, bitorder="little") if gaps else None)
        if width:
            nodes.append((rows * width, 0))
            add(None)
        for d in data:
            add(d)
    header = _table(("<q", rows), ("structs", nodes), ("structs", buffers))
    return [_message(_BATCH, header, at), *parts]
