// Writes the Parquet files of this folder with two writers that share no code with
// the reader under test: Rust's (parquet-wasm) and DuckDB's, in C++.
//
//	npm install parquet-wasm@0.8.0 apache-arrow@21.2.0 @duckdb/node-api@1.5.6-r.1
//	node write.mjs
//
// All hold the same columns, of which column(i) in foreign_test.go knows the values.
import { writeFileSync } from 'node:fs'
import * as arrow from 'apache-arrow'
import * as rust from 'parquet-wasm/node'
import { DuckDBInstance } from '@duckdb/node-api'

// The value of row i in each column, as JavaScript and as SQL.
const columns = [
  ['double', new arrow.Float64(), i => (i * 37 % 101) / 8 - 5, '((i * 37 % 101) / 8.0 - 5)::DOUBLE'],
  ['float', new arrow.Float32(), i => (i % 17) / 4 - 2, '((i % 17) / 4.0 - 2)::FLOAT'],
  ['int64', new arrow.Int64(), i => BigInt(i % 53) * 1000003n - 50000000n, '((i % 53) * 1000003 - 50000000)::BIGINT'],
  ['int32', new arrow.Int32(), i => (i % 71) * (i % 71) - 1000, '((i % 71) * (i % 71) - 1000)::INTEGER'],
  ['int16', new arrow.Int16(), i => -(i % 29) * 100, '(-(i % 29) * 100)::SMALLINT'],
  ['uint8', new arrow.Uint8(), i => i * 7 % 256, '(i * 7 % 256)::UTINYINT'],
  ['uint32', new arrow.Uint32(), i => 4294967295 - i % 5, '(4294967295 - i % 5)::UINTEGER'],
  ['bool', new arrow.Bool(), i => i % 3 == 0, '(i % 3 = 0)'],
]

// table makes n rows; the values of null rows of the column holes are missing.
function table(n, nullable, holes) {
  const fields = [], children = []
  for (const [name, type, value] of columns) {
    const builder = arrow.makeBuilder({ type, nullValues: [null] })
    for (let i = 0; i < n; i++) builder.append(name == holes && i % 400 == 333 ? null : value(i))
    fields.push(new arrow.Field(name, type, nullable))
    children.push(builder.finish().toVector().data[0])
  }
  const schema = new arrow.Schema(fields)
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: n, nullCount: 0, children })
  return new arrow.Table(schema, new arrow.RecordBatch(schema, data))
}

function writeRust(name, n, { nullable = false, holes, set = b => b }) {
  const ipc = arrow.tableToIPC(table(n, nullable, holes), 'stream')
  const builder = new rust.WriterPropertiesBuilder().setMaxRowGroupSize(300).setDataPageSizeLimit(256).setWriteBatchSize(50)
  writeFileSync(`rust-${name}.parquet`, rust.writeParquet(rust.Table.fromIPCStream(ipc), set(builder).build()))
}

const { V1, V2 } = rust.WriterVersion, { UNCOMPRESSED, SNAPPY, GZIP, ZSTD, BROTLI, LZ4_RAW } = rust.Compression
writeRust('v1-plain', 700, { set: b => b.setWriterVersion(V1).setCompression(UNCOMPRESSED).setDictionaryEnabled(false) })
writeRust('v1-snappy-dictionary', 1000, { nullable: true, set: b => b.setWriterVersion(V1).setCompression(SNAPPY) })
writeRust('v1-gzip', 1000, { nullable: true, set: b => b.setWriterVersion(V1).setCompression(GZIP).setDictionaryEnabled(false) })
writeRust('v2-zstd-delta', 1000, { set: b => b.setWriterVersion(V2).setCompression(ZSTD).setDictionaryEnabled(false) })
writeRust('v2-snappy-dictionary', 1000, { nullable: true, set: b => b.setWriterVersion(V2).setCompression(SNAPPY) })
writeRust('v2-uncompressed-dictionary', 1000, { nullable: true, set: b => b.setWriterVersion(V2).setCompression(UNCOMPRESSED) })
writeRust('v1-brotli', 1000, { set: b => b.setWriterVersion(V1).setCompression(BROTLI) })
writeRust('v2-lz4', 1000, { set: b => b.setWriterVersion(V2).setCompression(LZ4_RAW) })
writeRust('v1-null', 1000, { nullable: true, holes: 'int16', set: b => b.setWriterVersion(V1).setCompression(SNAPPY) })
writeRust('v2-null', 1000, { nullable: true, holes: 'float', set: b => b.setWriterVersion(V2).setCompression(ZSTD).setDictionaryEnabled(false) })

// DuckDB's row groups have a multiple of 2048 rows, and its columns are nullable.
const db = await (await DuckDBInstance.create()).connect()
async function writeDuckDB(name, options, where = 'true') {
  const list = columns.map(([name, , , sql]) => `CASE WHEN ${where} OR '${name}' <> 'double' THEN ${sql} END AS "${name}"`)
  await db.run(`COPY (SELECT ${list} FROM range(5000) t(i) ORDER BY i) TO 'duckdb-${name}.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048, ${options})`)
}

await db.run('SET threads = 1')
await writeDuckDB('v1-snappy', "PARQUET_VERSION 'V1', COMPRESSION 'snappy'")
await writeDuckDB('v1-uncompressed', "PARQUET_VERSION 'V1', COMPRESSION 'uncompressed'")
await writeDuckDB('v1-gzip', "PARQUET_VERSION 'V1', COMPRESSION 'gzip'")
await writeDuckDB('v2-zstd', "PARQUET_VERSION 'V2', COMPRESSION 'zstd'")
await writeDuckDB('v2-delta-lz4', "PARQUET_VERSION 'V2', COMPRESSION 'lz4_raw', DICTIONARY_SIZE_LIMIT 1")
await writeDuckDB('v2-null', "PARQUET_VERSION 'V2', COMPRESSION 'zstd'", 'i <> 4321')
