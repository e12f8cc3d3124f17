package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
)

func write(tb testing.TB, content []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "data.parquet")
	rewrite(tb, path, content)
	return path
}

// rewrite gives a file another content. It is for many of them: a folder for each takes
// longer than reading it.
func rewrite(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// contents reads all rows, targets behind features.
func contents(src dataset.Source) (string, error) {
	_, d, t := src.Dims()
	var b strings.Builder
	for blk, err := range src.Blocks(context.Background()) {
		if err != nil {
			return b.String(), err
		}
		for i := range blk.N {
			fmt.Fprint(&b, blk.X[i*d:(i+1)*d], blk.Y[i*t:(i+1)*t], " ")
		}
	}
	return strings.TrimSpace(b.String()), nil
}

func open(path string, opts parquet.Options) (string, error) {
	s, err := parquet.Open(path, opts)
	if err != nil {
		return "", err
	}
	return contents(s)
}

// TestRead: every type that is read, and columns by name. want is either rows or,
// after "!", the error behind the file's name.
func TestRead(t *testing.T) {
	a := column{node("a", false, double, nil), []float64{1, 2}, nil}
	y := column{node("y", true, double, nil), []float64{5, 6}, []bool{true, true}}
	text := column{node("sex", false, bytesType, as(1)), []string{"M", "F"}, nil}
	integer := func(t, bits int, signed bool, v any) column {
		return column{node("i", false, t, as(10, 2, signed)), v, nil}
	}
	group := column{
		append(listOf{fields(nil, 3, int32(0), 4, "g", 5, int32(1))}, node("b", false, double, nil)...),
		[]float64{1, 2},
		nil,
	}
	list := column{element("l", 2, bytesType, nil), []string{"", ""}, []bool{true, true}}
	for name, c := range map[string]struct {
		cols []column
		opts parquet.Options
		want string
	}{
		"features alone":      {[]column{a, y}, parquet.Options{}, "[1 5] [] [2 6] []"},
		"target by name":      {[]column{y, a}, parquet.Options{Targets: []string{"y"}}, "[1] [5] [2] [6]"},
		"target last":         {[]column{a, y}, parquet.Options{Targets: []string{"last"}}, "[1] [5] [2] [6]"},
		"columns in order":    {[]column{a, text, y}, parquet.Options{Columns: []string{"y", "a"}}, "[5 1] [] [6 2] []"},
		"a column left out":   {[]column{a, text, y}, parquet.Options{Targets: []string{"y"}, Columns: []string{"-sex"}}, "[1] [5] [2] [6]"},
		"nested left out":     {[]column{group, a}, parquet.Options{Columns: []string{"a"}}, "[1] [] [2] []"},
		"float32":             {[]column{{node("f", false, float, nil), []float32{0.5, -3}, nil}}, parquet.Options{}, "[0.5] [] [-3] []"},
		"booleans":            {[]column{{node("b", false, boolean, nil), []bool{true, false}, nil}}, parquet.Options{}, "[1] [] [0] []"},
		"int32":               {[]column{{node("i", false, word, nil), []int32{-7, 8}, nil}}, parquet.Options{}, "[-7] [] [8] []"},
		"int64":               {[]column{{node("i", false, long, nil), []int64{-7, 1 << 53}, nil}}, parquet.Options{}, "[-7] [] [9.007199254740992e+15] []"},
		"int8":                {[]column{integer(word, 8, true, []int32{-128, 127})}, parquet.Options{}, "[-128] [] [127] []"},
		"uint32":              {[]column{integer(word, 32, false, []int32{-1, 1})}, parquet.Options{}, "[4.294967295e+09] [] [1] []"},
		"uint64":              {[]column{integer(long, 64, false, []int64{3, 1 << 53})}, parquet.Options{}, "[3] [] [9.007199254740992e+15] []"},
		"decimal":             {[]column{{node("d", false, long, as(5, 1, int32(2), 2, int32(18))), []int64{-125, 10}, nil}}, parquet.Options{}, "[-1.25] [] [0.1] []"},
		"decimal in int32":    {[]column{{node("d", true, word, as(5, 1, int32(3), 2, int32(9))), []int32{1, 1000}, []bool{true, true}}}, parquet.Options{}, "[0.001] [] [1] []"},
		"no such column":      {[]column{a, y}, parquet.Options{Targets: []string{"price"}}, "!: there is no column \"price\"; the 2 columns are a, y"},
		"nothing but target":  {[]column{a}, parquet.Options{Targets: []string{"a"}}, "!: no column is left for the features"},
		"text":                {[]column{a, text}, parquet.Options{}, "!: column sex holds text or categories; encode it as numbers, or leave it out"},
		"a nested column":     {[]column{a, group}, parquet.Options{}, "!: column g holds nested values; make columns of its fields, or leave it out"},
		"a list":              {[]column{a, list}, parquet.Options{}, "!: column l holds nested values"},
		"a date":              {[]column{{node("d", false, word, as(6)), []int32{1, 2}, nil}}, parquet.Options{}, "!: column d holds values of type Date; read it as dates (--dates), encode it as numbers, or leave it out"},
		"an old timestamp":    {[]column{{node("t", false, int96, nil), [][12]byte{{}, {}}, nil}}, parquet.Options{}, "!: column t holds timestamps; read it as dates (--dates), encode it as numbers, or leave it out"},
		"a time":              {[]column{{node("t", false, word, as(7)), []int32{1, 2}, nil}}, parquet.Options{}, "!: column t holds values of type Time; encode it as numbers, or leave it out"},
		"fixed bytes":         {[]column{{node("u", false, fixed, nil), [][2]byte{{}, {}}, nil}}, parquet.Options{}, "!: column u holds values of type fixed-length bytes; cast it to double, or leave it out"},
		"half floats":         {[]column{{node("h", false, fixed, as(15)), [][2]byte{{0, 0x3c}, {1, 0x80}}, nil}}, parquet.Options{}, "[1] [] [-5.960464477539063e-08] []"},
		"decimal in bytes":    {[]column{{node("d", false, bytesType, as(5, 1, int32(2), 2, int32(30))), []string{"\x01\x00", "\xff"}, nil}}, parquet.Options{}, "[2.56] [] [-0.01] []"},
		"decimal of 2 bytes":  {[]column{{node("d", false, fixed, as(5, 1, int32(1), 2, int32(4))), [][2]byte{{1, 0}, {0xff, 0xff}}, nil}}, parquet.Options{}, "[25.6] [] [-0.1] []"},
		"decimal, no bytes":   {[]column{{node("d", false, bytesType, as(5, 1, int32(2), 2, int32(30))), []string{"\x01", ""}, nil}}, parquet.Options{}, "!:1:1: column d cannot be read: a number has 0 bytes"},
		"decimal, 65 bytes":   {[]column{{node("d", false, bytesType, as(5, 1, int32(2), 2, int32(30))), []string{strings.Repeat("\x01", 65), ""}, nil}}, parquet.Options{}, "!:1:1: column d cannot be read: a number has 65 bytes"},
		"decimal beyond":      {[]column{{node("d", false, long, as(5, 1, int32(3), 2, int32(18))), []int64{1<<53 + 1, math.MinInt64}, nil}}, parquet.Options{}, "[9.007199254740992e+12] [] [-9.223372036854776e+15] []"},
		"decimal of scale 25": {[]column{{node("d", false, long, as(5, 1, int32(25), 2, int32(38))), []int64{3, -1}, nil}}, parquet.Options{}, "[3e-25] [] [-1e-25] []"},
		"decimal of scale -1": {[]column{{node("d", false, long, as(5, 1, int32(-1), 2, int32(9))), []int64{1, 2}, nil}}, parquet.Options{}, "!: column d holds decimals of scale -1; cast it to double"},
		"null":                {[]column{a, {node("z", true, double, nil), []float64{5}, []bool{true, false}}}, parquet.Options{}, "!:2:2: column z has a missing value (null); fill in what is missing, or leave the column out"},
		"NaN":                 {[]column{{node("z", false, double, nil), []float64{1, math.NaN()}, nil}, a}, parquet.Options{}, "!:2:1: column z: NaN is not finite"},
		"infinite target":     {[]column{a, {node("z", true, float, nil), []float32{1, float32(math.Inf(-1))}, []bool{true, true}}}, parquet.Options{Targets: []string{"z"}}, "!:2:2: column z: -Inf is not finite"},
		"beyond 2^53":         {[]column{{node("i", false, long, nil), []int64{5, 1<<53 + 1}, nil}, a}, parquet.Options{}, "!:2:1: column i: an integer beyond 2⁵³, which float64 cannot represent"},
		"below -2^53":         {[]column{{node("i", false, long, nil), []int64{-1<<53 - 1, 5}, nil}, a}, parquet.Options{}, "!:1:1: column i: an integer beyond 2⁵³"},
		"uint64 beyond":       {[]column{integer(long, 64, false, []int64{-1, 1}), a}, parquet.Options{}, "!:1:1: column i: an integer beyond 2⁵³"},
		"no rows":             {[]column{{node("a", false, double, nil), []float64{}, nil}}, parquet.Options{}, "!: has no rows"},
	} {
		path := write(t, encode(t, 1, c.cols, layout{encoding: indices}))
		got, err := open(path, c.opts)
		part, bad := strings.CutPrefix(c.want, "!")
		var e *dataset.InputError
		switch {
		case !bad && (err != nil || got != c.want):
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		case bad && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+part)):
			t.Errorf("%s: %q, %v; want %q", name, got, err, part)
		case bad && e.NonFinite != strings.Contains(part, "is not finite"):
			t.Errorf("%s: NonFinite is %v", name, e.NonFinite)
		}
	}
}

func sequence(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i) + 0.25
	}
	return v
}

// TestPages: row groups of many pages, in every encoding and compression, in blocks
// that end within pages and groups, read twice.
func TestPages(t *testing.T) {
	const n, groups = 3000, 3
	some, valid := make([]bool, n), make([]bool, n)
	for i := range n {
		some[i], valid[i] = i%3 == 0, true
	}
	cols := []column{
		{node("a", false, double, nil), sequence(n), nil},
		{node("b", false, boolean, nil), some, nil},
		{node("c", true, double, nil), sequence(n), valid},
	}
	for name, l := range map[string]layout{
		"plain":        {statistic: true},
		"dictionary":   {encoding: indices},
		"snappy":       {codec: snap},
		"zstd":         {codec: zst, encoding: indices},
		"gzip":         {codec: gz},
		"brotli":       {codec: brot},
		"lz4":          {codec: lz},
		"lz4, Hadoop":  {codec: hadoop, encoding: indices},
		"checksums":    {codec: zst, encoding: indices, checksum: true},
		"repetitions":  {codec: snap, version2: true, repeats: 6, checksum: true},
		"version 2":    {codec: snap, version2: true, statistic: true, encoding: indices},
		"stream split": {encoding: split},
	} {
		l.pageRows = 125
		s, err := parquet.Open(write(t, encode(t, groups, cols, l)), parquet.Options{Targets: []string{"c"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.BlockRows = 257
		for range 2 {
			if err := compare(s, cols, n); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if rows, _, _ := s.Dims(); rows != groups*n {
			t.Errorf("%s: %d rows", name, rows)
		}
	}
}

func compare(s dataset.Source, cols []column, n int) error {
	a, b, c := cols[0].values.([]float64), cols[1].values.([]bool), cols[2].values.([]float64)
	at := 0
	for blk, err := range s.Blocks(context.Background()) {
		if err != nil {
			return err
		}
		for i := range blk.N {
			k := (at + i) % n
			if blk.X[2*i] != a[k] || (blk.X[2*i+1] == 1) != b[k] || blk.Y[i] != c[k] {
				return fmt.Errorf("row %d is %v, %v", at+i, blk.X[2*i:2*i+2], blk.Y[i])
			}
		}
		at += blk.N
	}
	return nil
}

// TestWide: more columns than are put into rows together, wherever they go.
func TestWide(t *testing.T) {
	const n, d = 1500, 21
	var cols []column
	for j := range d {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(100*i + j)
		}
		cols = append(
			cols,
			column{
				node:   node(fmt.Sprint("x", j+1), j%2 == 0, double, nil),
				values: v,
				valid:  map[bool][]bool{true: slicesOf(n)}[j%2 == 0],
			},
		)
	}
	path := write(t, encode(t, 2, cols, layout{}))
	for _, c := range []struct {
		columns, targets string
	}{{"", ""}, {"", "x5"}, {"", "x21,x1"}, {"x21,x20,x19,x18,x17,x16,x15,x14,x1,x2,x3", ""}, {"-x3,-x12", ""}, {"x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11,x12,x13,x14,x15", "x21"}} {
		split := func(list string) []string { return strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) }
		opts := parquet.Options{Columns: split(c.columns), Targets: split(c.targets)}
		features, targets, err := parquet.Names(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parquet.Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for b, err := range s.Blocks(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.N {
				for k, name := range append(features, targets...) {
					got := b.Y
					if k < len(features) {
						got, k = b.X, i*len(features)+k
					} else {
						k = i*len(targets) + k - len(features)
					}
					var j int
					fmt.Sscanf(name, "x%d", &j)
					if got[k] != float64(100*(at%n)+j-1) {
						t.Fatalf("%+v: row %d, %s is %v", c, at+1, name, got[k])
					}
				}
				at++
			}
		}
		if at != 2*n {
			t.Errorf("%+v: %d rows", c, at)
		}
		byColumns(t, s, features, targets, n)
	}
}

// byColumns holds the columns of what TestWide reads to what they are.
func byColumns(t *testing.T, s *dataset.Stream, features, targets []string, n int) {
	t.Helper()
	columns, ok := dataset.ByColumns(s)
	if !ok {
		t.Fatal("no columns")
	}
	columns.(*dataset.Stream).BlockRows = 4
	is := func(name string, row int, v float64) {
		var j int
		fmt.Sscanf(name, "x%d", &j)
		if v != float64(100*(row%n)+j-1) {
			t.Fatalf("by columns: row %d, %s is %v", row+1, name, v)
		}
	}
	seen := 0
	for b, err := range columns.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		for k := range b.N {
			for i, v := range b.X[k*2*n : (k+1)*2*n] {
				is(features[seen], i, v)
			}
			seen++
		}
	}
	if seen != len(features) {
		t.Errorf("%d columns of %d", seen, len(features))
	}
	y, _, err := dataset.Samples(context.Background(), s)
	if err != nil || len(y) != 2*n*len(targets) {
		t.Fatalf("%d targets, %v", len(y), err)
	}
	for i, v := range y {
		is(targets[i%len(targets)], i/len(targets), v)
	}
}

// TestNullFarIn: the row of a null is counted over row groups and pages.
func TestNullFarIn(t *testing.T) {
	const n = 1000
	valid := make([]bool, n)
	for i := range valid {
		valid[i] = i != 777
	}
	cols := []column{
		{node("a", true, double, nil), sequence(n - 1), valid},
		{node("b", false, double, nil), sequence(n), nil},
	}
	path := write(t, encode(t, 1, cols, layout{pageRows: 50}))
	s, err := parquet.Open(path, parquet.Options{Targets: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	s.BlockRows = 100
	if _, err := contents(s); err == nil ||
		!strings.HasPrefix(err.Error(), path+":778:1: column a has a missing value") {
		t.Error(err)
	}
	columns, _ := dataset.ByColumns(s)
	for _, err := range columns.Blocks(context.Background()) {
		if err == nil || !strings.HasPrefix(err.Error(), path+":778:1: column a has a missing value") {
			t.Error(err)
		}
	}
}

// TestDamaged: whatever is cut off or changed, of every fifth byte or, where FDRIDGE_THOROUGH is set, of
// each, there is an error with a file, or
// numbers, but no panic.
func TestDamaged(t *testing.T) {
	whole := encode(
		t,
		2,
		[]column{
			{node("a", true, double, nil), sequence(50), slicesOf(50)},
			{node("b", false, long, nil), make([]int64, 50), nil},
		},
		layout{codec: snap, encoding: indices},
	)
	path := write(t, whole)
	try := func(what string, content []byte) {
		rewrite(t, path, content)
		_, err := open(path, parquet.Options{Targets: []string{"last"}})
		var e *dataset.InputError
		if err != nil && (!errors.As(err, &e) || strings.Contains(err.Error(), "runtime error")) {
			t.Errorf("%s: %v", what, err)
		}
	}
	step := 5
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		step = 1
	}
	for i := 0; i < len(whole); i += step {
		bent := bytes.Clone(whole)
		bent[i] ^= 0x55
		try(fmt.Sprintf("byte %d", i), bent)
	}
	for _, n := range []int{0, 3, 4, 11, 12, len(whole) / 2, len(whole) - 1} {
		_, err := open(write(t, whole[:n]), parquet.Options{})
		if err == nil || !strings.Contains(err.Error(), "is not a readable Parquet file") {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := open(
		write(t, append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, whole...)), parquet.Options{},
	); err == nil ||
		!strings.Contains(err.Error(), "is a gzip stream") {
		t.Errorf("gzip: %v", err)
	}
}

func slicesOf(n int) []bool {
	v := make([]bool, n)
	for i := range v {
		v[i] = true
	}
	return v
}

// TestLeavingEarly: a pass that is left or cancelled closes the file and ends.
func TestLeavingEarly(t *testing.T) {
	s, err := parquet.Open(
		write(t, encode(t, 3, []column{{node("a", false, double, nil), sequence(1000), nil}}, layout{})),
		parquet.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	s.BlockRows = 10
	for range s.Blocks(context.Background()) {
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range s.Blocks(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	cut, err := dataset.Rows(s, 1500, 1502)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := contents(cut); err != nil || got != "[500.25] [] [501.25] []" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestChangedFile: a file that is another one in the second pass is refused.
func TestChangedFile(t *testing.T) {
	a := column{node("a", false, double, nil), sequence(10), nil}
	path := write(t, encode(t, 1, []column{a}, layout{}))
	s, err := parquet.Open(path, parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Stamp = dataset.Stamp{}
	if err := os.WriteFile(path, encode(t, 2, []column{a}, layout{}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := contents(s); err == nil || !strings.Contains(err.Error(), "is now 20×1, but was 10×1") {
		t.Error(err)
	}
}

func normal(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// BenchmarkRead: bytes of float64 a second, delivered to a consumer that does
// nothing.
func BenchmarkRead(b *testing.B) {
	for _, d := range []int{20, 1000} {
		n := (64 << 20) / 8 / d
		for name, codec := range map[string]int{"plain": uncompressed, "snappy": snap, "zstd": zst} {
			for _, optional := range []bool{false, true} {
				var cols []column
				for j := range d {
					c := column{node: node(fmt.Sprint("x", j), optional, double, nil), values: normal(n)}
					if optional {
						c.valid = slicesOf(n)
					}
					cols = append(cols, c)
				}
				b.Run(fmt.Sprintf("%s/optional=%v/d=%d", name, optional, d), func(b *testing.B) {
					path := write(b, encode(b, 4, cols, layout{codec: codec, pageRows: 1 << 17}))
					s, err := parquet.Open(path, parquet.Options{})
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(4 * 8 * n * d))
					b.ReportAllocs()
					for b.Loop() {
						for _, err := range s.Blocks(context.Background()) {
							if err != nil {
								b.Fatal(err)
							}
						}
					}
				})
			}
		}
	}
}
