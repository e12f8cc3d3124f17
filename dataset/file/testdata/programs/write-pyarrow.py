# Writes the files of pyarrow in this folder, from table.csv, with each codec and encoding. pyarrow-types.csv has the
# numbers of the files of types, as Python rounds them. Run by pyarrow 25.0.0 of Debian forky:
#
#	python3 write-pyarrow.py
import csv
import datetime
import decimal

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

with open("table.csv") as f:
    rows = list(csv.DictReader(f))
t = pa.table({
    "a": pa.array([float(r["a"]) for r in rows]),
    "n": pa.array([int(r["n"]) for r in rows]),
    "s": pa.array([r["s"] for r in rows]),
    "m": pa.array([float(r["m"]) if r["m"] else None for r in rows]),
    "y": pa.array([float(r["y"]) for r in rows]),
})


def parquet(name, table=t, **how):
    how.setdefault("compression", "none")
    pq.write_table(table, f"pyarrow-{name}.parquet", store_schema=False, **how)


for codec in ["snappy", "gzip", "zstd", "brotli", "lz4"]:
    parquet(codec, compression=codec)
parquet("plain", use_dictionary=False)
parquet("delta", use_dictionary=False, column_encoding={"n": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY"})
parquet("split", use_dictionary=False, use_byte_stream_split=["a", "n", "m", "y"], compression="zstd")
parquet("v2", data_page_version="2.0", row_group_size=7, compression="snappy")
parquet("v2-delta", data_page_version="2.0", use_dictionary=False, data_page_size=64, write_batch_size=4,
        column_encoding={"n": "DELTA_BINARY_PACKED", "s": "DELTA_LENGTH_BYTE_ARRAY"})
parquet("checksum", write_page_checksum=True, compression="gzip", data_page_size=64, write_batch_size=4)
parquet("index", write_page_index=True, bloom_filter_options={"n": {"ndv": 100}}, row_group_size=10)

for codec in ["uncompressed", "lz4", "zstd"]:
    feather.write_feather(t, f"pyarrow-{codec}.feather", compression=codec, chunksize=7)
coded = t.set_column(2, "s", t["s"].dictionary_encode())
with pa.OSFile("pyarrow-dictionary.arrows", "wb") as f, pa.ipc.new_stream(f, coded.schema) as w:
    for batch in coded.to_batches(max_chunksize=5):
        w.write_batch(batch)

# Numbers of other types. The columns of each file are those of pyarrow-types.csv that the file has.
n = len(rows)
D = decimal.Decimal
cents = [D(r["n"]) / 100 for r in rows]
long = [D(r["n"]) * D("12345678901234567890.123456789") for r in rows]
exact = {
    "d32": (pa.decimal32(9, 2), cents), "d64": (pa.decimal64(18, 4), cents), "d128": (pa.decimal128(38, 9), long),
    "d256": (pa.decimal256(70, 9), long), "whole": (pa.decimal128(20, 0), [D(r["n"]) * 10**15 for r in rows]),
    "i8": (pa.int8(), [i - 12 for i in range(n)]), "u8": (pa.uint8(), [255 - i for i in range(n)]),
    "i16": (pa.int16(), [-32768 + i for i in range(n)]), "u16": (pa.uint16(), [65535 - i for i in range(n)]),
    "i32": (pa.int32(), [-2**31 + i for i in range(n)]), "u32": (pa.uint32(), [2**32 - 1 - i for i in range(n)]),
    "i64": (pa.int64(), [2**53 - i for i in range(n)]), "u64": (pa.uint64(), [2**53 - i for i in range(n)]),
    "f32": (pa.float32(), [float(r["a"]) for r in rows]), "f16": (pa.float16(), [i / 16 - 1 for i in range(n)]),
    "yes": (pa.bool_(), [i % 3 == 0 for i in range(n)]),
}
types = {k: pa.array(v, of) for k, (of, v) in exact.items()}
types["gap"] = pa.array([None if i % 5 == 1 else i * 0.1 for i in range(n)])
table = pa.table(types)
parquet("types", table)
parquet("types-plain", table, use_dictionary=False, data_page_version="2.0", compression="zstd")
parquet("types-split", table.select(["d32", "d64", "d128", "i32", "u64", "f32", "f16"]), use_dictionary=False,
        use_byte_stream_split=True, compression="zstd")
parquet("types-integers", table.select(["d32", "d64", "whole"]), store_decimal_as_integer=True)
feather.write_feather(table, "pyarrow-types.feather", compression="lz4")
with open("pyarrow-types.csv", "w") as f:
    f.write(",".join(types) + "\n")
    for i in range(n):
        f.write(",".join("" if (v := c[i].as_py()) is None else repr(float(v)) for c in types.values()) + "\n")

# Dates: the seconds after 1970 are those of pyarrow-dates.csv.
start = datetime.datetime(2024, 2, 28, 23, 59, 30, 250000)
times = [start + datetime.timedelta(days=11 * i, seconds=7 * i) for i in range(n)]
days = [x.date() for x in times]
dates = pa.table({
    "s": pa.array([x.replace(microsecond=0) for x in times], pa.timestamp("s")),
    "ms": pa.array(times, pa.timestamp("ms")), "us": pa.array(times, pa.timestamp("us", tz="UTC")),
    "ns": pa.array(times, pa.timestamp("ns")), "d32": pa.array(days, pa.date32()), "d64": pa.array(days, pa.date64()),
    "y": pa.array([float(i) for i in range(n)]),
})
parquet("dates", dates)
pq.write_table(dates.select(["us", "y"]), "pyarrow-int96.parquet", use_deprecated_int96_timestamps=True, compression="none")
feather.write_feather(dates, "pyarrow-dates.feather", compression="zstd")
with open("pyarrow-dates.csv", "w") as f:
    f.write(",".join(dates.column_names) + "\n")
    for i in range(n):
        f.write(",".join(str(dates[c][i].as_py()) for c in dates.column_names) + "\n")
print(pa.__version__)
