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

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego"
)

// A Setting is a number and a text that says where the number comes from.
type Setting struct {
	Value  int    `json:"value"`
	Origin string `json:"origin"`
}

// Tuning holds properties of the machine and the settings that follow from them. Each setting has an origin, a text
// that says how its value was found. A program may change settings before it passes the Tuning to [New].
//
// MC, KC and NC are the block sizes for the matrix products of the backend purego. The analytical model of BLIS
// determines them from the sizes of the caches and of the tile that the kernel computes. See model.go.
type Tuning struct {
	ISA    string `json:"isa"` // purego's kernel: avx512, avx2, neon or generic
	Origin string `json:"isa_origin"`
	MR     int    `json:"mr"` // rows of the micro-kernel's tile
	NR     int    `json:"nr"` // columns of the micro-kernel's tile

	L1 Cache `json:"l1d"`
	L2 Cache `json:"l2"`
	L3 Cache `json:"l3"`

	MC Setting `json:"mc"` // rows of A packed at a time, in L2
	KC Setting `json:"kc"` // terms of a product in packed panels, in L1
	NC Setting `json:"nc"` // columns of B packed at a time, in L3

	Shrink   Setting `json:"shrink_rows"`   // rows between two shrinks of a sketch; 0: see ShrinkRows and LosslessRows
	Sparse   Setting `json:"sparse_rows"`   // sparse rows between two shrinks of a sketch; 0: see SparseRows
	Scatter  Setting `json:"scatter"`       // a sketch keeps AᵀA up to this d; 0: see KeepsScatter
	Gradient Setting `json:"gradient_rows"` // rows of a gradient block; 0: 8 MiB of rows
	Lanes    Setting `json:"lanes"`         // largest number of lanes of a sketch; see LanesFor
	Threads  Setting `json:"threads"`       // threads of OpenBLAS; the number of Go threads is GOMAXPROCS
}

// Detect returns the tuning for this machine. It uses the CPUID instruction. On Linux it reads the associativity of
// the caches from sysfs.
func Detect() Tuning {
	var t Tuning
	best := purego.Kernels()[0]
	t.ISA = best.Name
	t.MR = best.MR
	t.NR = best.NR
	t.Origin = "the fastest of " + strings.Join(
		purego.KernelNames(),
		", ",
	)
	c := detectCaches(os.DirFS("/sys/devices/system/cpu/cpu0/cache"))
	t.L1 = c[0]
	t.L2 = c[1]
	t.L3 = c[2]
	t.setBlocks()
	t.Shrink = Setting{0, "5/4 of the sketch's size; 4·d if nothing is lost"}
	t.Sparse = Setting{0, "the solution r of 7(m+r)²(2r−m) = 2m²d, at least the number of dense rows"}
	t.Scatter = Setting{0, "the number of rows in a sketch's buffer"}
	t.Gradient = Setting{0, "8 MiB"}
	t.Lanes = Setting{runtime.GOMAXPROCS(0), "GOMAXPROCS"}
	t.Threads = Setting{runtime.GOMAXPROCS(0), "GOMAXPROCS"}
	return t
}

// DefaultTuning returns the tuning that [Detect] returns, changed by environment variables, see [Tuning.Override].
// It is computed at the first call only.
var DefaultTuning = sync.OnceValues(func() (Tuning, error) {
	t := Detect()
	err := t.Override(os.LookupEnv)
	return t, err
})

type variable struct {
	name  string
	most  int
	value *Setting
}

// variables returns the settings that environment variables may override, with the largest value allowed for each.
func (t *Tuning) variables() []variable {
	return []variable{
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

// Override replaces settings by the values of environment variables. The function lookup returns the value of a
// variable, like os.LookupEnv. The variables are FDRIDGE_KERNEL, FDRIDGE_MC, FDRIDGE_KC, FDRIDGE_NC,
// FDRIDGE_SHRINK_ROWS, FDRIDGE_SPARSE_ROWS, FDRIDGE_SCATTER, FDRIDGE_GRADIENT_ROWS, FDRIDGE_LANES and
// FDRIDGE_THREADS.
//
// FDRIDGE_KERNEL must name one of [purego.Kernels]. The other values are integers from 1 to a limit. If a value is
// invalid, Override returns an error and changes nothing.
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

// setKernel selects a kernel by its name and sets the block sizes for this kernel.
func (t *Tuning) setKernel(name string) error {
	for _, k := range purego.Kernels() {
		if k.Name == name {
			t.ISA = k.Name
			t.MR = k.MR
			t.NR = k.NR
			t.Origin = "FDRIDGE_KERNEL"
			t.setBlocks()
			return nil
		}
	}
	return fmt.Errorf(
		"engine: FDRIDGE_KERNEL=%q must be one of the kernels of this machine: %s",
		name,
		strings.Join(purego.KernelNames(), ", "),
	)
}

// ShrinkRows returns the number of rows that a sketch of m rows appends between two shrinks. It is t.Shrink if this
// is set, otherwise p = 5m/4.
//
// A row of d numbers takes (4m + p + 2m²/p)·d flops in products, which is smallest at p = √2·m. A row also costs a
// share of an eigenproblem of order m+p, and this share grows for p > m. BenchmarkSketch measured four shapes and
// both backends. The times for p from m to 3m/2 differ by at most 4 %, and other p take longer. A larger p also
// gives fewer shrinks, which lose less.
func (t Tuning) ShrinkRows(m int) int {
	if t.Shrink.Value > 0 {
		return t.Shrink.Value
	}
	return m + (m+3)/4
}

// LosslessRows returns the number of rows between two shrinks, for a sketch that keeps d rows of d features. It is
// t.Shrink if this is set, otherwise the larger of 4d and r. Here r is the number of rows that fit into the given
// number of bytes, but at most 4096. Fewer shrinks are faster and have less round-off.
func (t Tuning) LosslessRows(d, bytes int) int {
	if t.Shrink.Value > 0 {
		return t.Shrink.Value
	}
	return max(4*min(d, math.MaxInt/8), min(bytes/word/max(d, 1), 4096))
}

// SparseRows returns the number r of sparse rows between two shrinks, for a sketch of m rows and d features. The
// argument p is the number of dense rows between two shrinks. A row with z entries costs, in flops,
//
//	4mz + 2m²d/r + 7(m+r)³/r.
//
// The first term is its products with the m rows of the sketch. The other terms are its part of a shrink with an
// eigenproblem of order m+r. For every z the cost is smallest if 7(m+r)²(2r−m) = 2m²d. For many features this r is
// near (m²d/7)^⅓.
//
// SparseRows returns t.Sparse if this is set. If p is not t.ShrinkRows(m), the user has set p, and SparseRows
// returns p. Otherwise it returns the r of smallest cost, but at least p, because fewer shrinks lose less.
func (t Tuning) SparseRows(d, m, p int) int {
	if t.Sparse.Value > 0 {
		return t.Sparse.Value
	}
	if p != t.ShrinkRows(m) {
		return p
	}
	const most = 1 << 24
	size := float64(m)
	flops := 2 * float64(m) * float64(m) * float64(d)
	return max(p, sort.Search(most, func(r int) bool {
		order := size + float64(r)
		return 7*order*order*(2*float64(r)-size) >= flops
	}))
}

// KeepsScatter reports whether a sketch of m rows and d features should keep the Gram matrix AᵀA instead of rows.
// If t.Scatter is set, it returns true for d up to t.Scatter. Otherwise it returns true if the d² numbers of AᵀA
// are at most (m+p)·d, where p = t.ShrinkRows(m). The buffer of rows has this size.
//
// Then AᵀA also takes less time, because adding a row to AᵀA costs d² flops. A sketch that keeps rows takes
// (4m + p + 2m²/p)·d flops for each row, by default 6.85·m·d.
func (t Tuning) KeepsScatter(d, m int) bool {
	if t.Scatter.Value > 0 {
		return d <= t.Scatter.Value
	}
	return d <= m || d-m <= t.ShrinkRows(m)
}

// These constants limit the number of lanes, which are sketches built in parallel from portions of the rows. All
// buffers together have at most lanesBytes. Each lane fills its buffer at least minLaneFills times and has at least
// minLaneFlops of work. A lane with less work saves almost no time, and merging it costs time and precision.
const (
	lanesBytes   = 1 << 30 // at most
	minLaneFills = 8       // at least
	minLaneFlops = 2e9     // at least
)

// LanesFor returns the number of lanes for n rows of d features. Lanes are sketches that are built in parallel from
// portions of the rows. A negative n means that the number of rows is unknown. buffer is the number of rows in the
// buffer of a lane. The number of lanes is t.Lanes, by default GOMAXPROCS, but it is limited so that
//
//   - all buffers fit into 1 GiB
//   - each lane fills its buffer eight times
//   - each lane has two billion flops of work, about 3·d·buffer for each row
//
// The last two limits need a known n. If memory allows fewer lanes than cores, several cores compute the products
// of one lane.
//
// If n is unknown and there are several lanes, the first firstLaneRows rows all go to the first lane. For fewer
// rows a second lane would save no time. Otherwise firstLaneRows is 0.
func (t Tuning) LanesFor(n int64, d, buffer int) (lanes int, firstLaneRows int64) {
	each := float64(max(d, 1)) * float64(max(buffer, 1))
	least := max(minLaneFills*float64(max(buffer, 1)), minLaneFlops/3/each) // smallest number of rows of a lane
	most := min(float64(t.Lanes.Value), lanesBytes/word/each)
	if n >= 0 {
		return max(int(min(most, float64(n)/least)), 1), 0
	}
	lanes = max(int(most), 1)
	if lanes > 1 {
		firstLaneRows = int64(least)
	}
	return lanes, firstLaneRows
}

// gradientBytes is the size of a block of rows in the computation of a gradient. A block is enough work for
// several threads with every backend. The size is the same on every machine, so that the sums are the same.
const gradientBytes = 8 << 20

// GradientRows returns the number of rows of d numbers in a block. Gradients are computed block by block. The
// number is t.Gradient if this is set. Otherwise a block has 8 MiB, but at least 16 and at most 8192 rows.
func (t Tuning) GradientRows(d int) int {
	if t.Gradient.Value > 0 {
		return t.Gradient.Value
	}
	return min(max(gradientBytes/word/max(d, 1), 16), 8192)
}

// manyVectors is the smallest number of right-hand sides that backends pack in every call of Gradient. In a call
// with few rows, packing would take too long compared with the product.
const manyVectors = 8

// GradientCall returns the number of rows for one call of [Backend.Gradient], given n rows of d columns and q
// right-hand sides. For calls with at most this number of rows, the error bound of the method Gradients of
// [Accuracy] holds.
//
// The result is at most n, at most [MaxGradientRows], and at most
//   - t.Gradient if this is set and q is less than 8;
//   - 32 if the call is too little work for several threads.
func (t Tuning) GradientCall(n, d, q int) int {
	n = min(n, MaxGradientRows)
	if t.Gradient.Value > 0 && q < manyVectors {
		n = min(n, t.Gradient.Value)
	}
	if n*d*q < matrix.SharedWork {
		n = min(n, matrix.FewRows)
	}
	return n
}

// String returns a table of the settings and their origins.
func (t Tuning) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name string, value any, origin string) {
		fmt.Fprintf(w, "%s\t%v\t%s\n", name, value, origin)
	}
	row("kernel", fmt.Sprintf("%s, tile %d×%d", t.ISA, t.MR, t.NR), t.Origin)
	row("L1d", t.L1, t.L1.Origin)
	row("L2", t.L2, t.L2.Origin)
	row("L3", t.L3, t.L3.Origin)
	row("mc", t.MC.Value, t.MC.Origin)
	row("kc", t.KC.Value, t.KC.Origin)
	row("nc", t.NC.Value, t.NC.Origin)
	row("rows per shrink", formatSetting(t.Shrink.Value), t.Shrink.Origin)
	row("sparse rows per shrink", formatSetting(t.Sparse.Value), t.Sparse.Origin)
	row("AᵀA is kept up to d", formatSetting(t.Scatter.Value), t.Scatter.Origin)
	row("rows per gradient block", formatSetting(t.Gradient.Value), t.Gradient.Origin)
	row("maximum lanes of a sketch", t.Lanes.Value, t.Lanes.Origin)
	row("threads", t.Threads.Value, t.Threads.Origin)
	_ = w.Flush() // a strings.Builder does not fail
	return b.String()
}

// formatSetting returns n as text. For 0 it returns "by rule", because a rule then determines the setting.
func formatSetting(n int) string {
	if n == 0 {
		return "by rule"
	}
	return strconv.Itoa(n)
}
