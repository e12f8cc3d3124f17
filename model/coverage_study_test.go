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

// realSets are files in the folder FDRIDGE_DATA. docs/programs/sets.py writes the files from scikit-learn.
var realSets = []struct {
	name, file, separator string
	header                bool
	target                int
}{
	{"California housing", "cal_housing.data.gz", ",", false, 8},
	{"abalone, rings", "abalone.data", ",", false, 8},
	{"diabetes", "diabetes.tab.txt", "\t", true, 10},
	{"songs, year", "YearPredictionMSD.sample7000.txt.gz", ",", false, 0},
	{"forest cover, elevation", "covtype.data.gz", ",", false, 0},
	{"wine, alcohol", "wine.csv", ",", true, 0},
	{"breast cancer, smoothness", "breast_cancer.csv", ",", true, 4},
	{"digits, digit", "digits.csv", ",", true, 64},
	{"iris, petal width", "iris.csv", ",", true, 3},
	{"exercise, weight", "linnerud.csv", ",", true, 3},
}

// noises are problems with heteroscedastic or heavy-tailed noise.
var noises = []studied{
	{"noise grows with a feature", synthetic(func(r *rand.Rand, x []float64) float64 {
		return r.NormFloat64() * (0.1 + math.Abs(x[0]))
	}), 4},
	{"noise in rare rows", synthetic(func(r *rand.Rand, x []float64) float64 {
		if x[2] > 3 {
			return 10 * r.NormFloat64()
		}
		return 0.1 * r.NormFloat64()
	}), 4},
	{"Cauchy noise", synthetic(func(r *rand.Rand, _ []float64) float64 { return r.NormFloat64() / r.NormFloat64() }), 4},
	{"noise of a t distribution, 2 degrees", synthetic(func(r *rand.Rand, _ []float64) float64 {
		return r.NormFloat64() / math.Sqrt(r.ExpFloat64())
	}), 4},
	{"skewed noise", synthetic(func(r *rand.Rand, x []float64) float64 {
		return math.Exp(r.NormFloat64() * (1 + x[2]/4))
	}), 4},
}

// split deals at most most random rows: three fifths are for the fit, one fifth is held out, and one fifth is new.
func (c *studied) split(rows [][]float64, r *rand.Rand, most int) *noisy {
	p := &noisy{gamma: 1, intercept: true, scales: true}
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
	return p
}

// A sample holds the mean of shares.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(v float64) { s.n, s.sum, s.squares = s.n+1, s.sum+v, s.squares+v*v }

// mean returns the mean and its standard deviation.
func (s *sample) mean() (mean, deviation float64) {
	mean = s.sum / s.n
	return mean, math.Sqrt(math.Max(0, s.squares/s.n-mean*mean) / math.Max(1, s.n-1))
}

// TestCoverageStudy measures the coverage of both kinds of intervals for new rows: split conformal intervals, and
// jackknife+ intervals by the rows of the fit and the held-out rows together. FDRIDGE_COVERAGE_STUDY is the number of
// random splits of each problem, and FDRIDGE_DATA the folder of the real sets. By default there are few splits of few
// problems.
func TestCoverageStudy(t *testing.T) {
	splits, err := strconv.Atoi(os.Getenv("FDRIDGE_COVERAGE_STUDY"))
	most, dir := 600, os.Getenv("FDRIDGE_DATA")
	if err != nil {
		splits, most, dir = 20, 150, ""
	}
	problems := noises
	if dir == "" {
		rows := readTable(t, "../testdata/cal_housing.csv.gz", ",", false)
		problems = append(problems, studied{"California housing", fixed(rows), len(rows[0]) - 1})
	} else {
		for _, c := range realSets {
			problems = append(problems, studied{
				c.name, fixed(readTable(t, filepath.Join(dir, c.file), c.separator, c.header)), c.target,
			})
		}
	}
	for at, c := range problems {
		level := 0.9
		var split, jackknife sample
		held, all, features := 0, 0, 0
		for k := range splits {
			r := rand.New(rand.NewPCG(uint64(k), uint64(at)))
			p := c.split(c.rows(t, r), r, most)
			held, all, features = len(p.held), len(p.x)+len(p.held), len(p.x[0])
			if held < 9 {
				level = 0.5
			}
			fresh := float64(len(p.fresh))
			split.add(p.hits(t, p.calibrated(t, p.fit(t, false), level)) / fresh)
			p.x, p.y = append(p.x, p.held...), append(p.y, p.heldY...)
			jackknife.add(p.hits(t, p.jackknifed(t, p.fit(t, false), level)) / fresh)
		}
		mean, deviation := split.mean()
		jackMean, jackDeviation := jackknife.mean()
		t.Logf("| %s | %d | %d | %v | %.4f ± %.4f | %.4f ± %.4f |",
			c.name, all, features, level, mean, deviation, jackMean, jackDeviation)
		if !(mean >= level-3*deviation) {
			t.Errorf("%s: split conformal intervals of level %v cover %.4f ± %.4f", c.name, level, mean, deviation)
		}
		if !(jackMean >= 2*level-1-3*jackDeviation) {
			t.Errorf("%s: jackknife+ intervals of level %v cover %.4f ± %.4f", c.name, level, jackMean, jackDeviation)
		}
		if expected := math.Ceil(level*float64(held+1)) / float64(held+1); !(mean <= expected+4*deviation+0.02) {
			t.Errorf("%s: split conformal intervals cover %.4f, expected %.4f", c.name, mean, expected)
		}
	}
}

// fixed returns the same rows for each split.
func fixed(rows [][]float64) func(t *testing.T, r *rand.Rand) [][]float64 {
	return func(*testing.T, *rand.Rand) [][]float64 { return rows }
}
