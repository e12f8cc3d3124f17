package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf16"
)

// A hostileTable is one that --prepare auto has to decide about, or to refuse.
type hostileTable struct {
	what  string
	files []string // contents
	rows  int      // rows of data
	want  string   // the error, if it must be refused; "": either is right, by the checks of all
}

// hostileTables returns n tables. Of every kind there is at least one if n is 24 or more.
func hostileTables(n int, size func(small, large int) int) func(yield func(hostileTable) bool) {
	rng := rand.New(rand.NewPCG(34, 7))
	number := func() string { return fmt.Sprintf("%.3g", rng.NormFloat64()) }
	// table writes rows of named columns, by a function of row and column.
	table := func(rows int, header string, cell func(i, j int) string) string {
		var b strings.Builder
		b.WriteString(header + "\n")
		for i := range rows {
			for j := range strings.Count(header, ",") + 1 {
				if j > 0 {
					b.WriteByte(',')
				}
				b.WriteString(cell(i, j))
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	return func(yield func(hostileTable) bool) {
		for k := range n {
			rows := 20 + rng.IntN(60)
			turn := rng.IntN(rows) // where something changes
			odd := func(usual func() string, odds ...string) func(i, j int) string {
				return func(i, j int) string {
					if j == 0 && i >= turn && rng.IntN(3) > 0 {
						return pick(odds...)
					}
					if j == 0 {
						return usual()
					}
					return number()
				}
			}
			t := hostileTable{rows: rows}
			kind := k % 24
			switch kind {
			case 0:
				t.what, t.files = "numbers, then texts", []string{
					table(rows, "a,b,y", odd(number, "red", "n.a.n", "12 m", "--", "1,5")),
				}
				t.files[0] = strings.ReplaceAll(t.files[0], "1,5", `"1,5"`)
			case 1:
				t.what, t.files = "dates that are none", []string{
					table(
						rows,
						"a,b,y",
						odd(
							func() string { return fmt.Sprintf("2024-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)) },
							"2024-02-30",
							"2024-13-01",
							"0000-00-00",
							"03/04/2024",
							"20240304",
							"24:00",
							"2024-01-01T25:00",
						),
					),
				}
			case 2:
				t.what, t.rows = "levels of the second file", 2*rows
				t.files = []string{
					table(rows, "a,b,y", odd(func() string { return pick("u", "v") }, "w")),
					table(rows, "a,b,y", odd(func() string { return pick("x", "z") }, "(other)", "missing")),
				}
			case 3:
				t.what, t.want = "no target", "rows are left out"
				t.files = []string{
					table(
						rows,
						"a,b,y",
						func(_, j int) string { return map[bool]string{true: pick("", "NA", "?"), false: number()}[j == 2] },
					),
				}
			case 4:
				t.rows = size(3000, 1_000_000) / (1 + k/24*20)
				t.what, t.files = "very many levels", []string{table(t.rows, "a,b,y", func(i, j int) string {
					if j == 0 {
						return fmt.Sprint("level ", i/2)
					}
					return number()
				})}
			case 5:
				d := size(500, 100_000) / (1 + k/24*20)
				names := make([]string, d, d+1)
				for j := range names {
					names[j] = fmt.Sprint("c", j)
				}
				t.rows = 9
				t.what, t.files = "very many columns", []string{
					table(t.rows, strings.Join(append(names, "y"), ","), func(i, j int) string {
						switch {
						case j == d || j%5 == 0:
							return number()
						case j%5 == 1:
							return pick("u", "v")
						case j%5 == 2:
							return pick("", "7", "8")
						case j%5 == 3:
							return fmt.Sprintf("2024-01-%02d", i+1)
						}
						return "key " + number()
					}),
				}
			case 6:
				t.what, t.files = "Latin-1", []string{
					table(rows, "a,b,y", odd(func() string { return "K\xf6ln" }, "N\xee")),
				}
				t.want = ":2:1: column a has a text that is not UTF-8"
			case 7:
				t.what, t.want, t.files = "a header in Latin-1", ":1:1: the name of column 1 is not UTF-8", []string{
					table(rows, "\xe4,b,y", odd(number, "1")),
				}
			case 8:
				var b []byte
				for _, u := range utf16.Encode([]rune("\ufeff" +
					table(rows, "ä,b,y", odd(func() string { return pick("ö", "ß") }, "é")))) {
					b = binary.LittleEndian.AppendUint16(b, u)
				}
				t.what, t.files = "UTF-16", []string{string(b)}
			case 9:
				t.what, t.files = "UTF-8 with a mark, then Latin-1", []string{
					"\ufeff" + table(rows, "a,b,y", odd(func() string { return "Köln" }, "K\xf6ln")),
				}
			case 10:
				t.what, t.want, t.files = "a short row", "the row has 2 fields, the first line has 3", []string{
					table(rows, "a,b,y", odd(number, "1")) + "1,2\n",
				}
			case 11:
				t.what, t.want, t.files = "infinity", "is not finite", []string{
					table(rows, "a,b,y", odd(number, "1")) + "inf,1,1\n",
				}
			case 12:
				t.what, t.want, t.files = "beyond float64", "exceeds the range of float64", []string{
					table(rows, "a,b,y", odd(number, "1")) + "-1e999,1,1\n",
				}
			case 13:
				t.what, t.want, t.files = "a header only", "no rows", []string{"a,b,y\n"}
			case 14:
				t.what, t.files = "equal names", []string{
					table(rows, "a,a,y", odd(func() string { return pick("u", "v") }, "3")),
				}
			case 15:
				t.what, t.files = "no names", []string{
					table(rows, ",,y", odd(func() string { return pick("u", "v") }, "3")),
				}
			case 16:
				t.what, t.want, t.files = "constant and empty", "every column is left out", []string{
					table(
						rows,
						"a,b,y",
						func(_, j int) string { return map[int]string{0: "", 1: "3", 2: number()}[j] },
					),
				}
			case 17:
				t.what, t.want, t.files = "a text as target", "column y: \"yes\" is not a number", []string{
					table(rows, "a,b,y", odd(number, "1")) + "1,2,yes\n",
				}
			case 18:
				t.what, t.files = "huge and tiny", []string{
					table(
						rows,
						"a,b,y",
						odd(func() string { return pick("1e308", "-1e308", "5e-324") }, "0", "1e-300"),
					),
				}
			case 19:
				t.what, t.files = "truths and numbers", []string{
					table(
						rows,
						"a,b,y",
						odd(func() string { return pick("True", "False") }, "yes", "0", "NaN", "TRUE"),
					),
				}
			case 20:
				t.what, t.rows, t.files = "quoted lines", rows, []string{
					table(rows, "a,b,y", odd(func() string { return pick(`"u`+"\n"+`v"`, `"a ""b"""`) }, `",,"`)),
				}
			case 21:
				t.what, t.rows, t.files = "a few rows", 1+k/24%3, []string{table(1+k/24%3, "a,b,y", odd(number, "u"))}
			case 22:
				t.what, t.rows, t.want = "another header in the second file", 2*rows, "differ"
				t.files = []string{table(rows, "a,b,y", odd(number, "1")), table(rows, "b,a,y", odd(number, "1"))}
			case 23:
				t.what, t.files = "gaps everywhere", []string{
					table(rows, "a,b,y", func(_, _ int) string { return pick("", "NA", "None", "1", number()) }),
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}

// TestPrepareHostile: a hostile table is either refused in one line that names the file, or fitted. If it is fitted,
// each column has a stated decision, each row is fitted or counted as left out, and the model predicts for the table.
// Memory grows by less than 3 GiB.
func TestPrepareHostile(t *testing.T) {
	n, size := 48, func(small, _ int) int { return small }
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		n, size = 500, func(_, large int) int { return large }
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as the command, not as the other tests
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	dir := t.TempDir()
	decided := 0
	for table := range hostileTables(n, size) {
		var names []string
		for i, text := range table.files {
			names = append(names, filepath.Join(dir, fmt.Sprint("t", i, ".csv")))
			if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		data, model := strings.Join(names, ","), filepath.Join(dir, "m.json")
		code, out, errs := call(
			"fit",
			"--data",
			data,
			"--target",
			"y",
			"--prepare",
			"auto",
			"--gamma",
			"1",
			"--json",
			"--out",
			model,
		)
		if code == usage {
			if !strings.Contains(errs, dir) || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, table.want) {
				t.Errorf("%s: %s, want %s", table.what, errs, table.want)
			}
			continue
		}
		decided++
		var r struct {
			N        int
			Encoding struct {
				LeftOut  int `json:"rows_left_out"`
				Prepared []struct{ Column, Use, Done string }
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || (code != done && code != 3) || table.want != "" {
			t.Errorf("%s: exit %d, %s, %v; want %s", table.what, code, errs, err, table.want)
			continue
		}
		columns := strings.Count(table.files[0][:strings.IndexByte(table.files[0], '\n')], ",")
		if table.what == "UTF-16" {
			columns = 2
		}
		if r.N+r.Encoding.LeftOut != table.rows || len(r.Encoding.Prepared) != columns {
			t.Errorf(
				"%s: %d rows fitted, %d left out of %d; %d of %d columns decided",
				table.what,
				r.N,
				r.Encoding.LeftOut,
				table.rows,
				len(r.Encoding.Prepared),
				columns,
			)
		}
		for _, c := range r.Encoding.Prepared {
			if c.Done == "" || c.Use == "" {
				t.Errorf("%s: column %s has no decision", table.what, c.Column)
			}
		}
		code, out, errs = call("predict", "--model", model, "--data", data, "--target", "y")
		if code != done || strings.Contains(out, "NaN") || strings.Count(out, "\n") != table.rows {
			t.Errorf("%s: predict: exit %d, %d lines, %s", table.what, code, strings.Count(out, "\n"), errs)
		}
	}
	if decided < n/4 {
		t.Errorf("%d of %d tables were decided", decided, n)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.Sys > before.Sys+3<<30 {
		t.Errorf("%d MiB of memory, %d before", memory.Sys>>20, before.Sys>>20)
	}
}
