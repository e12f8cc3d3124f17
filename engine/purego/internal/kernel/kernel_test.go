package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"
)

// sizes of n and k are all up to several times a kernel's widest step, and some
// beyond.
var sizes = func() (s []int) {
	for n := range 71 {
		s = append(s, n)
	}
	return append(s, 96, 127, 128, 129, 250)
}()

// untouched is the value of memory before a kernel writes to it. It is a NaN that no arithmetic produces.
var untouched = math.Float64frombits(0x7ff8_0123_4567_89ab)

func same(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }

func fill(x []float64) {
	for i := range x {
		x[i] = untouched
	}
}

// An area is memory for one operand, mem[lo:hi], between guards.
type area struct {
	mem    []float64
	lo, hi int
}

// cut returns n untouched elements at an end of the area.
func (a area) cut(n int, atEnd bool) []float64 {
	at := a.lo
	if atEnd {
		at = a.hi - n
	}
	x := a.mem[at : at+n]
	fill(x)
	return x
}

func (a area) intact() bool {
	for i := 0; guardsWatched && i < len(a.mem); i++ {
		if (i < a.lo || i >= a.hi) && !same(a.mem[i], untouched) {
			return false
		}
	}
	return true
}

// A guarded test of one kernel has its operands end, or begin, where memory does.
type guarded struct {
	*testing.T
	kernel *Kernel
	atEnd  bool
	rng    *rand.Rand
	areas  [3]area
	at     string // the case, for messages
}

// onEach runs a test on each kernel twice: with operands that end at a guard and
// with operands that begin behind one.
func onEach(t *testing.T, test func(g *guarded)) {
	for _, k := range All() {
		for _, place := range []string{"begin", "end"} {
			t.Run(k.Name+"/"+place, func(t *testing.T) {
				g := &guarded{T: t, kernel: k, atEnd: place == "end", rng: rand.New(rand.NewPCG(1, 2))}
				for i := range g.areas {
					g.areas[i] = newArea(t, 1<<13)
				}
				debug.SetPanicOnFault(true) // in this goroutine: a guard touched
				defer func() {
					if err := recover(); err != nil {
						t.Fatalf("%s: %v", g.at, err)
					}
				}()
				test(g)
			})
		}
	}
}

func (g *guarded) begin(format string, args ...any) { g.at = fmt.Sprintf(format, args...) }

// fail reports an error and ends the test, for all that follow would fail as well. Checks that are
// made often do not call Helper, because Helper is slow.
func (g *guarded) fail(format string, args ...any) {
	g.Helper()
	g.Fatalf("%s: %s", g.at, fmt.Sprintf(format, args...))
}

// blank returns n untouched elements for operand i.
func (g *guarded) blank(i, n int) []float64 { return g.areas[i].cut(n, g.atEnd) }

// put copies x for operand i.
func (g *guarded) put(i int, x []float64) []float64 {
	p := g.blank(i, len(x))
	copy(p, x)
	return p
}

// matrix copies the rows×cols matrix x for operand i, with leading dimension ld.
// What lies between rows is untouched.
func (g *guarded) matrix(i, rows, cols, ld int, x []float64) []float64 {
	p := g.blank(i, extent(rows, cols, ld))
	for r := range rows {
		copy(row(p, r, cols, ld), row(x, r, cols, cols))
	}
	return p
}

// extent is the number of elements from the first to the last of a matrix.
func extent(rows, cols, ld int) int {
	if rows == 0 || cols == 0 {
		return 0
	}
	return (rows-1)*ld + cols
}

func row(x []float64, r, cols, ld int) []float64 {
	if cols == 0 {
		return nil
	}
	return x[r*ld : r*ld+cols]
}

func (g *guarded) normal(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = g.rng.NormFloat64()
	}
	return x
}

// written checks that a kernel wrote to the rows of a matrix and to nothing else.
func (g *guarded) written(rows, cols, ld int, x []float64) {
	for i, v := range x {
		if r, c := i/ld, i%ld; same(v, untouched) != (r >= rows || c >= cols) {
			g.fail("at (%d, %d) is %v", r, c, v)
		}
	}
	for i, a := range g.areas {
		if !a.intact() {
			g.fail("wrote outside of operand %d", i)
		}
	}
}

// near checks |got − want| ≤ n·u·size, for u = 2⁻⁵³.
func (g *guarded) near(what string, i int, got, want, size float64, n int) {
	if e := math.Abs(got - want); !(e <= 0x1p-53*float64(n)*size) {
		g.fail("%s %d is %v, want %v", what, i, got, want)
	}
}

func (g *guarded) equal(what string, got, want []float64) {
	for i := range want {
		if !same(got[i], want[i]) {
			g.fail("%s[%d] is %x, want %x", what, i, got[i], want[i])
		}
	}
}

// dot2 returns Σ aᵢ·xᵢ for n elements inca and incx apart, as if computed with twice
// the precision, and Σ |aᵢ·xᵢ|. It is Dot2 of T. Ogita, S. Rump, S. Oishi, "Accurate
// sum and dot product", SIAM J. Sci. Comput. 26 (2005).
func dot2(n int, a []float64, inca int, x []float64, incx int) (s, size float64) {
	var low float64
	for i := range n {
		u, v := a[i*inca], x[i*incx]
		p := u * v
		sum := s + p
		z := sum - s
		low += (s - (sum - z)) + (p - z) + math.FMA(u, v, -p)
		s, size = sum, size+math.Abs(p)
	}
	return s + low, size
}

var alphas = []float64{1, -1, 0.7}

// A multiplication computes a tile of C in one of the ways that a kernel has.
type multiplication func(k int, alpha float64, a, b, c []float64, ldc int, add bool)

// tiles gives a test the multiplications by the tile of every width, of A (rows×k) and
// B (k×cols), for every way that they can lie in memory.
func (g *guarded) tiles(test func(rows, cols int, name string, multiply multiplication)) {
	if n := len(g.kernel.Tile); n != len(g.kernel.TileRowsA) || n != len(g.kernel.TileRowsB) {
		g.Fatalf(
			"Tile for up to %d units of columns, TileRowsA for %d, TileRowsB for %d",
			n,
			len(g.kernel.TileRowsA),
			len(g.kernel.TileRowsB),
		)
	}
	rows := g.kernel.Unit
	transposed := func(k int, a []float64) *float64 {
		p := g.blank(0, k*rows)
		for i := range p {
			p[i] = a[i%rows*k+i/rows]
		}
		return unsafe.SliceData(p)
	}
	for u, tile := range g.kernel.Tile {
		cols := (u + 1) * rows
		test(
			rows,
			cols,
			fmt.Sprintf("Tile %d×%d", rows, cols),
			func(k int, alpha float64, a, b, c []float64, ldc int, add bool) {
				tile(k, alpha, transposed(k, a), unsafe.SliceData(g.put(1, b)), &c[0], ldc, add)
			},
		)
		for _, apart := range []int{0, 1, 5} {
			test(
				rows,
				cols,
				fmt.Sprintf("TileRowsA %d×%d, lda +%d", rows, cols, apart),
				func(k int, alpha float64, a, b, c []float64, ldc int, add bool) {
					pa := g.matrix(0, rows, k, k+apart, a)
					g.kernel.TileRowsA[u](
						k,
						alpha,
						unsafe.SliceData(pa),
						k+apart,
						unsafe.SliceData(g.put(1, b)),
						&c[0],
						ldc,
						add,
					)
				},
			)
			test(
				rows,
				cols,
				fmt.Sprintf("TileRowsB %d×%d, ldb +%d", rows, cols, apart),
				func(k int, alpha float64, a, b, c []float64, ldc int, add bool) {
					pb := g.matrix(1, k, cols, cols+apart, b)
					g.kernel.TileRowsB[u](k, alpha, transposed(k, a), unsafe.SliceData(pb), cols+apart, &c[0], ldc, add)
				},
			)
		}
	}
}

func TestTile(t *testing.T) {
	onEach(t, func(g *guarded) {
		g.tiles(func(rows, cols int, name string, multiply multiplication) {
			for _, k := range sizes {
				a, b, c0 := g.normal(rows*k), g.normal(k*cols), g.normal(rows*cols)
				sums, abs := make([]float64, rows*cols), make([]float64, rows*cols)
				for j := range sums {
					if k > 0 {
						sums[j], abs[j] = dot2(k, a[j/cols*k:], 1, b[j%cols:], cols)
					}
				}
				for _, ld := range []int{cols, cols + 1, cols + 5} {
					for _, alpha := range alphas {
						for _, add := range []bool{false, true} {
							g.begin("%s, k %d, ldc %d, alpha %v, add %v", name, k, ld, alpha, add)
							var c []float64
							if add {
								c = g.matrix(2, rows, cols, ld, c0)
							} else {
								c = g.blank(2, extent(rows, cols, ld))
							}
							multiply(k, alpha, a, b, c, ld, add)
							g.written(rows, cols, ld, c)
							for j := range sums {
								want, size := alpha*sums[j], math.Abs(alpha)*abs[j]
								if add {
									want, size = want+c0[j], size+math.Abs(c0[j])
								}
								g.near("element", j, c[j/cols*ld+j%cols], want, size, k+4)
							}
						}
					}
				}
			}
		})
	})
}

// TestTileBits computes the elements of the widest tile in tiles of every width and
// kind, with rows and columns shifted.
func TestTileBits(t *testing.T) {
	onEach(t, func(g *guarded) {
		rows, most := g.kernel.MR(), g.kernel.NR()
		for _, k := range []int{0, 1, 3, 4, 7, 8, 50} {
			a, b, c0 := g.normal(rows*k), g.normal(k*most), g.normal(rows*most)
			for _, add := range []bool{false, true} {
				want := g.put(2, c0)
				pa, pb := g.blank(0, k*rows), g.put(1, b)
				for i := range pa {
					pa[i] = a[i%rows*k+i/rows]
				}
				g.kernel.Tile[len(g.kernel.Tile)-1](
					k,
					0.7,
					unsafe.SliceData(pa),
					unsafe.SliceData(pb),
					&want[0],
					most,
					add,
				)
				want = slices.Clone(want)
				g.tiles(func(rows, cols int, name string, multiply multiplication) {
					for shift := range most {
						g.begin("%s, k %d, add %v, shift %d", name, k, add, shift)
						source := func(r, c int) (int, int) { return (r + shift) % rows, (c + shift) % most }
						sa, sb, c := make([]float64, rows*k), make([]float64, k*cols), g.blank(2, rows*cols)
						for l := range k {
							for i := range rows {
								r, _ := source(i, 0)
								sa[i*k+l] = a[r*k+l]
							}
							for j := range cols {
								_, s := source(0, j)
								sb[l*cols+j] = b[l*most+s]
							}
						}
						expected := make([]float64, rows*cols)
						for i := range c {
							r, s := source(i/cols, i%cols)
							c[i], expected[i] = c0[r*most+s], want[r*most+s]
						}
						multiply(k, 0.7, sa, sb, c, cols, add)
						g.equal("C", c, expected)
					}
				})
			}
		}
	})
}

func TestPack(t *testing.T) {
	onEach(t, func(g *guarded) {
		for u, pack := range g.kernel.Pack {
			cols := (u + 1) * g.kernel.Unit
			for _, k := range sizes {
				x := g.normal(k * cols)
				for _, ld := range []int{cols, cols + 1, cols + g.kernel.Unit} {
					for _, stride := range []int{cols, cols + 1, cols + g.kernel.Unit} {
						g.begin("%d columns, k %d, ld %d, stride %d", cols, k, ld, stride)
						src, dst := g.matrix(0, k, cols, ld, x), g.blank(1, extent(k, cols, stride))
						pack(k, unsafe.SliceData(src), ld, unsafe.SliceData(dst), stride)
						g.written(k, cols, stride, dst)
						for l := range k {
							g.equal(fmt.Sprint("row ", l), dst[l*stride:], x[l*cols:(l+1)*cols])
						}
					}
				}
			}
		}
	})
}

// TestPrefetch: no operand is changed, and addresses that cannot be read do no harm.
func TestPrefetch(t *testing.T) {
	onEach(t, func(g *guarded) {
		for _, lines := range []int{0, 1, 7, 1000} {
			g.begin("%d lines", lines)
			x := g.put(0, g.normal(8))
			before := slices.Clone(x)
			g.kernel.Prefetch(lines, unsafe.SliceData(x))
			g.equal("x", x, before)
		}
	})
}

func TestPackT(t *testing.T) {
	onEach(t, func(g *guarded) {
		unit := g.kernel.Unit
		for _, k := range sizes {
			x := g.normal(unit * k)
			for _, ld := range []int{k, k + 1, k + 7} {
				for _, stride := range []int{unit, unit + 1, 3 * unit} {
					g.begin("k %d, ld %d, stride %d", k, ld, stride)
					src, dst := g.matrix(0, unit, k, ld, x), g.blank(1, extent(k, unit, stride))
					g.kernel.PackT(k, unsafe.SliceData(src), ld, unsafe.SliceData(dst), stride)
					g.written(k, unit, stride, dst)
					for l := range k {
						for r := range unit {
							g.equal(fmt.Sprintf("column %d, element %d", l, r), dst[l*stride+r:], x[r*k+l:r*k+l+1])
						}
					}
				}
			}
		}
	})
}

// eachRows gives a test four rows of every size, a for kernels of four rows and x.
func (g *guarded) eachRows(test func(n, lda int, a, x []float64)) {
	for _, n := range sizes {
		a, x := g.normal(4*n), g.normal(n)
		for _, lda := range []int{n, n + 1, n + 7} {
			g.begin("n %d, lda %d", n, lda)
			test(n, lda, g.matrix(0, 4, n, lda, a), g.put(1, x))
		}
	}
}

func TestDot(t *testing.T) {
	onEach(t, func(g *guarded) {
		g.eachRows(func(n, lda int, a, x []float64) {
			s0, s1, s2, s3 := g.kernel.Dot4(n, unsafe.SliceData(a), lda, unsafe.SliceData(x))
			for r, got := range []float64{s0, s1, s2, s3} {
				s := g.kernel.Dot1(n, unsafe.SliceData(g.put(2, row(a, r, n, lda))), unsafe.SliceData(x))
				g.equal(fmt.Sprint("Dot4 against Dot1, row ", r), []float64{got}, []float64{s})
				want, size := dot2(n, row(a, r, n, lda), 1, x, 1)
				g.near("Dot1", 0, s, want, size, n+1)
			}
		})
	})
}

func TestAxpy(t *testing.T) {
	onEach(t, func(g *guarded) {
		g.eachRows(func(n, lda int, a, _ []float64) {
			c, y0 := g.normal(4), g.normal(n)
			y := slices.Clone(y0)
			for r, c := range c {
				before := slices.Clone(y)
				p := g.put(1, y)
				g.kernel.Axpy1(n, c, unsafe.SliceData(g.put(2, row(a, r, n, lda))), unsafe.SliceData(p))
				g.written(1, n, n+1, p)
				copy(y, p)
				for i := range y {
					x := c * a[r*lda+i]
					g.near("Axpy1", i, y[i], before[i]+x, math.Abs(before[i])+math.Abs(x), 4)
				}
			}
			got := g.put(1, y0)
			g.kernel.Axpy4(n, c[0], c[1], c[2], c[3], unsafe.SliceData(a), lda, unsafe.SliceData(got))
			g.written(1, n, n+1, got)
			g.equal("Axpy4 against four Axpy1: y", got, y)
			// The rows are 5, 6, 7 and 8, and row 5 is the first of the four. The rows are added in the order of c.
			index := []int32{5, 6, 7, 8}
			got = g.put(1, y0)
			g.kernel.AxpyRows(n, 4, &c[0], &index[0], 5, unsafe.SliceData(a), lda, unsafe.SliceData(got))
			g.written(1, n, n+1, got)
			g.equal("AxpyRows against four Axpy1: y", got, y)
			index, turned := []int32{2, 0}, g.put(1, y0)
			g.kernel.AxpyRows(n, 2, &c[1], &index[0], 0, unsafe.SliceData(a), lda, unsafe.SliceData(turned))
			copy(y, turned)
			again := g.put(1, y0)
			g.kernel.Axpy1(n, c[1], unsafe.SliceData(row(a, 2, n, lda)), unsafe.SliceData(again))
			g.kernel.Axpy1(n, c[2], unsafe.SliceData(row(a, 0, n, lda)), unsafe.SliceData(again))
			g.equal("AxpyRows against Axpy1 of rows 2 and 0: y", y, again)
		})
	})
}

func TestSymv4(t *testing.T) {
	onEach(t, func(g *guarded) {
		g.eachRows(func(n, lda int, a, x []float64) {
			c, y0 := g.normal(4), g.normal(n)
			pa, px := unsafe.SliceData(a), unsafe.SliceData(x)
			s0, s1, s2, s3 := g.kernel.Dot4(n, pa, lda, px)
			want := g.put(2, y0)
			g.kernel.Axpy4(n, c[0], c[1], c[2], c[3], pa, lda, unsafe.SliceData(want))
			want = append([]float64{s0, s1, s2, s3}, want...)
			y := g.put(2, y0)
			s0, s1, s2, s3 = g.kernel.Symv4(n, c[0], c[1], c[2], c[3], pa, lda, px, unsafe.SliceData(y))
			g.written(1, n, n+1, y)
			g.equal("Symv4 against Dot4 and Axpy4: s and y", append([]float64{s0, s1, s2, s3}, y...), want)
		})
	})
}

// eachSeveral calls test with four rows of every size, as eachRows does. For each size it also tries every number u of
// vectors that the kernel processes at once. The test puts the vectors into a u×n matrix with leading dimension ld.
func (g *guarded) eachSeveral(test func(u, n, lda, ld int, a []float64)) {
	if len(g.kernel.Dots) != len(g.kernel.Axpys) {
		g.Fatalf("Dots for up to %d vectors, Axpys for up to %d", len(g.kernel.Dots), len(g.kernel.Axpys))
	}
	g.eachRows(func(n, lda int, a, _ []float64) {
		for u := 1; u <= len(g.kernel.Dots); u++ {
			for _, ld := range []int{n, n + 3} {
				g.begin("n %d, lda %d, %d vectors, leading dimension %d", n, lda, u, ld)
				test(u, n, lda, ld, a)
			}
		}
	})
}

func TestDots(t *testing.T) {
	onEach(t, func(g *guarded) {
		g.eachSeveral(func(u, n, lda, ldx int, a []float64) {
			lds := u + ldx - n
			x, s := g.matrix(1, u, n, ldx, g.normal(u*n)), g.blank(2, extent(4, u, lds))
			g.kernel.Dots[u-1](n, unsafe.SliceData(a), lda, unsafe.SliceData(x), ldx, &s[0], lds)
			g.written(4, u, lds, s)
			for q := range u {
				s0, s1, s2, s3 := g.kernel.Dot4(n, unsafe.SliceData(a), lda, unsafe.SliceData(row(x, q, n, ldx)))
				g.equal(
					fmt.Sprint("Dots against Dot4: vector ", q),
					[]float64{s[q], s[lds+q], s[2*lds+q], s[3*lds+q]},
					[]float64{s0, s1, s2, s3},
				)
			}
		})
	})
}

func TestAxpys(t *testing.T) {
	onEach(t, func(g *guarded) {
		g.eachSeveral(func(u, n, lda, ldy int, a []float64) {
			ldc, y0 := u+ldy-n, g.normal(u*n)
			c, y := g.matrix(1, 4, u, ldc, g.normal(4*u)), g.matrix(2, u, n, ldy, y0)
			g.kernel.Axpys[u-1](n, &c[0], ldc, unsafe.SliceData(a), lda, unsafe.SliceData(y), ldy)
			g.written(u, n, ldy, y)
			got := slices.Clone(y)
			for q := range u {
				want := g.put(2, row(y0, q, n, n))
				g.kernel.Axpy4(
					n,
					c[q],
					c[ldc+q],
					c[2*ldc+q],
					c[3*ldc+q],
					unsafe.SliceData(a),
					lda,
					unsafe.SliceData(want),
				)
				g.equal(fmt.Sprint("Axpys against Axpy4: vector ", q), row(got, q, n, ldy), want)
			}
		})
	})
}
