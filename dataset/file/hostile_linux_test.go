package file_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/fdridge/fdridge/dataset/file"
)

// Files that were made to do harm are read by a process of its own, whose address
// space is limited (ulimit -v) and that tells how much memory it took. What
// SECURITY.md says of a format is its bound, in MiB.

const (
	mib = 1 << 20
	// addressSpace is the limit of the process's address space, in KiB. Go reserves more than it uses.
	addressSpace = 4 << 20
	// patience is the time limit of the process. No file takes a tenth of this time.
	patience = 2 * time.Minute
)

var bounds = map[string]int{
	"csv":      512,
	"jsonl":    512,
	"svmlight": 512,
	"npy":      2048,
	"npz":      2048,
	"parquet":  1024,
	"arrow":    2048,
}

// A reading has the request to the process, Paths and Options, and its answer: the number of rows, the error and the
// peak of its memory.
type reading struct {
	Paths   []string
	Options file.Options

	Rows int64
	Err  string
	Peak int // resident, MiB
}

// A hostile file, how it is opened, and what comes of it.
type hostile struct {
	format, name, path string
	opts               file.Options
	want               string // of the error; "" for rows
}

// TestReadHostile is the process.
func TestReadHostile(t *testing.T) {
	task := os.Getenv("FDRIDGE_TEST_READ")
	if task == "" {
		t.Skip("this is for the process that TestHostile starts")
	}
	var r reading
	if err := json.Unmarshal([]byte(task), &r); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(r.Paths, r.Options)
	if err == nil {
		for b, e := range src.Blocks(context.Background()) {
			r.Rows, err = r.Rows+int64(b.N), e
		}
	}
	if err != nil {
		r.Err = err.Error()
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			r.Peak = kib >> 10
		}
	}
	answer, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\nanswer %s\n", answer)
}

// ask starts the process; without an answer the error says how it ended.
func ask(t *testing.T, memory int, r reading) (reading, error) {
	t.Helper()
	task, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(
		ctx,
		"sh",
		"-c",
		`ulimit -v "$1" && exec "$2" -test.run='^TestReadHostile$'`,
		"sh",
		strconv.Itoa(addressSpace),
		os.Args[0],
	)
	c.Env = append(os.Environ(), "FDRIDGE_TEST_READ="+string(task), fmt.Sprintf("GOMEMLIMIT=%dMiB", memory))
	out, err := c.CombinedOutput()
	if _, answer, ok := bytes.Cut(out, []byte("\nanswer ")); ok {
		line, _, _ := bytes.Cut(answer, []byte("\n"))
		return r, json.Unmarshal(line, &r)
	}
	return r, fmt.Errorf("%v: %.300s", err, out)
}

// made writes a file by parts of any number.
func made(t *testing.T, name string, parts func(w io.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	if err := errors.Join(parts(w), w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// repeated writes part n times.
func repeated(w io.Writer, part string, n int) error {
	for range n {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// bomb is a gzip stream of first, n times part, and last.
func bomb(t *testing.T, first, part string, n int, last string) string {
	return made(t, "bomb.gz", func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		return errors.Join(repeated(z, first, 1), repeated(z, part, n), repeated(z, last, 1), z.Close())
	})
}

// zstdBomb is bomb as a zstd stream.
func zstdBomb(t *testing.T, first, part string, n int) string {
	return made(t, "bomb.zst", func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		return errors.Join(repeated(z, first, 1), repeated(z, part, n), z.Close())
	})
}

// sparseFile is a text followed by zero bytes that take no room, size bytes in all.
func sparseFile(t *testing.T, text string, size int64) string {
	t.Helper()
	path := named(t, "sparse", text)
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

// keys is a file of lines with n keys each.
func keys(t *testing.T, n, lines int) string {
	var line []byte
	for i := range n {
		line = strconv.AppendInt(append(line, ",\"k"...), int64(i), 10)
		line = append(line, "\":1"...)
	}
	line[0] = '{'
	return made(t, "keys", func(w io.Writer) error { return repeated(w, string(line)+"}\n", lines) })
}

// swollen is an archive with one deflated member of mib zero bytes after a header.
func swollen(t *testing.T, header string, size int) string {
	return made(t, "bomb.npz", func(w io.Writer) error {
		z := zip.NewWriter(w)
		m, err := z.Create("x.npy")
		if err != nil {
			return err
		}
		return errors.Join(repeated(m, header, 1), repeated(m, strings.Repeat("\x00", mib), size), z.Close())
	})
}

// footer returns a Parquet file whose footer announces a list of so many schema elements, but has no elements.
func footer(elements uint64) string {
	meta := binary.AppendUvarint([]byte{0x15, 2, 0x19, 0xfc}, elements)
	return "PAR1" + string(meta) + string(binary.LittleEndian.AppendUint32(nil, uint32(len(meta)))) + "PAR1"
}

// forged is a Parquet file whose page begins, where mark stands, with other bytes.
func forged(t *testing.T, codec int, mark, with string) string {
	t.Helper()
	values := make([]float64, 4000)
	for i := range values {
		values[i] = 1 / float64(i+3)
	}
	text := columnsOf(t, [][]float64{values, values}, codec)
	at := strings.Index(text, mark)
	if at < 0 {
		t.Fatalf("no %x in the file", mark)
	}
	return named(t, "forged.parquet", text[:at]+with+text[at+len(with):])
}

func TestHostile(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	last := file.Options{Target: list("last"), Targets: 1}
	labels := file.Options{Format: "svmlight", Targets: 1}
	if _, err := ask(t, 512, reading{Paths: []string{named(t, "data", "1,2\n")}, Options: last}); err != nil {
		t.Skipf("this build does not run in %d KiB of address space: %v", addressSpace, err)
	}
	batch := 2 << 20 // rows of two numbers
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		batch = 4 << 20
	}
	text := strings.Repeat
	const snappyPage = "\x80\xfa\x01" // 32000 bytes
	files := []hostile{
		{
			"csv",
			"a line of a gigabyte",
			sparseFile(t, "1,2\n3", 1<<30),
			last,
			":2: the row and the blank lines before it are longer than 64 MiB",
		},
		{
			"csv",
			"numbers without number",
			bomb(t, "", text("1,", mib/2), 5, "1\n"),
			last,
			":1: the row has more than 1048576 fields",
		},
		{
			"csv",
			"commas and a quote",
			bomb(t, "\"\"", text(",", mib), 5, "\n"),
			last,
			":1: the row has more than 1048576 fields",
		},
		{
			"csv",
			"quotes without number",
			bomb(t, "", text("\"\",", mib/4), 5, "\n"),
			last,
			":1: the row has more than 1048576 fields",
		},
		{
			"csv",
			"commas below a good row",
			bomb(t, "1,2\n", text(",", mib), 5, "\n"),
			last,
			":2: the row has more than 1048576 fields",
		},
		{
			"csv",
			"as many columns as there may be",
			bomb(t, text("1,", 1<<20-1)+"1\n", text("1,", 1<<20-1)+"1\n", 2, ""),
			last,
			"",
		},
		{"csv", "rows of 70 MiB", bomb(t, "", text("1,"+text(" ", 8188)+"2\n", 128), 70, ""), last, ""},
		{
			"csv",
			"gzip members without number",
			made(t, "members.gz", func(w io.Writer) error { return repeated(w, zipped(t, ""), 200000) }),
			last,
			": is empty",
		},
		{
			"csv",
			"a zstd window of 2 GiB",
			named(t, "w", "\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x001,2\n"),
			last,
			"window of more than 128 MiB",
		},

		{
			"jsonl",
			"a line of a gigabyte",
			sparseFile(t, "{\"a\":1,\"b\":2}\n{\"a\":3", 1<<30),
			last,
			":2: the row and the blank lines before it are longer than 64 MiB",
		},
		{
			"jsonl",
			"keys without number",
			keys(t, 1<<20+1, 1),
			last,
			":1:12520380: the objects have more than 1048576 keys",
		},
		{"jsonl", "as many keys as there may be", keys(t, 1<<20, 2), last, ""},
		{
			"jsonl",
			"brackets without end",
			zstdBomb(t, "{\"a\":1,\"b\":2}\n{\"a\":", text("[", mib), 60),
			file.Options{Target: list("b"), Targets: 1, Columns: list("a")},
			":2:",
		},
		{
			"jsonl",
			"brackets in the first line",
			zstdBomb(t, "{\"a\":1,\"b\":", text("{\"b\":", mib/5), 60),
			last,
			":1:",
		},
		{
			"jsonl",
			"a text of escapes",
			zstdBomb(t, "{\"a\":1,\"b\":2}\n{\"a\":\"", text("\\u00e9", mib/6), 62),
			last,
			"the text does not end",
		},

		{"svmlight", "index 2³¹", named(t, "i", "1 2147483648:1\n"), labels, ":1:3: index 2147483648 is more than"},
		{"svmlight", "index 2³¹ − 1", named(t, "i", "1 2147483647:1\n2 1:1\n"), labels, ""},

		{
			"npy",
			"2⁶² rows",
			named(t, "n", npy("<f8", "False", "(4611686018427387904, 1)", nil)),
			file.Options{},
			": has shape",
		},
		{
			"npy",
			"2⁵⁰ rows, gzip",
			bomb(t, npy("<f8", "False", "(1125899906842624, 1)", nil), "", 0, ""),
			file.Options{},
			": is truncated: row 1 of",
		},
		{
			"npy",
			"a million columns in Fortran order",
			sparseFile(
				t,
				npy("|u1", "True", "(2, 1048576)", nil),
				int64(len(npy("|u1", "True", "(2, 1048576)", nil)))+2<<20,
			),
			last,
			"",
		},
		{
			"npy",
			"a header of 4 GiB",
			named(t, "n", "\x93NUMPY\x02\x00\xff\xff\xff\xff{"),
			file.Options{},
			": has a header of",
		},
		{
			"npy",
			"a deep header",
			named(t, "n", "\x93NUMPY\x01\x00\xff\xff"+text("(", 65534)+"\n"),
			file.Options{},
			": has a malformed header",
		},
		{
			"npy",
			"a shape without end",
			named(t, "n", npy("<f8", "False", "("+text("1, ", 20000)+")", nil)),
			file.Options{},
			": ",
		},

		{"npz", "more than is held", swollen(t, npy("<f8", "False", "(8388608, 1)", nil), 64), file.Options{}, ""},
		{
			"npz",
			"2⁵⁰ rows",
			swollen(t, npy("<f8", "False", "(1125899906842624, 1)", nil), 1),
			file.Options{},
			":x: is truncated",
		},
		{"npz", "arrays without number", made(t, "many.npz", func(w io.Writer) error {
			z := zip.NewWriter(w)
			for i := range 30000 {
				if _, err := z.CreateHeader(&zip.FileHeader{Name: strconv.Itoa(i) + ".npy"}); err != nil {
					return err
				}
			}
			return z.Close()
		}), file.Options{}, ": holds the arrays 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …; select one"},
		{
			"npz",
			"an array that says it is 1 TiB",
			named(
				t,
				"l.npz",
				lying(
					t,
					npy("<f8", "False", "(99999999999, 1)", nil),
					func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 },
				),
			),
			file.Options{},
			":x",
		},

		{
			"parquet",
			"100 million schema elements",
			named(t, "p", footer(1e8)),
			file.Options{},
			": is not a readable Parquet file",
		},
		{
			"parquet",
			"2³¹ − 1 schema elements",
			named(t, "p", footer(1<<31-1)),
			file.Options{},
			": is not a readable Parquet file",
		},
		{
			"parquet",
			"a zstd page of 60 GiB",
			forged(
				t,
				zst,
				"\x28\xb5\x2f\xfd",
				"\x28\xb5\x2f\xfd\xc0\x00"+"\x00\x00\x00\x00\x0f\x00\x00\x00"+"\x01\x00\x00",
			),
			last,
			"column a cannot be read",
		},
		{
			"parquet",
			"a zstd page of one segment",
			forged(
				t,
				zst,
				"\x28\xb5\x2f\xfd",
				"\x28\xb5\x2f\xfd\xe0"+"\x00\x00\x00\x00\x0f\x00\x00\x00"+"\x01\x00\x00",
			),
			last,
			"column a cannot be read",
		},
		{
			"parquet",
			"a snappy page of 4 GiB",
			forged(t, snap, snappyPage, "\xff\xff\xff\xff\x0f"),
			last,
			"column a cannot be read",
		},
		{
			"parquet",
			"a footer of 4 GiB",
			named(t, "p", "PAR1"+text("x", 100)+"\xff\xff\xff\xffPAR1"),
			file.Options{},
			": is not a readable Parquet file",
		},
		{
			"arrow",
			"a gigabyte that is no footer",
			sparseFile(t, "ARROW1", 1<<30),
			file.Options{},
			": is truncated: it has no footer",
		},
		{
			"arrow",
			"a body of a GiB that is not there",
			named(t, "a", strings.ReplaceAll(arrowOf(t, true, 1000), number(16000), number(1<<30))),
			last,
			": is truncated: record batch 1 of 1073741824 bytes",
		},
		{
			"arrow",
			"the same in gzip",
			bomb(t, strings.ReplaceAll(arrowOf(t, true, 1000), number(16000), number(1<<30)), "", 0, ""),
			last,
			"record batch 1: is truncated",
		},
		{"arrow", "a large batch in zstd", named(t, "z", arrowOf(t, false, batch, ipc.WithZstd())), last, ""},
		{
			"parquet",
			"a gigabyte that is no footer",
			sparseFile(t, "PAR1", 1<<30),
			file.Options{Format: "parquet"},
			": is not a readable Parquet file",
		},
	}
	if os.Getenv("FDRIDGE_THOROUGH") != "" { // those that take a processor for a second, each like one above
		files = append(files, []hostile{
			{
				"csv",
				"a quote that is not closed",
				bomb(t, "1,2\n3,\"", text(text("x", 63)+"\n", mib/64), 70, ""),
				last,
				"are longer than 64 MiB",
			},
			{"svmlight", "entries without number", made(t, "e", func(w io.Writer) error {
				err := repeated(w, "1", 1)
				for i := 1; i <= 2000000 && err == nil; i++ {
					_, err = fmt.Fprintf(w, " %d:1", i)
				}
				return err
			}), labels, ""},
			{
				"csv",
				"60 MiB of commas",
				bomb(t, "", text(",", mib), 60, "\n"),
				last,
				":1: the row has more than 1048576 fields",
			},
			{"csv", "blanks without end", bomb(t, "1,2\n", text(" ", mib), 70, ""), last, "are longer than 64 MiB"},
			{"csv", "zero bytes", bomb(t, "", text("\x00", mib), 70, ""), last, ":1: the row"},
			{
				"csv",
				"empty lines without end",
				zstdBomb(t, "1,2\n", text("\n", mib/16)+text(text(" ", 15*64-1)+"\n", mib/1024), 70),
				last,
				"are longer than 64 MiB",
			},
			{
				"csv",
				"a header that does not end",
				bomb(t, "\"a\n", text(text("b", 63)+"\n", mib/64), 70, ""),
				last,
				"are longer than 64 MiB",
			},
			{"svmlight", "a line of a gigabyte", sparseFile(t, "1 1:1\n1 1:1 ", 1<<30), labels, ":2: the row"},
			{
				"npy",
				"a row of 128 MiB",
				bomb(t, npy("<f8", "False", "(2, 16777216)", nil), text("\x00", mib), 256, ""),
				last,
				"",
			},
			{"npz", "a row of 64 MiB", swollen(t, npy("|u1", "False", "(2, 8388608)", nil), 16), last, ""},
			{
				"csv",
				"lines of blanks without end",
				zstdBomb(t, "1,2\n", text(text(" ", 63)+"\n", mib/64), 70),
				last,
				"are longer than 64 MiB",
			},
			{
				"svmlight",
				"comments without end",
				bomb(t, "1 1:1\n", text("# no row\n", mib/9), 80, ""),
				labels,
				"are longer than 64 MiB",
			},
			{"svmlight", "blanks within a row", bomb(t, "1 1:1", text(" ", mib), 60, " 2:1\n"), labels, ""},
			{"svmlight", "rows of 70 MiB", bomb(t, "1 1:1\n", text("1"+text(" ", 8190)+"\n", 128), 70, ""), labels, ""},
			{
				"npy",
				"a row of 32 MiB",
				bomb(t, npy("<f8", "False", "(2, 4194304)", nil), text("\x00", mib), 64, ""),
				last,
				"",
			},
		}...)
	}
	for name, text := range forgedArrow(t) {
		files = append(files, hostile{"arrow", name, named(t, "forged", text), last, "?"})
	}
	for _, c := range files {
		since := time.Now()
		r, err := ask(t, bounds[c.format], reading{Paths: []string{c.path}, Options: c.opts})
		switch {
		case err != nil:
			t.Errorf("%s: %s: no answer: %v", c.format, c.name, err)
		case c.want == "" && (r.Err != "" || r.Rows == 0):
			t.Errorf("%s: %s: %d rows, %s", c.format, c.name, r.Rows, r.Err)
		case c.want == "?": // an error or rows
		case c.want != "" && !strings.Contains(r.Err, c.want):
			t.Errorf("%s: %s: %d rows, %.300s; want %q", c.format, c.name, r.Rows, r.Err, c.want)
		}
		if r.Peak > bounds[c.format] {
			t.Errorf("%s: %s: took %d MiB, bounded by %d", c.format, c.name, r.Peak, bounds[c.format])
		}
		t.Logf("%s: %s: %v, %d MiB, %d rows, %.120s", c.format, c.name, time.Since(since), r.Peak, r.Rows, r.Err)
	}
}

// TestHostilePlaces: what is no file with an end is refused, not waited for, under any
// name and in any place; and nothing but the file that is named is touched.
func TestHostilePlaces(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for link, to := range map[string]string{
		"zero":       "/dev/zero",
		"loop":       in("loop"),
		"dangling":   in("nothing"),
		"folder.csv": dir,
		"good":       named(t, "g", "1,2\n3,4\n"),
	} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	good := named(t, "data", "1,2\n3,4\n")
	for _, path := range []string{
		"/dev/zero", "/dev/null", "/dev/tty", "/dev/random", in("zero"), in("loop"), in("dangling"), in("folder.csv"), dir,
		"/proc/self/fd/0/x", good + "/x", "", "\x00",
	} {
		for _, format := range file.Formats {
			for what, open := range map[string]func() error{
				"data": func() error { _, err := file.Open([]string{path}, file.Options{Format: format}); return err },
				"targets": func() error {
					_, err := file.Open([]string{good}, file.Options{Target: list(path + "/."), Targets: 1})
					return err
				},
			} {
				done := make(chan error, 1)
				go func() { done <- open() }()
				select {
				case err := <-done:
					if err == nil {
						t.Errorf("%s: %q as %s is read", what, path, format)
					} else if path == in("zero") && what == "data" && !strings.Contains(err.Error(), "is not a regular file") {
						t.Errorf("%s: %q as %s is opened: %v", what, path, format, err)
					}
				case <-time.After(patience):
					t.Fatalf("%s: waits for %q as %s", what, path, format)
				}
			}
		}
	}
	if got, err := open(in("good"), file.Options{Target: list("last"), Targets: 1}); err != nil ||
		got != "[1] [2] [3] [4]" {
		t.Errorf("a link to a file: %q, %v", got, err)
	}
	// Names in an archive are names, not paths.
	escape := "../../../../" + strings.TrimPrefix(in("escaped"), "/")
	archive := named(
		t,
		"e.npz",
		npz(t, zip.Deflate, escape+".npy", npy("<f8", "False", "(1, 2)", floats(le, 1, 2)), "/etc/passwd.npy", ""),
	)
	if got, err := open(archive+":"+escape, file.Options{Target: list("last"), Targets: 1}); err != nil ||
		got != "[1] [2]" {
		t.Errorf("an array with a path for a name: %q, %v", got, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 5 {
		t.Errorf("files left: %v, %v", left, err)
	}
}
