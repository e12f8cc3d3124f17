package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// Limits of a command that reads a damaged file of a few kilobytes.
const (
	longestDamaged = time.Minute
	mostDamaged    = 1 << 30 // bytes allocated
)

// A damageable is a whole file of some kind, with the commands that read it.
type damageable struct {
	name   string
	text   []byte
	damage func(r *rand.Rand, text []byte) []byte
	reads  func(name string) [][]string
}

// TestDamaged: no command panics, hangs or takes much memory if a model, a sketch, a plan or a report is damaged. Every
// error is one line, without the name of a Go package. FDRIDGE_DAMAGED is the number of damaged files, by default 400.
func TestDamaged(t *testing.T) {
	files := damageables(t)
	n, first := 400, 0
	if text := os.Getenv("FDRIDGE_DAMAGED"); text != "" {
		numbers := strings.Split(text, ":")
		var err error
		n, err = strconv.Atoi(numbers[len(numbers)-1])
		if err != nil {
			t.Fatal(err)
		}
		if len(numbers) == 2 { // one case again
			first, _ = strconv.Atoi(numbers[0])
		}
	}
	for _, f := range files {
		name := filepath.Join(t.TempDir(), "whole")
		if err := os.WriteFile(name, f.text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range f.reads(name) {
			must(t, args...)
		}
	}
	accepted, commands := 0, 0
	name := filepath.Join(t.TempDir(), "damaged")
	for i := first; i < n; i++ {
		f, r := files[i%len(files)], rand.New(rand.NewPCG(uint64(i), 44))
		text := f.damage(r, f.text)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		watch := time.AfterFunc(
			longestDamaged,
			func() { panic(fmt.Sprintf("case %d, %s: a command hangs", i, f.name)) },
		)
		for _, args := range f.reads(name) {
			commands++
			if readDamaged(t, i, f.name, args) {
				accepted++
			}
		}
		if strings.HasPrefix(f.name, "model") {
			useDamaged(t, i, f.name, text)
		}
		watch.Stop()
	}
	t.Logf("%d files of %d kinds, %d commands, of which %d succeeded", n-first, len(files), commands, accepted)
}

// readDamaged runs a command that reads a damaged file. It returns true if the command accepts the file.
func readDamaged(t *testing.T, i int, kind string, args []string) bool {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("case %d, %s: %v panics: %v\n%s", i, kind, args, p, debug.Stack())
		}
	}()
	var out, errs bytes.Buffer
	before := allocated()
	code := run(context.Background(), args, &out, &errs)
	if b := allocated() - before; b > mostDamaged {
		t.Errorf("case %d, %s: %v allocates %d bytes", i, kind, args, b)
	}
	switch code {
	case done, short:
		return true
	case usage:
	default: // such as "nothing is proved", which the input does not cause
		t.Logf("case %d, %s: %v: exit %d: %s", i, kind, args, code, errs.String())
	}
	text := errs.String()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "fdridge: ") || packagePrefix.MatchString(text) {
		t.Errorf("case %d, %s: %v: exit %d: %.500q", i, kind, args, code, text)
	}
	return false
}

// useDamaged calls the methods of a damaged model in Go.
func useDamaged(t *testing.T, i int, kind string, text []byte) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("case %d, %s: panic: %v\n%s", i, kind, p, debug.Stack())
		}
	}()
	m, err := model.Read(bytes.NewReader(text))
	if err != nil {
		if !errors.Is(err, model.ErrInput) {
			t.Errorf("case %d, %s: %v", i, kind, err)
		}
		return
	}
	m.Weights()
	_, _ = m.Err(), m.Proves()
	var json, arrays bytes.Buffer
	if err := m.Write(&json); err != nil {
		t.Errorf("case %d, %s: it is read and not written: %v", i, kind, err)
	} else if _, err := model.Read(&json); err != nil {
		t.Errorf("case %d, %s: it is written and not read: %v", i, kind, err)
	}
	if m.WriteArrays(&arrays) == nil {
		if _, err := model.Read(&arrays); err != nil {
			t.Errorf("case %d, %s: it is written as arrays and not read: %v", i, kind, err)
		}
	}
	for g := range m.Fits {
		one, err := m.At(m.Fits[g].Gamma)
		if err != nil {
			t.Errorf("case %d, %s: %v", i, kind, err)
			continue
		}
		for _, by := range []model.Intervals{nil, model.ExactIntervals{}} {
			p, err := one.Predictor(by)
			if err != nil {
				continue
			}
			k, d := p.Dims()
			if d > 1000 || k > 1000 {
				t.Errorf("case %d, %s: %d targets and %d columns of a small file", i, kind, k, d)
				continue
			}
			within := make([]ridge.Interval, k)
			if by == nil {
				within = nil
			}
			x := make([]float64, d)
			_ = p.PredictRow(make([]float64, k), within, x)
			_ = p.PredictCells(make([]float64, k), within, slices.Repeat([]string{"1"}, d))
			_, _, _ = p.PredictMatrix(mat.NewDense(2, d, nil))
		}
	}
}

// allocated returns the number of bytes that the heap has ever held.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// damageables returns a file of every kind.
func damageables(t *testing.T) []damageable {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	either := func(r *rand.Rand, text []byte) []byte {
		if r.IntN(5) == 0 {
			return damageBytes(r, text)
		}
		return damageJSON(r, text)
	}
	plain, banded := write(t, "plain.csv", rowsCSV(12)), write(t, "banded.csv", bandedCSV(20))
	targets := write(t, "targets.csv", targetsCSV(12, 3))
	table := write(t, "homes.csv", homes(60, homesHeader))
	labels := writeLabels(t, "labels.csv", []string{"red", "green", "blue"}, func(i int) int { return i % 3 }, 18)
	flats := write(t, "flats.csv", "area,district,rent\n50,A,500\n60,B,700\n,A,650\n80,,900\n90,B,980\n")
	var out []damageable
	addModel := func(name, file, data string, gamma string) {
		f := damageable{"model " + name, read(file), either, func(name string) [][]string {
			predict := []string{"predict", "--model", name, "--data", data}
			if gamma != "" {
				predict = append(predict, "--gamma", gamma)
			}
			return [][]string{
				{"show", name},
				{"show", "--json", name}, {"show", "--top", "0", name}, predict,
				append(slices.Clone(predict), "--interval", name, "--json"),
				append(slices.Clone(predict), "--out", in("p.npy")),
			}
		}}
		if filepath.Ext(file) == ".npz" {
			f.damage = func(r *rand.Rand, text []byte) []byte {
				if r.IntN(5) == 0 {
					return damageBytes(r, text)
				}
				return damageArchive(r, text)
			}
		}
		if gamma != "" {
			reads := f.reads
			f.reads = func(name string) [][]string { return append(reads(name), []string{"plot", name, "--out", in("p.svg")}) }
		}
		if slices.Contains([]string{"free", "free arrays"}, name) { // intervals are not available
			reads := f.reads
			f.reads = func(name string) [][]string { return slices.Delete(reads(name), 4, 5) }
		}
		out = append(out, f)
	}
	fit := func(name, data, file, gamma string, args ...string) {
		must(t, append([]string{"fit", "--data", data, "--out", in(file)}, args...)...)
		addModel(name, in(file), data, gamma)
	}
	fit("plain", plain, "plain.json", "", "--target", "y", "--gamma", "1")
	fit("scaled", plain, "scaled.json", "2", "--target", "y", "--gamma", "0.5,2", "--standardize")
	fit("classes", labels, "classes.json", "", "--target", "kind", "--classes", "--gamma", "1")
	fit(
		"free",
		banded,
		"free.json",
		"",
		"--target",
		"y",
		"--gamma",
		"4",
		"--unpenalized",
		"a1,a2",
		"--bands",
		"b1-b9=3",
		"--standardize",
	)
	fit(
		"free arrays",
		banded,
		"free.npz",
		"",
		"--target",
		"y",
		"--gamma",
		"4",
		"--unpenalized",
		"a1,a2",
		"--bands",
		"b1-b9=3",
	)
	fit("per target", targets, "each.json", "", "--target", "y1,y2,y3", "--per-target", "--gamma", "1,2,3")
	fit(
		"per target arrays",
		targets,
		"each.npz",
		"",
		"--target",
		"y1,y2,y3",
		"--per-target",
		"--gamma",
		"1,2,3",
		"--standardize",
	)
	fit("arrays", targets, "targets.npz", "2", "--target", "y1,y2,y3", "--gamma", "1,2")
	fit("targets", targets, "targets.json", "2", "--target", "y1,y2,y3", "--gamma", "1,2", "--standardize")
	fit(
		"prepared",
		table,
		"prepared.json",
		"",
		"--target",
		"rent",
		"--prepare",
		"auto",
		"--prepare-out",
		in("plan.json"),
		"--gamma",
		"1",
	)
	fit(
		"encoded",
		flats,
		"encoded.json",
		"",
		"--target",
		"rent",
		"--onehot",
		"district",
		"--missing",
		"mean",
		"--gamma",
		"1",
		"--standardize",
	)
	fit("fourier", plain, "fourier.json", "", "--target", "y", "--features", "rff:5,gamma=0.1,seed=1", "--gamma", "1")
	fit(
		"polynomial",
		plain,
		"polynomial.json",
		"",
		"--target",
		"y",
		"--features",
		"poly:2",
		"--gamma",
		"1",
		"--standardize",
	)
	golden := func(name string) string { return filepath.Join("..", "..", "model", "testdata", name) }
	rows := write(t, "rows.csv", "floors,area\n1,40\n2,55\n1,60\n")
	for name, gamma := range map[string]string{"one-v1": "", "several-v1": "2", "targets-v1": "", "one-v2": "",
		"several-v2": "2", "targets-v2": ""} {
		addModel(name, golden(name+".json"), rows, gamma)
	}
	addModel("classes-v4", golden("classes-v4.json"), write(t, "xz.csv", "x,z\n1,2\n0,1\n"), "")
	slices.SortFunc(out, func(a, b damageable) int { return strings.Compare(a.name, b.name) })

	out = append(out, damageable{"plan", read(in("plan.json")), either, func(name string) [][]string {
		return [][]string{
			{"fit", "--data", table, "--target", "rent", "--prepare", name, "--gamma", "1", "--out", in("m")},
			{"sketch", "--data", table, "--target", "rent", "--prepare", name, "--out", in("s")},
		}
	}})
	report := func(name string, kinds []string, args ...string) {
		text := must(t, append([]string{"fit", "--json"}, args...)...)
		out = append(out, damageable{"report " + name, []byte(text), either, func(name string) (all [][]string) {
			for _, kind := range kinds {
				all = append(all, []string{"plot", name, "--kind", kind, "--out", in("p.svg")})
			}
			return all
		}})
	}
	report("choice", []string{"path"}, "--data", plain, "--target", "y", "--gamma", "auto")
	report(
		"passes",
		[]string{"path", "convergence"},
		"--data",
		banded,
		"--target",
		"y",
		"--gamma",
		"1,2",
		"--method",
		"cg",
		"--size",
		"3",
		"--tol",
		"1e-6",
	)
	report(
		"classes",
		[]string{"path"},
		"--data",
		labels,
		"--target",
		"kind",
		"--classes",
		"--select",
		"accuracy",
		"--gamma",
		"auto:1,2,3",
	)
	sketch := func(name, data string, args ...string) {
		must(t, append([]string{"sketch", "--data", data, "--out", in(name)}, args...)...)
		whole := in(name)
		out = append(
			out,
			damageable{
				"sketch " + name,
				read(whole),
				func(r *rand.Rand, text []byte) []byte { return damageSketch(t, r, text) },
				func(name string) [][]string {
					return [][]string{
						{
							"solve",
							name,
							"--gamma",
							"1",
							"--out",
							in("m"),
						},
						{"solve", name, "--gamma", "auto", "--json"}, {"solve", name, "--gamma", "1", "--data", data},
						{
							"merge",
							whole,
							name,
							"-o",
							in("both"),
						},
						{"plan", "--sketch", name}, {"plot", name, "--kind", "spectrum", "--out", in("p.svg")},
						{"plot", name, "--kind", "path", "--out", in("p.svg")},
					}
				},
			},
		)
	}
	sketch("targets", targets, "--target", "y1,y2", "--size", "3")
	sketch("banded", banded, "--target", "y", "--size", "3")
	return out
}

// damageSketch changes the description in a sketch, or bytes of the sketch, with a checksum that fits.
func damageSketch(t *testing.T, r *rand.Rand, text []byte) []byte {
	if r.IntN(2) == 0 {
		sum, err := ridge.ReadSummary(bytes.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		sum.Meta = damageJSON(r, sum.Meta)
		var out bytes.Buffer
		if _, err := sum.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	out := damageBytes(r, text)
	if len(out) > 4 && r.IntN(8) > 0 {
		wiretest.Seal(out)
	}
	return out
}
