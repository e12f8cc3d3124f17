// Command _asm writes the assembly of the amd64 kernels and their Go
// declarations into engine/purego/internal/kernel:
//
//	go run . -isa avx512 -out …/avx512_amd64.s -stubs …/avx512_amd64.go
//
// It is a module of its own, so that whoever uses fdridge needs neither avo nor
// this program; see the go:generate lines of that package.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An isa is a vector instruction set. The same kernels are written for each.
type isa struct {
	suffix string
	lanes  int // float64 in a vector, and rows of the tile
	vector func() reg.VecVirtual
}

var isas = map[string]isa{
	"avx512": {"AVX512", 8, ZMM},
	"avx2":   {"AVX2", 4, YMM},
}

// wide is the number of vectors in a row of the widest tile: 3·lanes rows of
// accumulators, 3 for B and one or more for A fill the 16 or 32 registers.
const wide = 3

// several is the most vectors taken at once with four rows: in axpys, 12
// coefficients, 3 vectors and one for A fill the 16 registers; in dots, two sums
// for each row and vector, 3 vectors and one for A need 28 of the 32, or 16 for two
// rows at a time.
const several = 3

func main() {
	name := flag.String("isa", "", "avx512 or avx2")
	flag.Parse()
	v, ok := isas[*name]
	if !ok {
		fmt.Fprintf(os.Stderr, "_asm: no instruction set %q\n", *name)
		os.Exit(2)
	}
	ConstraintExpr("!noasm")
	for u := 1; u <= wide; u++ {
		v.tile(u)
		v.tileRowsA(u)
		v.tileRowsB(u)
	}
	v.pack()
	v.packT()
	v.dot(1)
	v.dot(4)
	v.axpy(1)
	v.axpy(4)
	v.symv()
	for u := 1; u <= several; u++ {
		v.dots(u)
		v.axpys(u)
	}
	v.twofold()
	v.cosines()
	v.rowLoops()
	Generate()
}

func (v isa) bytes() int { return 8 * v.lanes }

// registers is the number of vector registers.
func (v isa) registers() int { return 4 * v.lanes }

// vectors makes n virtual registers.
func (v isa) vectors(n int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, n)
	for i := range r {
		r[i] = v.vector()
	}
	return r
}

// function starts a function of the given name, its instruction set's suffix
// added.
func (v isa) function(name, signature string, doc ...string) {
	TEXT(name+v.suffix, NOSPLIT, "func"+signature)
	Pragma("noescape")
	Doc(append([]string{name + v.suffix + " " + doc[0]}, doc[1:]...)...)
}

func zero(r ...reg.VecVirtual) {
	for _, r := range r {
		VXORPD(r, r, r)
	}
}

// countdown runs body while n >= step, n falling by step each time.
func countdown(n reg.GPVirtual, step int, label string, body func()) {
	CMPQ(n, U32(step))
	JLT(LabelRef(label + "Done"))
	Label(label)
	body()
	SUBQ(U32(step), n)
	CMPQ(n, U32(step))
	JGE(LabelRef(label))
	Label(label + "Done")
}

// strides are the addresses of rows of a matrix: row i of up to four is
// base + i·ld, with base held in one register and 3·ld in another.
type strides struct{ base, ld, ld3 reg.GPVirtual }

// rowsOf loads a pointer and a leading dimension, in bytes from then on.
func rowsOf(pointer, ld string, rows int) strides {
	s := strides{base: Load(Param(pointer), GP64()).(reg.GPVirtual)}
	if rows == 1 {
		return s
	}
	s.ld = Load(Param(ld), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), s.ld)
	s.ld3 = GP64()
	LEAQ(Mem{Base: s.ld, Index: s.ld, Scale: 2}, s.ld3)
	return s
}

func (s strides) at(row, disp int) Mem {
	switch row {
	case 0:
		return Mem{Base: s.base, Disp: disp}
	case 1:
		return Mem{Base: s.base, Index: s.ld, Scale: 1, Disp: disp}
	case 2:
		return Mem{Base: s.base, Index: s.ld, Scale: 2, Disp: disp}
	}
	return Mem{Base: s.base, Index: s.ld3, Scale: 1, Disp: disp}
}

// manyRows are the addresses of the lanes rows of a panel.
type manyRows []strides

// rowsOf is rowsOf for as many rows as a vector has elements.
func (v isa) rowsOf(pointer, ld string) manyRows {
	near := rowsOf(pointer, ld, 4)
	if v.lanes == 4 {
		return manyRows{near}
	}
	far := near
	far.base = GP64()
	LEAQ(Mem{Base: near.base, Index: near.ld, Scale: 4}, far.base)
	return manyRows{near, far}
}

func (m manyRows) at(row, disp int) Mem { return m[row/4].at(row%4, disp) }

// advance moves all rows by so many bytes.
func (m manyRows) advance(bytes int) {
	for _, s := range m {
		ADDQ(U8(bytes), s.base)
	}
}
