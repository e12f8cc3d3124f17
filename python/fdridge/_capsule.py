"""Reader of tables that offer the Arrow PyCapsule interface, such as those of polars and pyarrow.

A table has the method ``__arrow_c_stream__``, which returns a pointer to C structures
(https://arrow.apache.org/docs/format/CDataInterface.html). They are read with ctypes, without the library of the table.
"""

import ctypes

import numpy as np


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

_NUMBERS = {
    "c": np.int8,
    "C": np.uint8,
    "s": np.int16,
    "S": np.uint16,
    "i": np.int32,
    "I": np.uint32,
    "l": np.int64,
    "L": np.uint64,
    "e": np.float16,
    "f": np.float32,
    "g": np.float64,
}
_TIME_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}


class Column:
    """A column of a table.

    kind is "f8", "time" or "utf8". values are float64, microseconds as int64, or a list of bytes. missing is a boolean
    array.
    """

    def __init__(self, name, kind, values, missing):
        self.name = name
        self.kind = kind
        self.values = values
        self.missing = missing


def is_table(X):
    """Report whether X is a table with the Arrow PyCapsule interface that is not a data frame of pandas."""
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc") and not hasattr(X, "to_frame")


def read(X):
    """Return the columns of a table."""
    capsule = X.__arrow_c_stream__()
    stream = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema = _Schema()
    try:
        _check(stream, stream.contents.get_schema(stream, schema))
        try:
            if schema.format != b"+s":
                raise ValueError("X: the Arrow stream is one column, a table is needed")
            fields = [schema.children[j].contents for j in range(schema.n_children)]
            parts = [[] for _ in fields]
            for batch in _batches(stream):
                for field, child, of in zip(fields, range(batch.n_children), parts):
                    of.append(_values(field, batch.children[child].contents, batch.offset, batch.length))
            return [_join(field, of) for field, of in zip(fields, parts)]
        finally:
            if schema.release:
                schema.release(schema)
    finally:
        if stream.contents.release:
            stream.contents.release(stream)


def _batches(stream):
    while True:
        batch = _Array()
        _check(stream, stream.contents.get_next(stream, batch))
        if not batch.release:  # the end of the stream
            return
        try:
            yield batch
        finally:
            batch.release(batch)


def _check(stream, code):
    if code != 0:
        said = stream.contents.get_last_error(stream)
        raise ValueError(f"X: the Arrow stream failed: {(said or b'error %d' % code).decode(errors='replace')}")


def _join(field, parts):
    name = (field.name or b"").decode()
    if not parts:
        return Column(name, "f8", np.empty(0), np.empty(0, dtype=bool))
    kind = parts[0][0]
    missing = np.concatenate([of for _, _, of in parts])
    if kind == "utf8":
        return Column(name, kind, [text for _, texts, _ in parts for text in texts], missing)
    return Column(name, kind, np.concatenate([values for _, values, _ in parts]), missing)


def _buffer(array, index, dtype, start, count):
    """Return a copy of count values of a buffer, from the value start on."""
    size = np.dtype(dtype).itemsize
    at = array.buffers[index]
    if count == 0 or at is None:
        return np.zeros(count, dtype=dtype)
    return np.frombuffer(ctypes.string_at(at + start * size, count * size), dtype=dtype)


def _bits(array, index, start, count):
    """Return bits of a bitmap as a boolean array."""
    first = start // 8
    octets = _buffer(array, index, np.uint8, first, (start + count + 7) // 8 - first)
    return np.unpackbits(octets, bitorder="little")[start - 8 * first :][:count].astype(bool)


def _values(field, array, offset, count):
    """Return the kind, the values and the missing places of rows offset to offset + count of an array."""
    start = array.offset + offset
    form = field.format.decode()
    if form == "n":
        return "f8", np.full(count, np.nan), np.ones(count, dtype=bool)

    # A bitmap that is not there means that no value is missing.
    missing = np.zeros(count, dtype=bool)
    if array.null_count != 0 and array.buffers[0] is not None:
        missing = ~_bits(array, 0, start, count)

    if field.dictionary:
        keys = _buffer(array, 1, _NUMBERS[form], start, count).astype(np.int64)
        entries = array.dictionary.contents
        kind, values, gaps = _values(field.dictionary.contents, entries, 0, entries.length)
        if len(gaps) == 0:
            return kind, ([b""] * count if kind == "utf8" else np.zeros(count)), np.ones(count, dtype=bool)
        keys[missing] = 0
        missing = missing | gaps[keys]
        return kind, ([values[k] for k in keys.tolist()] if kind == "utf8" else values[keys]), missing

    if form in _NUMBERS:
        values = _buffer(array, 1, _NUMBERS[form], start, count).astype(np.float64)
        values[missing] = np.nan
        return "f8", values, missing
    if form == "b":
        values = _bits(array, 1, start, count).astype(np.float64)
        values[missing] = np.nan
        return "f8", values, missing
    if form in ("u", "U", "z", "Z"):
        ends = _buffer(array, 1, np.int32 if form in "uz" else np.int64, start, count + 1).tolist()
        low = ends[0] if ends else 0
        text = ctypes.string_at(array.buffers[2] + low, ends[-1] - low) if ends and ends[-1] > low else b""
        return "utf8", [text[a - low : b - low] for a, b in zip(ends, ends[1:])], missing
    if form in ("vu", "vz"):
        return "utf8", _views(array, start, count, missing), missing
    if form == "tdD":
        days = _buffer(array, 1, np.int32, start, count).astype(np.int64)
        return "time", days * 86_400_000_000, missing
    if form == "tdm":
        return "time", _buffer(array, 1, np.int64, start, count) * 1000, missing
    if form[:2] == "ts":
        ticks = _buffer(array, 1, np.int64, start, count).copy()
        ticks[missing] = 0
        return "time", ticks.view(f"M8[{_TIME_UNITS[form[2]]}]").astype("M8[us]").view(np.int64), missing
    raise ValueError(
        f"column {(field.name or b'').decode()!r}: values with the Arrow format {form!r} are neither numbers nor texts "
        "nor dates; convert the column"
    )


def _views(array, start, count, missing):
    """Return texts of at most 12 bytes from their views, and longer ones from the buffers that the views name."""
    views = _buffer(array, 1, np.uint8, 16 * start, 16 * count).reshape(count, 16)
    heads = views.copy().view(np.int32)
    texts = []
    for i, (length, _, buffer, at) in enumerate(heads.tolist()):
        if missing[i]:
            texts.append(b"")
        elif length <= 12:
            texts.append(views[i, 4 : 4 + length].tobytes())
        else:
            texts.append(ctypes.string_at(array.buffers[2 + buffer] + at, length))
    return texts
