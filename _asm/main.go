// Command _asm writes the assembly of the amd64 kernels and their Go
// declarations into engine/purego/internal/kernel:
//
//	go run . -isa avx512 -out …/avx512_amd64.s -stubs …/avx512_amd64.go
//
// It is a separate module, so that users of fdridge need neither avo nor
// this program. Package kernel has the go:generate lines.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An isa is a vector instruction set. All kernels are written for each.
type isa struct {
	suffix string
	lanes  int // number of float64 in a vector, and number of rows of a tile
	vector func() reg.VecVirtual
}

var isas = map[string]isa{
	"avx512": {"AVX512", 8, ZMM},
	"avx2":   {"AVX2", 4, YMM},
}

// wide is the number of vectors in a row of the widest tile of C. With 4 rows, this tile leaves 4 of 16 registers for A
// and for the 3 vectors of a row of B. With 8 rows, it leaves 8 of 32 registers.
const wide = 3

// several is the largest number of vectors that are multiplied by four rows of A together. The registers hold
//
//   - in axpys: 12 coefficients, 3 vectors and a vector of A, 16 in total
//   - in dots: 2 sums for each row and vector, 3 vectors and a vector of A, 28 for four rows or 16 for two
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
	for u := 1; u <= wide; u++ {
		v.pack(u)
	}
	v.packT()
	v.prefetch()
	v.dot(1)
	v.dot(4)
	v.axpy(1)
	v.axpy(4)
	v.axpyRows()
	v.symv()
	for u := 1; u <= several; u++ {
		v.dots(u)
		v.axpys(u)
	}
	v.twofold()
	v.cosines()
	v.rowLoops()
	v.secular()
	Generate()
}

func (v isa) bytes() int { return 8 * v.lanes }

// registers returns the number of vector registers.
func (v isa) registers() int { return 4 * v.lanes }

// vectors returns n new virtual registers.
func (v isa) vectors(n int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, n)
	for i := range r {
		r[i] = v.vector()
	}
	return r
}

// function starts a function, whose name is the given name with the suffix of the instruction set.
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

// pointer loads a parameter that has the size of a pointer.
func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// advance adds a number of bytes to each pointer.
func advance(bytes int, pointers ...reg.GPVirtual) {
	for _, p := range pointers {
		if bytes < 256 {
			ADDQ(U8(bytes), p)
		} else {
			ADDQ(U32(bytes), p)
		}
	}
}

// ret returns from a function that used vector registers.
func ret() {
	VZEROUPPER()
	RET()
}

// countdown repeats body while n >= step, and subtracts step from n each time.
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

// strides addresses up to four rows of a matrix. Row i is at base + i·ld. The registers hold base, ld and 3·ld.
type strides struct{ base, ld, ld3 reg.GPVirtual }

// rowsOf loads a pointer and a leading dimension, which it converts to bytes.
func rowsOf(base, ld string, rows int) strides {
	s := strides{base: pointer(base)}
	if rows == 1 {
		return s
	}
	s.ld = pointer(ld)
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

// manyRows addresses as many rows as a vector has elements.
type manyRows []strides

// rowsOf loads the addresses of manyRows.
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

// advance moves the address of every row by the given number of bytes.
func (m manyRows) advance(bytes int) {
	for _, s := range m {
		ADDQ(U8(bytes), s.base)
	}
}
