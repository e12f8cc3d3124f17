// predictions.cjs: reads predictions as they come
const { RecordBatchReader } = require('apache-arrow');

(async () => {
  let rows = 0, worst = 0;
  for await (const batch of await RecordBatchReader.from(process.stdin)) {
    for (const row of batch) {
      worst = Math.max(worst, Math.abs(row.prediction - (2 * Math.sin(rows) - ((rows % 500) % 7 - 3) + 5)));
      rows++;
    }
  }
  console.log(`${rows} predictions, at most ${worst.toExponential(1)} off`);
  process.exit(rows === 10000 && worst < 1e-6 ? 0 : 1);
})();
