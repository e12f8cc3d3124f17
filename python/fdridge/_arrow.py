"""Writer of Arrow IPC streams, the form in which rows go to the program.

A stream is a schema, record batches, and an end mark. A row-major block of float64 is the values
of one list column, so it is written as it lies in memory. The metadata are FlatBuffers
(https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc).
"""

import struct

import numpy as np

END = struct.pack("<Ii", 0xFFFFFFFF, 0)


def _write(out, node):
    """Append an object of FlatBuffers to out, and return its offset.

    A node is a text, an array of pairs of int64, a list of nodes or a table. A table is a tuple of fields. A field is a
    numpy scalar, None or a node.
    """
    out.extend(b"\0" * (-len(out) % 8))
    at, slots = len(out), []
    if isinstance(node, str):
        text = node.encode()
        out.extend(struct.pack("<I", len(text)) + text + b"\0")
    elif isinstance(node, np.ndarray):  # the length stands just before the pairs
        at += 4
        out.extend(struct.pack("<4xI", len(node)) + node.tobytes())
    elif isinstance(node, list):
        out.extend(struct.pack("<I", len(node)) + b"\0" * 4 * len(node))
        slots = [(at + 4 + 4 * i, child) for i, child in enumerate(node)]
    else:  # each field has eight bytes, so that all are aligned
        used = [0 if f is None else 8 + 8 * i for i, f in enumerate(node)]
        vtable = struct.pack(f"<HH{len(used)}H", 4 + 2 * len(used), 8 + 8 * len(used), *used)
        out.extend(vtable + b"\0" * (-len(vtable) % 8))
        at, start = len(out), at
        out.extend(struct.pack("<i", at - start) + b"\0" * (4 + 8 * len(used)))
        for place, f in zip(used, node):
            if isinstance(f, np.generic):
                out[at + place : at + place + f.nbytes] = f.tobytes()
            elif f is not None:
                slots.append((at + place, f))
    for slot, child in slots:
        struct.pack_into("<I", out, slot, _write(out, child) - slot)
    return at


def _message(kind, header, body):
    """Return the frame and the metadata of a message with body bytes after it."""
    out = bytearray(8)  # the offset of the root
    struct.pack_into("<I", out, 0, _write(out, (np.int16(4), np.uint8(kind), header, np.int64(body))))
    out.extend(b"\0" * (-len(out) % 8))
    return struct.pack("<Ii", 0xFFFFFFFF, len(out)) + out


def _field(name, kind, width):
    # Kinds of Arrow's union of types: 16 list, 5 UTF-8, 10 timestamp in microseconds without a zone, 3 float of 64 bits.
    union, of = {"utf8": (5, ()), "time": (10, (np.int16(2),)), "f8": (3, (np.int16(2),))}[kind]
    if width:
        union, of = 16, (np.int32(width),)
    return name, np.uint8(1), np.uint8(union), of, None, [_field("item", kind, 0)] if width else []


def schema(columns):
    """The first message of a stream. A column is (name, kind, width).

    kind is "f8", "utf8" or "time"; width is the length of lists, 0 if there are none.
    """
    return _message(1, (np.int16(0), [_field(*c) for c in columns]), 0)


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
            parts.extend([data, bytes(-size % 8)])
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
    header = np.int64(rows), np.array(nodes, "<i8"), np.array(buffers, "<i8")
    return [_message(3, header, at), *parts]
