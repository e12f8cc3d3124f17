// rows.cjs: writes rows as an Arrow stream
const { RecordBatchStreamWriter, tableFromArrays } = require('apache-arrow');

const writer = RecordBatchStreamWriter.throughNode();
writer.pipe(process.stdout);
for (let batch = 0; batch < 20; batch++) {
  const a = Float64Array.from({ length: 500 }, (_, i) => Math.sin(500 * batch + i));
  const b = Float32Array.from({ length: 500 }, (_, i) => (i % 7) - 3);
  writer.write(tableFromArrays({ a, b, y: a.map((v, i) => 2 * v - b[i] + 5) }).batches[0]);
}
writer.end();
