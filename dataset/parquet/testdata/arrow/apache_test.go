package arrow

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// TestApache reads all numeric columns of Apache's test files with arrow-go and writes one line for each column to
// apache.txt. A line has the file, the column, the numbers of values and of infinite values, and a hash of their bits.
// The folder FDRIDGE_APACHE must hold checkouts of apache/parquet-testing and apache/arrow-testing.
func TestApache(t *testing.T) {
	folder := os.Getenv("FDRIDGE_APACHE")
	if folder == "" {
		t.Skip("FDRIDGE_APACHE is not set")
	}
	record(
		t,
		folder,
		"../apache.txt",
		func(path string) bool { return strings.HasSuffix(path, ".parquet") },
		readParquet,
	)
	record(t, folder, "../../../arrow/testdata/apache.txt", func(path string) bool {
		return strings.Contains(path, "/data/arrow-ipc-") && !strings.HasSuffix(path, ".gz") &&
			!strings.HasSuffix(path, ".md")
	}, readArrow)
}

func record(t *testing.T, folder, to string, isInput func(path string) bool, read func(path string) ([]string, error)) {
	var out []string
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		if err != nil || entry.IsDir() || !isInput(path) {
			return err
		}
		lines, err := safely(read, path)
		for _, line := range lines {
			out = append(out, filepath.ToSlash(name)+" "+line)
		}
		if err != nil {
			fmt.Println(name, err)
			out = append(out, filepath.ToSlash(name)+" error")
		}
		return nil
	})
	check(err)
	check(os.WriteFile(to, []byte(strings.Join(out, "\n")+"\n"), 0o644))
}

// safely converts a panic of arrow-go to an error.
func safely(read func(path string) ([]string, error), path string) (lines []string, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("panic: %v", why)
		}
	}()
	return read(path)
}

// line describes a column. Integers beyond 2⁵³, which float64 cannot represent, are infinite.
func line(j int, values []float64) string {
	h, infinite := fnv.New64a(), 0
	for _, v := range values {
		fmt.Fprintln(h, bits(v))
		if math.IsInf(v, 0) {
			infinite++
		}
	}
	return fmt.Sprintf("%d %d %d %016x", j+1, len(values), infinite, h.Sum64())
}

const mostExact = 1 << 53

func integer(v int64) float64 {
	if v < -mostExact || v > mostExact {
		return math.Inf(1)
	}
	return float64(v)
}

func unsigned(v uint64) float64 {
	if v > mostExact {
		return math.Inf(1)
	}
	return float64(v)
}

func readParquet(path string) (lines []string, err error) {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for leaf := range f.MetaData().Schema.NumColumns() {
		d := f.MetaData().Schema.Column(leaf)
		if len(d.ColumnPath()) > 1 || d.MaxRepetitionLevel() > 0 {
			continue
		}
		var values []float64
		isNumber := true
		for g := range f.NumRowGroups() {
			c, err := f.RowGroup(g).Column(leaf)
			if err != nil {
				return lines, err
			}
			for isNumber && c.HasNext() {
				more, ok := readChunk(c, d)
				if c.Err() != nil {
					return append(lines, fmt.Sprint(f.MetaData().Schema.ColumnIndexByName(d.Name())+1, " 0 error")), nil
				}
				isNumber = ok
				if len(more) == 0 {
					break
				}
				values = append(values, more...)
			}
		}
		if isNumber {
			lines = append(lines, line(f.MetaData().Schema.Root().FieldIndexByName(d.Name()), values))
		}
	}
	return lines, nil
}

// readChunk returns the next values, with NaN for null. ok is false if the column has no numbers.
func readChunk(c file.ColumnChunkReader, d *schema.Column) (values []float64, ok bool) {
	const most = 1000
	levels := make([]int16, most)
	var total int64
	var got []float64
	logical := d.LogicalType()
	scale, isDecimal := 0, false
	if t, is := logical.(schema.DecimalLogicalType); is {
		scale, isDecimal = int(t.Scale()), true
	}
	_, isInt := logical.(schema.IntLogicalType)
	plainInt := isInt || logical.IsNone() ||
		logical.String() == "Unknown" && d.ConvertedType() == schema.ConvertedTypes.None
	isSigned := true
	if t, is := logical.(schema.IntLogicalType); is {
		isSigned = t.IsSigned()
	}
	decimal := func(v int64) float64 { return quotient(big.NewInt(v), scale) }
	switch c := c.(type) {
	case *file.BooleanColumnChunkReader:
		buf := make([]bool, most)
		n, k, _ := c.ReadBatch(most, buf, levels, nil)
		total = n
		for _, v := range buf[:k] {
			got = append(got, map[bool]float64{true: 1}[v])
		}
	case *file.Int32ColumnChunkReader:
		if !isDecimal && !plainInt {
			return nil, false
		}
		buf := make([]int32, most)
		n, k, _ := c.ReadBatch(most, buf, levels, nil)
		total = n
		for _, v := range buf[:k] {
			switch {
			case isDecimal:
				got = append(got, decimal(int64(v)))
			case isSigned:
				got = append(got, float64(v))
			default:
				got = append(got, float64(uint32(v)))
			}
		}
	case *file.Int64ColumnChunkReader:
		if !isDecimal && !plainInt {
			return nil, false
		}
		buf := make([]int64, most)
		n, k, _ := c.ReadBatch(most, buf, levels, nil)
		total = n
		for _, v := range buf[:k] {
			switch {
			case isDecimal:
				got = append(got, decimal(v))
			case isSigned:
				got = append(got, integer(v))
			default:
				got = append(got, unsigned(uint64(v)))
			}
		}
	case *file.Float32ColumnChunkReader:
		buf := make([]float32, most)
		n, k, _ := c.ReadBatch(most, buf, levels, nil)
		total = n
		for _, v := range buf[:k] {
			got = append(got, float64(v))
		}
	case *file.Float64ColumnChunkReader:
		buf := make([]float64, most)
		n, k, _ := c.ReadBatch(most, buf, levels, nil)
		total, got = n, buf[:k]
	case *file.ByteArrayColumnChunkReader:
		if !isDecimal {
			return nil, false
		}
		buf := make([]pq.ByteArray, most)
		n, k, _ := c.ReadBatch(most, buf, levels, nil)
		total = n
		for _, v := range buf[:k] {
			got = append(got, quotient(twos(v), scale))
		}
	case *file.FixedLenByteArrayColumnChunkReader:
		isHalf := logical.String() == "Float16"
		if !isDecimal && !isHalf {
			return nil, false
		}
		buf := make([]pq.FixedLenByteArray, most)
		n, k, _ := c.ReadBatch(most, buf, levels, nil)
		total = n
		for _, v := range buf[:k] {
			if isHalf {
				got = append(got, halfOf(uint16(v[0])|uint16(v[1])<<8))
			} else {
				got = append(got, quotient(twos(v), scale))
			}
		}
	default:
		return nil, false
	}
	if d.MaxDefinitionLevel() == 0 {
		return got, true
	}
	for _, level := range levels[:total] {
		if level == 0 {
			values = append(values, math.NaN())
			continue
		}
		values, got = append(values, got[0]), got[1:]
	}
	return values, true
}

func twos(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

func halfOf(b uint16) float64 {
	exponent, mantissa := int(b>>10&31), float64(b&1023)
	v := mantissa / (1 << 24)
	switch {
	case exponent == 31 && mantissa > 0:
		return math.NaN()
	case exponent == 31:
		v = math.Inf(1)
	case exponent > 0:
		v = (1 + mantissa/1024) * math.Pow(2, float64(exponent-15))
	}
	if b>>15 == 1 {
		return -v
	}
	return v
}

func readArrow(path string) (lines []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var fields []arrow.Field
	columns := map[int][]float64{}
	text := map[int]bool{}
	add := func(batch arrow.RecordBatch) {
		for j, c := range batch.Columns() {
			values, ok := numbersOf(c)
			text[j] = text[j] || !ok
			if ok {
				columns[j] = append(columns[j], values...)
			}
		}
	}
	if r, err := ipc.NewFileReader(f); err == nil {
		fields = r.Schema().Fields()
		for k := range r.NumRecords() {
			batch, err := r.RecordBatch(k)
			if err != nil {
				return nil, err
			}
			add(batch)
		}
	} else {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		r, err := ipc.NewReader(f)
		if err != nil {
			return nil, err
		}
		fields = r.Schema().Fields()
		for r.Next() {
			add(r.RecordBatch())
		}
		if r.Err() != nil && r.Err() != io.EOF {
			return nil, r.Err()
		}
	}
	first := 0 // a list of fixed length has one column for each position
	for j, field := range fields {
		list, isList := field.Type.(*arrow.FixedSizeListType)
		width := 1
		if isList {
			width = int(list.Len())
		}
		if !text[j] && len(columns[j]) > 0 {
			for item := range width {
				var values []float64
				for i := item; i < len(columns[j]); i += width {
					values = append(values, columns[j][i])
				}
				lines = append(lines, line(first+item, values))
			}
		}
		first += width
	}
	return lines, nil
}

// numbersOf returns the values of an array, with NaN for null. ok is false if they are not numbers.
func numbersOf(a arrow.Array) (values []float64, ok bool) {
	var of func(i int) float64
	decimal := func(v *big.Int) float64 {
		scale := int(a.DataType().(arrow.DecimalType).GetScale())
		return quotient(v, scale)
	}
	switch a := a.(type) {
	case *array.Boolean:
		of = func(i int) float64 { return map[bool]float64{true: 1}[a.Value(i)] }
	case *array.Int8:
		of = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int16:
		of = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int32:
		of = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int64:
		of = func(i int) float64 { return integer(a.Value(i)) }
	case *array.Uint8:
		of = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint16:
		of = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint32:
		of = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint64:
		of = func(i int) float64 { return unsigned(a.Value(i)) }
	case *array.Float16:
		of = func(i int) float64 { return halfOf(a.Value(i).Uint16()) }
	case *array.Float32:
		of = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		of = func(i int) float64 { return a.Value(i) }
	case *array.Decimal32:
		of = func(i int) float64 { return decimal(big.NewInt(int64(a.Value(i)))) }
	case *array.Decimal64:
		of = func(i int) float64 { return decimal(big.NewInt(int64(a.Value(i)))) }
	case *array.Decimal128:
		of = func(i int) float64 { return decimal(a.Value(i).BigInt()) }
	case *array.Decimal256:
		of = func(i int) float64 { return decimal(a.Value(i).BigInt()) }
	case *array.FixedSizeList:
		width := int(a.DataType().(*arrow.FixedSizeListType).Len())
		items, ok := numbersOf(a.ListValues())
		if !ok {
			return nil, false
		}
		for i := range a.Len() {
			from, _ := a.ValueOffsets(i)
			part := slices.Clone(items[from:][:width])
			for k := range part {
				if a.IsNull(i) {
					part[k] = math.NaN()
				}
			}
			values = append(values, part...)
		}
		return values, true
	default:
		return nil, false
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			values = append(values, math.NaN())
		} else {
			values = append(values, of(i))
		}
	}
	return values, true
}
