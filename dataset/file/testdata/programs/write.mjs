// Writes the files of DuckDB in this folder; see write.py.
import { DuckDBInstance } from '@duckdb/node-api'

const db = await (await DuckDBInstance.create()).connect()
await db.run("create table t as select * from read_csv('table.csv', types={'n': 'BIGINT', 'm': 'DOUBLE', 'a': 'DOUBLE', 'y': 'DOUBLE'})")
const files = {
  'duckdb.csv': '', 'duckdb.tsv': "delimiter '\t'", 'duckdb-quoted.csv': "force_quote *, nullstr 'NULL'", 'duckdb.csv.zst': 'format csv, compression zstd', 'duckdb.ndjson': 'format json',
  'duckdb-snappy.parquet': 'format parquet', 'duckdb-zstd.parquet': 'format parquet, compression zstd', 'duckdb-v2.parquet': 'format parquet, parquet_version v2, compression gzip',
  'duckdb-lz4.parquet': 'format parquet, compression lz4_raw', 'duckdb-brotli.parquet': 'format parquet, compression brotli',
}
for (const [name, options] of Object.entries(files)) await db.run(`copy t to '${name}'${options ? ` (${options})` : ''}`)
