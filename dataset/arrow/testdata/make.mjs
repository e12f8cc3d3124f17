// Writes the files beside it that end in .arrow and .arrows, with the apache-arrow of npm, which is
// an implementation of its own; or, told to, reads standard input and prints its rows as JSON:
//
//	npm install apache-arrow@21 && node make.mjs          writes the files
//	node make.mjs read <x.arrow                            prints {"names": …, "columns": …}
import * as arrow from 'apache-arrow';
import { readFileSync, writeFileSync } from 'node:fs';

const { Field, FixedSizeList, Float64, Schema, Struct, Table, RecordBatch, makeData, vectorFromArray } = arrow;

const rows = 10;
const at = (f) => Array.from({ length: rows }, (_, i) => f(i));
const columns = (from, to) => ({
  f64: vectorFromArray(at((i) => i / 3).slice(from, to), new arrow.Float64()),
  f32: vectorFromArray(at((i) => i / 4).slice(from, to), new arrow.Float32()),
  f16: vectorFromArray(at((i) => [0, 1, -2, 0.333251953125, 65504][i % 5]).slice(from, to), new arrow.Float16()),
  i8: vectorFromArray(at((i) => -i).slice(from, to), new arrow.Int8()),
  u16: vectorFromArray(at((i) => 65535 - i).slice(from, to), new arrow.Uint16()),
  i32: vectorFromArray(at((i) => -(2 ** 31) + i).slice(from, to), new arrow.Int32()),
  i64: vectorFromArray(at((i) => BigInt(i) - 2n ** 53n).slice(from, to), new arrow.Int64()),
  u64: vectorFromArray(at((i) => 2n ** 53n - BigInt(i)).slice(from, to), new arrow.Uint64()),
  yes: vectorFromArray(at((i) => i % 3 === 0).slice(from, to), new arrow.Bool()),
});

// batches puts tables of the same columns one behind the other.
const batches = (...tables) => new Table(tables.flatMap((t) => t.batches));

function lists(from, to) {
  const n = to - from;
  const values = makeData({ type: new Float64(), length: 3 * n, data: Float64Array.from({ length: 3 * n }, (_, k) => 3 * from + k) });
  const type = new FixedSizeList(3, new Field('item', new Float64(), false));
  const y = makeData({ type: new Float64(), length: n, data: Float64Array.from({ length: n }, (_, i) => 100 + from + i) });
  const x = makeData({ type, length: n, child: values });
  const schema = new Schema([new Field('y', new Float64(), false), new Field('x', type, false)]);
  return new Table(schema, new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: n, children: [y, x] })));
}

function read() {
  const table = arrow.tableFromIPC(readFileSync(0));
  const out = { names: table.schema.fields.map((f) => f.name), notes: Object.fromEntries(table.schema.metadata), batches: table.batches.length, columns: [] };
  for (let j = 0; j < table.numCols; j++) out.columns.push(Array.from(table.getChildAt(j).toArray()));
  console.log(JSON.stringify(out));
}

if (process.argv[2] === 'read') {
  read();
} else {
  const write = (name, table, format) => writeFileSync(new URL(name, import.meta.url), arrow.tableToIPC(table, format));
  const all = batches(new Table(columns(0, 4)), new Table(columns(4, rows)));
  write('node.arrow', all, 'file');
  write('node.arrows', all, 'stream');
  write('lists.arrow', batches(lists(0, 7), lists(7, rows)), 'file');
  write('null.arrows', new Table({ a: vectorFromArray([1, 2, 3], new Float64()), b: vectorFromArray([1, null, 3], new Float64()) }), 'stream');
  write('words.arrow', new Table({
    a: vectorFromArray([1, 2, 3], new Float64()), word: vectorFromArray(['x', 'y', 'x']),
    text: vectorFromArray(['p', 'q', 'r'], new arrow.Utf8()), when: vectorFromArray([0, 1, 2].map((d) => new Date(d)), new arrow.DateMillisecond()),
  }), 'file');
}
