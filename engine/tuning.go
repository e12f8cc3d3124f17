package engine

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/fdridge/fdridge/engine/internal/accuracy"
	"github.com/fdridge/fdridge/engine/purego"
)

// A Setting is a number and where it came from.
type Setting struct {
	Value  int    `json:"value"`
	Origin string `json:"origin"`
}

// Tuning is what the dispatcher knows of the machine and makes of it: pure data,
// which a program may change before it hands it to [New]. Every value tells
// where it came from.
//
// MC, KC and NC are the blocks of purego's packed matrix products by BLIS's
// analytical model (see model.go) for the micro-kernel.
type Tuning struct {
	ISA    string `json:"isa"` // purego's kernel: avx512, avx2, neon or generic
	Origin string `json:"isa_origin"`
	MR     int    `json:"mr"` // rows and columns of the micro-kernel's tile
	NR     int    `json:"nr"`

	L1 Cache `json:"l1d"`
	L2 Cache `json:"l2"`
	L3 Cache `json:"l3"`

	MC Setting `json:"mc"` // rows of A packed at a time, in L2
	KC Setting `json:"kc"` // depth of the packed panels, in L1
	NC Setting `json:"nc"` // columns of B packed at a time, in L3

	Shrink   Setting `json:"shrink_rows"`   // rows between two shrinks; 0: see ShrinkRows and LosslessRows
	Sparse   Setting `json:"sparse_rows"`   // sparse rows between two shrinks; 0: see SparseRows
	Scatter  Setting `json:"scatter"`       // features up to which a sketch keeps AᵀA itself; 0: see KeepsScatter
	Gradient Setting `json:"gradient_rows"` // rows of a gradient block; 0: what fills 8 MiB
	Lanes    Setting `json:"lanes"`         // most lanes of a sketch; see LanesFor
	Threads  Setting `json:"threads"`       // of OpenBLAS; Go's own are GOMAXPROCS
}

// Detect asks the machine: CPUID for features and sizes, sysfs for
// associativity.
func Detect() Tuning {
	var t Tuning
	best := purego.Kernels()[0]
	t.ISA, t.MR, t.NR, t.Origin = best.Name, best.MR, best.NR, "the fastest of "+strings.Join(purego.KernelNames(), ", ")
	c := detectCaches(os.DirFS("/sys/devices/system/cpu/cpu0/cache"))
	t.L1, t.L2, t.L3 = c[0], c[1], c[2]
	t.model()
	t.Shrink = Setting{0, "5/4 of the sketch's size, or 4 times d where nothing is lost"}
	t.Sparse = Setting{0, "the r for which 7(m+r)²(2r−m) = 2m²d, but no fewer than rows of numbers"}
	t.Scatter = Setting{0, "as many as a sketch has rows in its buffer"}
	t.Gradient = Setting{0, "8 MiB"}
	t.Lanes = Setting{runtime.GOMAXPROCS(0), "GOMAXPROCS"}
	t.Threads = Setting{runtime.GOMAXPROCS(0), "GOMAXPROCS"}
	return t
}

// DefaultTuning is [Detect] with the environment's overrides, made once. The
// error is that of [Tuning.Override].
var DefaultTuning = sync.OnceValues(func() (Tuning, error) {
	t := Detect()
	err := t.Override(os.LookupEnv)
	return t, err
})

// variables are the settings that the environment may override, with the
// largest value that makes sense.
func (t *Tuning) variables() []struct {
	name  string
	most  int
	value *Setting
} {
	return []struct {
		name  string
		most  int
		value *Setting
	}{
		{"FDRIDGE_MC", 1 << 20, &t.MC},
		{"FDRIDGE_KC", 1 << 20, &t.KC},
		{"FDRIDGE_NC", 1 << 24, &t.NC},
		{"FDRIDGE_SHRINK_ROWS", 1 << 24, &t.Shrink},
		{"FDRIDGE_SPARSE_ROWS", 1 << 24, &t.Sparse},
		{"FDRIDGE_SCATTER", 1 << 24, &t.Scatter},
		{"FDRIDGE_GRADIENT_ROWS", 1 << 24, &t.Gradient},
		{"FDRIDGE_LANES", 1 << 10, &t.Lanes},
		{"FDRIDGE_THREADS", 1 << 10, &t.Threads},
	}
}

// Override replaces settings by the variables FDRIDGE_KERNEL, FDRIDGE_MC, FDRIDGE_KC,
// FDRIDGE_NC, FDRIDGE_SHRINK_ROWS, FDRIDGE_SPARSE_ROWS, FDRIDGE_SCATTER, FDRIDGE_GRADIENT_ROWS,
// FDRIDGE_LANES and FDRIDGE_THREADS that lookup, such as os.LookupEnv, finds. The kernel must be one of [purego.Kernels];
// the others are whole numbers from 1 to the variable's limit. Anything else is an
// error, and t is then unchanged.
func (t *Tuning) Override(lookup func(string) (string, bool)) error {
	changed := *t
	if name, ok := lookup("FDRIDGE_KERNEL"); ok {
		if err := changed.setKernel(name); err != nil {
			return err
		}
	}
	for _, v := range changed.variables() {
		text, ok := lookup(v.name)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > v.most {
			return fmt.Errorf("engine: %s=%q must be a whole number from 1 to %d", v.name, text, v.most)
		}
		*v.value = Setting{n, v.name}
	}
	*t = changed
	return nil
}

// setKernel takes another of the kernels, and the blocks that go with it.
func (t *Tuning) setKernel(name string) error {
	for _, k := range purego.Kernels() {
		if k.Name == name {
			t.ISA, t.MR, t.NR, t.Origin = k.Name, k.MR, k.NR, "FDRIDGE_KERNEL"
			t.model()
			return nil
		}
	}
	return fmt.Errorf("engine: FDRIDGE_KERNEL=%q must be one of those that run here: %s", name, strings.Join(purego.KernelNames(), ", "))
}

// ShrinkRows is p, the rows that a sketch of m rows takes between two shrinks: 5m/4.
// A row costs (4m + p + 2m²/p)·d flops of products, least at √2·m, and its share of
// an eigenproblem of order m+p, which grows from p = m on. Measured with p from m/2
// to 2m at the four shapes of BenchmarkSketch, on both backends, the time is flat
// within 4 % between m and 3m/2, and worse outside; fewer shrinks also lose less.
func (t Tuning) ShrinkRows(m int) int {
	if t.Shrink.Value > 0 {
		return t.Shrink.Value
	}
	return m + (m+3)/4
}

// LosslessRows is p of a sketch that keeps as many rows as there are features, d: 4d,
// or where these are more, as many as take the given bytes, up to 4096. The fewer shrinks the faster,
// and the less is lost to round-off.
func (t Tuning) LosslessRows(d, bytes int) int {
	if t.Shrink.Value > 0 {
		return t.Shrink.Value
	}
	return max(4*min(d, math.MaxInt/8), min(bytes/word/max(d, 1), 4096))
}

// SparseRows is r, how many sparse rows a sketch of size m, of d features, keeps as they are between
// two shrinks, where it takes p others. A row with z entries costs, in flops,
//
//	4mz + 2m²d/r + 7(m+r)³/r
//
// for its products with the kept rows, its share of the rebuilt ones and of an eigenproblem of
// order m+r. The least is where 7(m+r)²(2r−m) = 2m²d, near (m²d/7)^⅓ for many features, whatever
// z is. Fewer than p are never kept, as the fewer shrinks the less is lost; and where p is not that
// of t.ShrinkRows(m), somebody has chosen it, and r is p.
func (t Tuning) SparseRows(d, m, p int) int {
	if t.Sparse.Value > 0 {
		return t.Sparse.Value
	}
	if p != t.ShrinkRows(m) {
		return p
	}
	const most = 1 << 24
	size, flops := float64(m), 2*float64(m)*float64(m)*float64(d)
	return max(p, sort.Search(most, func(r int) bool {
		order := size + float64(r)
		return 7*order*order*(2*float64(r)-size) >= flops
	}))
}

// KeepsScatter says that a sketch of size m, of d features, is to keep AᵀA itself: its d² numbers
// are no more than the (m+p)·d of the rows that it would hold, p = t.ShrinkRows(m). That is where
// memory is equal. A row costs d² flops then, and (4m + p + 2m²/p)·d of the sketch, 6.85·m·d by
// default, which would be equal at d = 6.85·m: so AᵀA is the faster long before.
func (t Tuning) KeepsScatter(d, m int) bool {
	if t.Scatter.Value > 0 {
		return d <= t.Scatter.Value
	}
	return d <= m || d-m <= t.ShrinkRows(m)
}

// lanesBytes is what the buffers of all lanes of a sketch take at most, fillsOfLane how often
// each is to fill, and flopsOfLane what each is to compute: a lane that has less to do saves
// next to nothing, and merging it costs time and precision.
const (
	lanesBytes  = 1 << 30
	fillsOfLane = 8
	flopsOfLane = 2e9
)

// LanesFor is how many lanes n rows of d features, n < 0 if that is not known, are to be
// sketched in, where each has a buffer of so many rows: one for each core, but no more
// than fit into 1 GiB, nor than fill their buffers eight times, nor than have two billion
// flops to do, of about 3·d·buffer for a row. Where d is so large that there is
// no room for a lane on every core these share the products of the lanes there are.
//
// Where n is not known the first rows, as many as one lane is to have at least, all go to one lane
// and the others begin after them; else after is 0.
func (t Tuning) LanesFor(n int64, d, buffer int) (lanes int, after int64) {
	each := float64(max(d, 1)) * float64(max(buffer, 1))
	least := max(fillsOfLane*float64(max(buffer, 1)), flopsOfLane/3/each) // rows of a lane
	most := min(float64(t.Lanes.Value), lanesBytes/word/each)
	if n >= 0 {
		return max(int(min(most, float64(n)/least)), 1), 0
	}
	if lanes = max(int(most), 1); lanes > 1 {
		after = int64(least)
	}
	return lanes, after
}

// gradientBytes is what a gradient block takes: enough work for several threads to
// share, whatever the backend then divides it into for its caches; the same on
// every machine, so that sums are too.
const gradientBytes = 8 << 20

// GradientRows is how many rows of d float64 make a gradient block: what fills
// 8 MiB, within 16 to 8192.
func (t Tuning) GradientRows(d int) int {
	if t.Gradient.Value > 0 {
		return t.Gradient.Value
	}
	return min(max(gradientBytes/word/max(d, 1), 16), 8192)
}

// manyVectors is the number of right-hand sides from which on backends pack them anew in
// every call of Gradient, which takes too long for a call of few rows.
const manyVectors = 8

// GradientCall is how many of n rows of d columns one call of [Backend.Gradient] with q
// right-hand sides is to take. They are enough for threads to share, and few enough for
// the promise of [Accuracy].Gradient: the error of an element of G grows with the number of
// additions, one after the other, that it is the end of. These are at most
// [MaxGradientRows]; at most t.Gradient where that is set and q is small; and at most 32
// where the call would be too little work to be divided.
func (t Tuning) GradientCall(n, d, q int) int {
	n = min(n, MaxGradientRows)
	if t.Gradient.Value > 0 && q < manyVectors {
		n = min(n, t.Gradient.Value)
	}
	if n*d*q < accuracy.SharedWork {
		n = min(n, accuracy.FewRows)
	}
	return n
}

// String is a table of the values and their origins.
func (t Tuning) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name string, value any, origin string) { fmt.Fprintf(w, "%s\t%v\t%s\n", name, value, origin) }
	row("kernel", fmt.Sprintf("%s, tile %d×%d", t.ISA, t.MR, t.NR), t.Origin)
	row("L1d", t.L1, t.L1.Origin)
	row("L2", t.L2, t.L2.Origin)
	row("L3", t.L3, t.L3.Origin)
	row("mc", t.MC.Value, t.MC.Origin)
	row("kc", t.KC.Value, t.KC.Origin)
	row("nc", t.NC.Value, t.NC.Origin)
	row("rows per shrink", ruled(t.Shrink.Value), t.Shrink.Origin)
	row("sparse rows per shrink", ruled(t.Sparse.Value), t.Sparse.Origin)
	row("AᵀA is kept up to d", ruled(t.Scatter.Value), t.Scatter.Origin)
	row("rows per gradient block", ruled(t.Gradient.Value), t.Gradient.Origin)
	row("most lanes of a sketch", t.Lanes.Value, t.Lanes.Origin)
	row("threads", t.Threads.Value, t.Threads.Origin)
	_ = w.Flush() // a strings.Builder does not fail
	return b.String()
}

// ruled prints a setting of which 0 means a rule.
func ruled(n int) string {
	if n == 0 {
		return "by rule"
	}
	return strconv.Itoa(n)
}
