package model_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// readTable reads the numbers of a file with the given separator. It leaves out the header, and fields that are not
// numbers become 0.
func readTable(t *testing.T, path, separator string, header bool) [][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var from io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		from, err = gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
	}
	var out [][]float64
	lines := bufio.NewScanner(from)
	for lines.Scan() && len(out) < 20000 {
		if header {
			header = false
			continue
		}
		var row []float64
		for _, field := range strings.Split(lines.Text(), separator) {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil {
				v = 0
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// A studied problem has the rows of a set, and the column of the target.
type studied struct {
	name   string
	rows   func(t *testing.T, r *rand.Rand) [][]float64
	target int
}

// synthetic returns rows of four features and a target whose noise depends on the row.
func synthetic(noise func(r *rand.Rand, x []float64) float64) func(t *testing.T, r *rand.Rand) [][]float64 {
	return func(_ *testing.T, r *rand.Rand) [][]float64 {
		var out [][]float64
		for range 1000 {
			x := []float64{r.NormFloat64(), r.NormFloat64(), r.ExpFloat64(), r.NormFloat64(), 0}
			x[4] = x[0] - 2*x[1] + x[2]*x[2]/4 + noise(r, x)
			out = append(out, x)
		}
		return out
	}
}

// TestCoverageStudy measures the coverage of intervals for new rows. FDRIDGE_COVERAGE_STUDY is the number of random
// splits of each problem, and FDRIDGE_DATA the folder of the real sets. There are ten problems from five real sets,
// with two targets each, and five problems with heteroscedastic or heavy-tailed noise.
func TestCoverageStudy(t *testing.T) {
	splits, err := strconv.Atoi(os.Getenv("FDRIDGE_COVERAGE_STUDY"))
	if err != nil {
		t.Skip("FDRIDGE_COVERAGE_STUDY is not set")
	}
	problems := []studied{
		{"noise grows with a feature", synthetic(func(r *rand.Rand, x []float64) float64 {
			return r.NormFloat64() * (0.1 + math.Abs(x[0]))
		}), 4},
		{"noise in rare rows", synthetic(func(r *rand.Rand, x []float64) float64 {
			if x[2] > 3 {
				return 10 * r.NormFloat64()
			}
			return 0.1 * r.NormFloat64()
		}), 4},
		{"Cauchy", synthetic(func(r *rand.Rand, _ []float64) float64 { return r.NormFloat64() / r.NormFloat64() }), 4},
		{"t with 2 degrees", synthetic(func(r *rand.Rand, _ []float64) float64 {
			return r.NormFloat64() / math.Sqrt(r.ExpFloat64())
		}), 4},
		{"skewed", synthetic(func(r *rand.Rand, x []float64) float64 {
			return math.Exp(r.NormFloat64() * (1 + x[2]/4))
		}), 4},
	}
	if dir := os.Getenv("FDRIDGE_DATA"); dir != "" {
		for _, c := range []struct {
			file, separator string
			header          bool
			targets         [2]int
		}{
			{"cal_housing.data.gz", ",", false, [2]int{8, 7}},
			{"abalone.data", ",", false, [2]int{8, 4}},
			{"diabetes.tab.txt", "\t", true, [2]int{10, 2}},
			{"YearPredictionMSD.sample7000.txt.gz", ",", false, [2]int{0, 1}},
			{"covtype.data.gz", ",", false, [2]int{0, 9}},
		} {
			rows := readTable(t, filepath.Join(dir, c.file), c.separator, c.header)
			for _, target := range c.targets {
				problems = append(problems, studied{
					c.file + ", column " + strconv.Itoa(target+1),
					func(*testing.T, *rand.Rand) [][]float64 { return rows }, target,
				})
			}
		}
	}
	const level, most = 0.9, 600
	for at, c := range problems {
		var sum, squares, promised float64
		for split := range splits {
			r := rand.New(rand.NewPCG(uint64(split), uint64(at)))
			rows := c.rows(t, r)
			p := &noisy{gamma: 1, intercept: true}
			order := r.Perm(len(rows))
			order = order[:min(len(order), most)]
			for i, k := range order {
				x, y := []float64(nil), []float64{rows[k][c.target]}
				for j, v := range rows[k] {
					if j != c.target {
						x = append(x, v)
					}
				}
				switch {
				case i < len(order)*3/5:
					p.x, p.y = append(p.x, x), append(p.y, y)
				case i < len(order)*4/5:
					p.held, p.heldY = append(p.held, x), append(p.heldY, y)
				default:
					p.fresh, p.freshY = append(p.fresh, x), append(p.freshY, y)
				}
			}
			m := p.fit(t, false)
			share := p.hits(t, p.calibrated(t, m, level)) / float64(len(p.fresh))
			sum, squares = sum+share, squares+share*share
			promised = math.Ceil(level*float64(len(p.held)+1)) / float64(len(p.held)+1)
		}
		n := float64(splits)
		mean := sum / n
		deviation := math.Sqrt(math.Max(0, squares/n-mean*mean) / math.Max(1, n-1))
		t.Logf("%-50s coverage %.4f ± %.4f, at least %v, expected %.4f", c.name, mean, deviation, level, promised)
		if !(mean >= level-3*deviation) {
			t.Errorf("%s: coverage %.4f ± %.4f", c.name, mean, deviation)
		}
	}
}
