package file_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// dribble writes text in pieces of any size to a pipe.
func dribble(t *testing.T, text string, seed uint64) *dataset.Pipe {
	rng := rand.New(rand.NewPCG(seed, 2))
	r := strings.NewReader(text)
	return dataset.NewPipe(t.Context(), "the pipe", readerFunc(func(p []byte) (int, error) {
		return r.Read(p[:min(len(p), 1+rng.IntN(1<<uint(rng.IntN(19))))])
	}))
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// pipable are data of every format that a pipe may have, each of more blocks than one.
func pipable(t *testing.T) map[string]piped {
	const n = 3000
	var table, blanks, quoted, sparse, lines strings.Builder
	table.WriteString("\ufeffa,b,c,y\n")
	body := []byte{}
	for i := range n {
		x := []float64{float64(i), float64(i%7) / 3, -float64(i % 11), float64(i % 2)}
		fmt.Fprintf(&table, "%g,%g,%g,%g\r\n", x[0], x[1], x[2], x[3])
		fmt.Fprintf(&blanks, "%g  %g %g %g\n", x[0], x[1], x[2], x[3])
		fmt.Fprintf(&quoted, "\"%g\";\"%g\n\";%g;%g\n\n", x[0], x[1], x[2], x[3])
		fmt.Fprintf(&lines, "{\"a\":%g,\"b\":\"%g\",\"c\":%g,\"y\":%g}\n", x[0], x[1], x[2], x[3])
		fmt.Fprintf(&sparse, "%g 1:%g 3:%g # a comment\n", x[3], x[0], x[1])
		body = append(body, floats(le, x...)...)
	}
	last := file.Options{Target: []string{"last"}, Targets: 1}
	all := map[string]piped{
		"csv":      {table.String(), last},
		"blanks":   {blanks.String(), last},
		"quoted":   {quoted.String(), last},
		"jsonl":    {lines.String(), last},
		"svmlight": {sparse.String(), file.Options{Targets: 1, Features: 3}},
		"npy":      {npy("<f8", "False", fmt.Sprintf("(%d, 4)", n), body), last},
	}
	for name, c := range maps.Clone(all) {
		all[name+".gz"] = piped{zipped(t, c.text), c.opts}
		all[name+".zst"] = piped{zstandard(t, c.text), c.opts}
	}
	all["csv in UTF-16"] = piped{utf16Of(all["csv"].text, binary.LittleEndian), all["csv"].opts}
	return all
}

type piped struct {
	text string
	opts file.Options
}

// TestPiped: rows that arrive through a pipe, in pieces of any size, equal the rows of the file. The blocks are the
// same too, unless Pipe.Prompt is set, which ends a block when no more data have arrived.
func TestPiped(t *testing.T) {
	leaktest.Check(t)
	for name, c := range pipable(t) {
		path := named(t, "data", c.text)
		want := rowsIn(t, opened(t, []string{path}, c.opts))
		for seed := range uint64(6) {
			opts := c.opts
			opts.Pipe = dribble(t, c.text, seed)
			opts.Pipe.Prompt = seed%2 == 1
			src := opened(t, []string{"-"}, opts)
			if !dataset.Once(src) {
				t.Fatalf("%s: it could be read again", name)
			}
			got := rowsIn(t, src)
			if opts.Pipe.Prompt {
				got.ends = want.ends
			}
			if !slices.Equal(got.numbers, want.numbers) || !slices.Equal(got.ends, want.ends) {
				t.Errorf(
					"%s, seed %d: %d numbers, blocks end at %v; want %d and %v",
					name,
					seed,
					len(got.numbers),
					got.ends,
					len(want.numbers),
					want.ends,
				)
			}
			for _, err := range src.Blocks(t.Context()) {
				if _, once := errors.AsType[*dataset.OnceError](err); !once {
					t.Errorf("%s: a second pass: %v", name, err)
				}
			}
			opts.Pipe.Stop()
		}
	}
}

// rows are the numbers of a pass, and after how many rows its blocks end.
type rows struct {
	numbers []float64
	ends    []int64
}

func rowsIn(t *testing.T, src *file.Opened) (out rows) {
	t.Helper()
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out.numbers, out.ends = append(append(out.numbers, b.X...), b.Y...), append(out.ends, b.First+int64(b.N))
		if b.Sparse != nil {
			for i := range b.N {
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					out.numbers = append(out.numbers, float64(j), val[k])
				}
			}
		}
	}
	// Targets stand behind the features of a block: sorted, they are the same however it is cut.
	slices.Sort(out.numbers)
	return out
}

// TestDribbled: what a line is told to be does not depend on how much of it has come.
func TestDribbled(t *testing.T) {
	text := "# a, b\n1,5 3:4\n2 3:1\n"
	for n := 1; n < len(text); n++ {
		first := true
		p := dataset.NewPipe(t.Context(), "the pipe", readerFunc(func(to []byte) (int, error) {
			if first {
				first = false
				return copy(to, text[:n]), nil
			}
			return copy(to, text[n:]), io.EOF
		}))
		if got, err := file.Format("-", file.Options{Origin: file.Origin{Pipe: p}}); got != "svmlight" || err != nil {
			t.Errorf("%q, then the rest, is %s: %v", text[:n], got, err)
		}
	}
}

// TestPrompt: each row is there before the next one is written.
func TestPrompt(t *testing.T) {
	leaktest.Check(t)
	body := floats(le, 1, 2, 3, 4, 5, 6)
	for name, c := range map[string]struct {
		parts []string
		opts  file.Options
	}{
		"csv":            {[]string{"a,b\n1,2\n", "3,4\n", "5,6\n"}, file.Options{}},
		"by blanks":      {[]string{"1 2\n3 4\n", "5 6\n"}, file.Options{Format: "csv"}},
		"a header alone": {[]string{"a,b\n", "1,2\n", "3,4\n5,6\n"}, file.Options{}},
		"halves":         {[]string{"1,2\n3,", "4\n5", ",6\n"}, file.Options{}},
		"JSON lines":     {[]string{"{\"a\":1,\"b\":2}\n{\"a\":3,", "\"b\":4}\n{", "\"a\":5,\"b\":6}\n"}, file.Options{}},
		"svmlight":       {[]string{"1 1:1 2:2\n", "1 1:3 2:4\n", "1 1:5 2:6\n"}, file.Options{Features: 2}},
		"npy": {
			[]string{npy("<f8", "False", "(3, 2)", body[:16]), string(body[16:32]), string(body[32:])}, file.Options{},
		},
	} {
		from, to := io.Pipe()
		c.opts.Pipe = dataset.NewPipe(t.Context(), "the pipe", from)
		c.opts.Pipe.Prompt = true
		write := func(part string) { // returns when it has been taken
			if _, err := io.WriteString(to, part); err != nil {
				t.Error(err)
			}
		}
		go write(c.parts[0])
		src := opened(t, []string{"-"}, c.opts)
		var got []float64
		next := 1
		if name == "a header alone" {
			go write(c.parts[1])
			next++
		}
		for b, err := range src.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(name, err)
			}
			got = append(got, b.X...)
			if b.Sparse != nil {
				got = append(got, b.Sparse.Val...)
			}
			if next < len(c.parts) {
				go write(c.parts[next])
			} else if len(got) == 6 {
				if err := to.Close(); err != nil {
					t.Error(err)
				}
			}
			next++
			if next > len(c.parts)+1 {
				t.Fatalf("%s: more blocks than parts", name)
			}
		}
		if !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPipeRefused is of what a pipe cannot do, and of what comes through it broken.
func TestPipeRefused(t *testing.T) {
	table := pipable(t)["csv"].text
	long := strings.Repeat("1,2,3,4\n", 20000)
	body := floats(le, 1, 2, 3, 4)
	for name, c := range map[string]struct {
		text  string
		paths []string
		opts  file.Options
		want  string
	}{
		"several": {table, []string{"-", "x"}, file.Options{}, "the pipe: is a pipe, which must be the only input"},
		"shared": {
			table, nil, file.Options{Share: dataset.Share{Rank: 1, Size: 2}},
			"the pipe: is a pipe, whose rows cannot be divided",
		},
		"transposed": {
			table, nil, file.Options{Transposed: true}, "turning columns into rows: the rows can be read only once",
		},
		"no width": {
			"1 1:2\n", nil, file.Options{}, "the number of features of svmlight rows: the rows can be read only once",
		},
		"too wide": {"1 1:2\n0 5:3\n", nil, file.Options{Features: 4}, "the pipe:2:3: "},
		"npz":      {"PK\x03\x04", nil, file.Options{}, "the pipe: is npz, which cannot be read sequentially"},
		"parquet":  {"PAR1", nil, file.Options{}, "the pipe: is parquet, which cannot be read sequentially"},
		"Fortran": {
			npy("<f8", "True", "(2, 2)", body), nil, file.Options{}, "the pipe: is in Fortran order and comes from a pipe",
		},
		"empty":         {"", nil, file.Options{}, "the pipe: is empty"},
		"truncated gz":  {zipped(t, long)[:200], nil, file.Options{}, "the gzip stream is truncated"},
		"damaged zst":   {zstandard(t, long)[:40] + "????", nil, file.Options{}, "the zstd stream is"},
		"ragged at end": {long + "1,2", nil, file.Options{}, "the pipe:20001:3: the row has 2 fields"},
		"open quote":    {long + "1,\"2", nil, file.Options{}, "the pipe:20001:"},
		"short npy": {
			npy("<f8", "False", "(2, 2)", body[:25]), nil, file.Options{}, "the pipe: is truncated: row 2 of 2 is incomplete",
		},
		"long npy": {npy("<f8", "False", "(1, 2)", body), nil, file.Options{}, "the pipe: has more bytes than its 1 rows"},
	} {
		for _, prompt := range []bool{false, true} {
			c.opts.Pipe = dribble(t, c.text, 3)
			c.opts.Pipe.Prompt = prompt
			if c.paths == nil {
				c.paths = []string{"-"}
			}
			src, err := file.Open(c.paths, c.opts)
			if err == nil {
				_, err = contents(src)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, dataset.ErrInput) {
				t.Errorf("%s: %v; want %q", name, err, c.want)
			}
			c.opts.Pipe.Stop()
		}
	}
}

// TestPipeEndless: a text without newlines, or of nothing but them, is given up, and takes no more
// memory than a row may have a few times.
func TestPipeEndless(t *testing.T) {
	leaktest.Check(t)
	for i, first := range []string{"", "1,2\n3,4\n"} {
		parts := []string{"1", "\n"}[i : i+1]
		if os.Getenv("FDRIDGE_THOROUGH") != "" {
			parts = []string{"1", "\n", ",", "#\n", " ", "\""}
		}
		for _, part := range parts {
			if part == "#\n" && first != "" {
				continue // which is a row that is wrong
			}
			text := bytes.Repeat([]byte(part), 1<<16/len(part))
			begun := false
			p := dataset.NewPipe(t.Context(), "the pipe", readerFunc(func(to []byte) (int, error) {
				if !begun && first != "" {
					begun = true
					return copy(to, first), nil
				}
				return copy(to, text), nil
			}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			src, err := file.Open([]string{"-"}, file.Options{Origin: file.Origin{Pipe: p}, Features: 2})
			if err == nil {
				_, err = contents(src)
			}
			runtime.ReadMemStats(&after)
			if err == nil || !errors.Is(err, dataset.ErrInput) {
				t.Errorf("%q, then %q for ever: %v", first, part, err)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 3000 {
				t.Errorf("%q, then %q for ever: %d MiB", first, part, took)
			}
			p.Stop()
		}
	}
}

// TestPipeLeft: leaving a pass, and cancelling it, ends what waits for a pipe that hangs.
func TestPipeLeft(t *testing.T) {
	leaktest.Check(t)
	for _, leaves := range []bool{true, false} {
		for name, head := range map[string]string{
			"csv": "1,2\n", "svmlight": "1 2:2\n", "npy": npy("<f8", "False", "(3, 2)", floats(le, 1, 2)),
		} {
			from, to := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			p := dataset.NewPipe(t.Context(), "the pipe", from)
			p.Prompt = true
			go func() {
				if _, err := io.WriteString(to, head); err != nil {
					t.Error(err)
				}
			}()
			src := opened(t, []string{"-"}, file.Options{Origin: file.Origin{Pipe: p}, Features: 2})
			blocks := 0
			for _, err := range src.Blocks(ctx) {
				blocks++
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
				if blocks == 1 { // the pass waits for another row by then
					time.AfterFunc(20*time.Millisecond, cancel)
				}
				if leaves {
					break
				}
			}
			if leaves && blocks != 1 || !leaves && blocks != 2 {
				t.Errorf("%s: %d blocks", name, blocks)
			}
			cancel()
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat("/dev/null"); err == nil {
		if _, err := file.Open([]string{"/dev/null"}, file.Options{}); err == nil {
			t.Error("a device is no file, and was not said to be a pipe")
		}
	}
}
