"""How text files are read: options with the names of pandas.read_csv, as flags of the program."""

from collections.abc import Mapping
from numbers import Integral

import numpy as np


def flags(options):
    """Return the program's flags for keyword arguments of fit and predict.

    Raises TypeError for an unknown name, and ValueError for a value that the program cannot serve.
    """
    check_names(options, f"; options of text are {', '.join(_NAMES)}")
    found = []
    for name, value in options.items():
        found += _NAMES[name](value)
    return found + _skipped(options)


def check_names(options, hint):
    """Raise TypeError, with a hint at its end, if options have an unknown name."""
    for name in options:
        if name not in _NAMES:
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")


def _header(value):
    if value is None:
        return ["--header", "no"]
    if isinstance(value, str) and value == "infer":
        return ["--header", "auto"]
    if not _is_count(value):
        raise ValueError(f"header: {value!r} must be the number of a line, None for a file without names, or 'infer'")
    return ["--header", "yes"]


def _skipped(options):
    """Return the flag of the lines that are skipped: those of skiprows, and those before the line of the header."""
    rows = options.get("skiprows")
    if rows is None:
        rows = 0
    header = options.get("header")
    before = int(header) if _is_count(header) else 0
    if _is_count(rows):
        count = int(rows) + before
        return ["--skip-rows", str(count)] if count else []
    words = f"skiprows: {rows!r} must be a number of lines, or a list of lines, of which the first is 0"
    if isinstance(rows, (str, bool)):
        raise ValueError(words)
    try:
        lines = [int(line) for line in rows]
    except (TypeError, ValueError):
        raise ValueError(words) from None
    if min(lines, default=0) < 0:
        raise ValueError(words)
    if before:
        raise ValueError("header: with a list of skiprows, it must be 0, None or 'infer'")
    # The program counts lines from 1.
    return ["--skip-rows", ",".join(f"{line + 1}:{line + 1}" for line in lines)] if lines else []


def _is_count(value):
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= 0


def _na_values(value):
    if isinstance(value, Mapping):
        raise ValueError("na_values: marks of single columns are not supported; name marks that all columns share")
    marks = [value] if isinstance(value, str) or np.ndim(value) == 0 else list(value)
    return ["--missing-marks", quoted(marks)] if marks else []


def _character(name, flag):
    def flag_of(value):
        if value is None:
            return []
        if not isinstance(value, str) or len(value) != 1:
            raise ValueError(f"{name}: {value!r} must be one character")
        return [flag, "tab" if value == "\t" else value]

    return flag_of


def _first_index(value):
    if isinstance(value, bool) or value not in ("auto", 0, 1):
        raise ValueError(f"first_index: {value!r} must be 0, 1 or 'auto'")
    return ["--first-index", str(value)]


_NAMES = {
    "sep": _character("sep", "--delimiter"),
    "decimal": _character("decimal", "--decimal"),
    "header": _header,
    "na_values": _na_values,
    "skiprows": lambda value: [],  # see _skipped
    "comment": _character("comment", "--comment"),
    "escapechar": _character("escapechar", "--escape"),
    "first_index": _first_index,
}


def quoted(names):
    """Return a list of names for a flag."""
    texts = []
    for name in map(str, names):
        if "," in name or '"' in name:
            name = '"' + name.replace('"', '""') + '"'
        texts.append(name)
    return ",".join(texts)
