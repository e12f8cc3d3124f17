package corpus

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/fdridge/fdridge/dataset/npy"
)

// makeData writes the data of the corpus to dir. Some files come from the repository at root, the others are
// generated from seeds.
func makeData(root, dir string) error {
	for _, f := range []struct {
		from, to string
		unzip    bool
	}{
		{"testdata/cal_housing.csv.gz", "cal.csv", true},
		{"testdata/cal_housing.csv.gz", "cal.csv.gz", false},
		{"testdata/w8a.svm.gz", "w8a.svm", true},
		{"dataset/parquet/testdata/rust-v1-plain.parquet", "rows.parquet", false},
		{"dataset/arrow/testdata/node.arrow", "rows.arrow", false},
		{"dataset/arrow/testdata/node.arrows", "rows.arrows", false},
		{"testdata/flats.csv", "flats.csv", false},
	} {
		if err := fetch(filepath.Join(root, f.from), filepath.Join(dir, f.to), f.unzip); err != nil {
			return err
		}
	}
	for name, content := range made() {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func fetch(from, to string, unzip bool) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if unzip {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		b, err = io.ReadAll(z)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	return os.WriteFile(to, b, 0o600)
}

// made returns the generated files by name. The target of a matrix is its last column.
func made() map[string][]byte {
	outlier := matrix(1, 500, 8, even)
	for j := range 7 {
		outlier.x[j] *= 1e6
	}
	nan, huge := matrix(2, 40, 4, even), matrix(3, 40, 4, even)
	nan.x[21*4+2] = math.NaN()
	huge.x[17*4+1] = 1e200
	weights := matrix(5, 800, 1, even)
	for i := range weights.x {
		weights.x[i] = math.Abs(weights.x[i]) + 0.1
	}
	return map[string][]byte{
		"small.npy":     matrix(6, 600, 8, falling).npy(),
		"wide.npy":      matrix(7, 60, 150, falling).npy(),
		"tiny.npy":      matrix(8, 11, 23, falling).npy(),
		"graded.npy":    matrix(9, 400, 9, graded).npy(),
		"outlier.npy":   outlier.npy(),
		"nan.npy":       nan.npy(),
		"huge.npy":      huge.npy(),
		"w.npy":         weights.npy(),
		"w.csv":         array{600, 1, weights.x[:600]}.csv(""),
		"p.csv":         []byte("1\n2\n0.5\n1\n10\n0.125\n3\n"),
		"p8.csv":        []byte("1\n2\n0.5\n1\n10\n0.125\n3\n4\n"),
		"shop.csv":      shop().csv("size,age,dist,visits,rent,price,times"),
		"shop.npz":      shopArchive(),
		"twins.csv":     twins().csv("a,b,same,constant,y"),
		"sparse.svm":    sparse(800, 90),
		"few.svm":       sparse(50, 200),
		"drift.csv":     drift(3000).csv(driftNames),
		"drift1.csv":    drift(1100).csv(driftNames),
		"drift2.csv":    drift(3000).from(1100).csv(driftNames),
		"wide.csv":      matrix(7, 60, 150, falling).csv(""),
		"turned.npy":    matrix(6, 600, 8, falling).columns(0, 7).turned().npy(),
		"cells.npy":     matrix(6, 600, 8, falling).columns(0, 7).npy(),
		"semicolon.csv": bytes.ReplaceAll(drift(900).csv(driftNames), []byte(","), []byte(";")),
		"turnedy.npy":   matrix(6, 600, 8, falling).columns(7, 8).npy(),
		"levels.csv": []byte(
			"area,rooms,district,heating,balcony,floor\n50,2,Nord,gas,True,1\n60,3,Mond,gas,False,2\n",
		),
		"pzero.csv": []byte("1\n2\n0\n1\n10\n0.125\n3\n4\n"),
		"word.csv":  []byte("1,2,3\n4,5,6\n7,eight,9\n"),
		"short.csv": []byte("1,2,3\n4,5,6\n7,8\n"),
		"empty.csv": nil,
	}
}

// An array holds rows×cols numbers, row after row.
type array struct {
	rows, cols int
	x          []float64
}

// even, falling and graded return the scale of column j.
func even(int) float64      { return 1 }
func falling(j int) float64 { return math.Pow(0.8, float64(j)) }
func graded(j int) float64  { return math.Pow(100, float64(4-j)) }

// matrix returns an array with columns of normal numbers, which are multiplied by scale. The last column is a
// sum of the others with noise.
func matrix(seed uint64, rows, cols int, scale func(j int) float64) array {
	r := rand.New(rand.NewPCG(seed, 16))
	a := array{rows, cols, make([]float64, rows*cols)}
	for i := range rows {
		row, sum := a.x[i*cols:(i+1)*cols], 0.0
		for j := range cols - 1 {
			v := r.NormFloat64()
			row[j] = v * scale(j)
			sum += v
		}
		row[cols-1] = sum + 0.3*r.NormFloat64() + 5
	}
	return a
}

// shop returns four features, two targets, and an integer weight for each row.
func shop() array {
	const cols = 7
	r := rand.New(rand.NewPCG(10, 16))
	a := array{400, cols, make([]float64, 400*cols)}
	for i := range a.rows {
		size, age, dist := 20+180*r.Float64(), math.Floor(90*r.Float64()), 12*r.ExpFloat64()
		visits := size/10 + 5*r.NormFloat64()
		rent := 8*size - 2*age + 30*r.NormFloat64()
		copy(a.x[i*cols:], []float64{size, age, dist, visits, rent, 200*rent - 900*dist, float64(1 + r.IntN(4))})
	}
	return a
}

// twins returns an array with two equal columns and a constant column.
func twins() array {
	a := matrix(11, 200, 5, even)
	for i := range a.rows {
		a.x[i*5+2], a.x[i*5+3] = a.x[i*5], 3
	}
	return a
}

const driftNames = "a,b,c,d,e,f,y"

// drift returns a stream of rows with six features. The coefficients of the target change after every 700
// rows. A longer stream starts with the same rows.
func drift(rows int) array {
	const cols = 7
	r := rand.New(rand.NewPCG(13, 16))
	a := array{rows, cols, make([]float64, rows*cols)}
	for i := range rows {
		row := a.x[i*cols : (i+1)*cols]
		sum := 0.5 * r.NormFloat64()
		for j := range cols - 1 {
			row[j] = r.NormFloat64() * falling(j)
			sum += row[j] * math.Cos(float64((i/700+1)*(j+2)))
		}
		row[cols-1] = sum + 2
	}
	return a
}

// from returns the rows from index row to the end.
func (a array) from(row int) array {
	return array{a.rows - row, a.cols, a.x[row*a.cols:]}
}

// turned returns the transpose of a.
func (a array) turned() array {
	out := array{a.cols, a.rows, make([]float64, len(a.x))}
	for i := range a.rows {
		for j := range a.cols {
			out.x[j*a.rows+i] = a.x[i*a.cols+j]
		}
	}
	return out
}

// sparse returns rows in svmlight format: a label and a few features each.
func sparse(rows, cols int) []byte {
	r := rand.New(rand.NewPCG(12, 16))
	var b strings.Builder
	for range rows {
		fmt.Fprintf(&b, "%.6g", r.NormFloat64())
		for j := 1; j <= cols; j++ {
			if r.Float64() < 0.06 {
				fmt.Fprintf(&b, " %d:%.6g", j, 1+r.NormFloat64())
			}
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func (a array) npy() []byte {
	var b bytes.Buffer
	if err := npy.Write(&b, a.rows, a.cols, a.x); err != nil {
		panic(err) // the shape is always valid here
	}
	return b.Bytes()
}

// csv returns the array as CSV, with a header line unless header is "".
func (a array) csv(header string) []byte {
	var b strings.Builder
	if header != "" {
		b.WriteString(header + "\n")
	}
	for i := range a.rows {
		for j, v := range a.x[i*a.cols : (i+1)*a.cols] {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%.9g", v)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// shopArchive returns the data of shop as an npz archive with the arrays X, y (two targets) and w.
func shopArchive() []byte {
	all := shop()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range []struct {
		name     string
		from, to int
	}{{"X", 0, 4}, {"y", 4, 6}, {"w", 6, 7}} {
		w, err := z.Create(part.name + ".npy")
		if err == nil {
			_, err = w.Write(all.columns(part.from, part.to).npy())
		}
		if err != nil {
			panic(err) // writing to a buffer does not fail
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// columns returns the columns with the indices from to to−1.
func (a array) columns(from, to int) array {
	out := array{rows: a.rows, cols: to - from}
	for i := range a.rows {
		out.x = append(out.x, a.x[i*a.cols+from:i*a.cols+to]...)
	}
	return out
}
