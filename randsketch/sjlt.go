package randsketch

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
)

// sjlt computes SA for an S with nnz entries ±1/√nnz in each column. It only adds and subtracts rows, and divides by
// √nnz at the end, so that every machine gets the same bits. Each goroutine computes some rows of SA.
type sjlt struct {
	base
	nnz     int
	entries []entry // the columns of S for the current rows, panelRows×nnz
	call
	draw, addDense, addSparse func(s *stream, lo, hi int) // method values, bound once to avoid allocation
}

func newSJLT(b base, nnz int) *sjlt {
	j := &sjlt{
		base:    b,
		nnz:     nnz,
		entries: make([]entry, panelRows*nnz),
	}
	j.draw = j.drawColumns
	j.addDense = j.addDenseRows
	j.addSparse = j.addSparseRows
	return j
}

func (j *sjlt) reset(seed uint64) {
	j.seed = seed
	clear(j.sum)
}

func (j *sjlt) drawColumns(s *stream, lo, hi int) {
	for i := lo; i < hi; i++ {
		s.seek(j.seed, forSJLT, j.firstRow+int64(i))
		s.signs(j.m, j.nonzeros(i))
	}
}

// nonzeros returns the nonzeros of the column of S for current row i.
func (j *sjlt) nonzeros(i int) []entry {
	return j.entries[i*j.nnz : (i+1)*j.nnz]
}

func (j *sjlt) column(i int64, out []float64) {
	s := newStream()
	column := make([]entry, j.nnz)
	s.seek(j.seed, forSJLT, i)
	s.signs(j.m, column)
	clear(out)
	for _, e := range column {
		out[e.row] = e.sign / math.Sqrt(float64(j.nnz))
	}
}

func (j *sjlt) rows(
	firstRow int64,
	n int,
	x []float64,
	ldx int,
	y []float64,
) {
	j.x = x
	j.ldx = ldx
	j.y = y
	j.panels(firstRow, n, j.width(), j.addDense)
	j.x, j.y = nil, nil
}

func (j *sjlt) sparse(firstRow int64, x *engine.CSR, y []float64) {
	j.csr, j.y = x, y
	j.panels(firstRow, x.Rows, x.NNZ()/max(x.Rows, 1)+j.t, j.addSparse)
	j.csr, j.y = nil, nil
}

// panels draws the columns of S for n rows, from row number firstRow on, and adds the rows by calling add. The
// argument length is the approximate number of nonzeros in a row.
func (j *sjlt) panels(
	firstRow int64,
	n, length int,
	add func(s *stream, lo, hi int),
) {
	for j.lo = 0; j.lo < n; j.lo = j.hi {
		j.hi = min(n, j.lo+panelRows)
		j.firstRow = firstRow + int64(j.lo)
		k := (j.hi - j.lo) * j.nnz
		j.team.do(j.hi-j.lo, k*drawCost, j.draw)
		j.team.do(j.m, k*length, add)
	}
}

// addDenseRows adds the product of S and the current dense rows to SA, but only in rows lo to hi−1 of SA.
func (j *sjlt) addDenseRows(_ *stream, lo, hi int) {
	for i := j.lo; i < j.hi; i++ {
		x := j.x[i*j.ldx : i*j.ldx+j.d]
		y := j.y[i*j.t : (i+1)*j.t]
		for _, e := range j.nonzeros(i - j.lo) {
			if lo <= e.row && e.row < hi {
				row := j.row(e.row)
				floats.AddScaled(row[:j.d], e.sign, x)
				floats.AddScaled(row[j.d:], e.sign, y)
			}
		}
	}
}

// addSparseRows adds the product of S and the current sparse rows to SA, but only in rows lo to hi−1 of SA.
func (j *sjlt) addSparseRows(_ *stream, lo, hi int) {
	for i := j.lo; i < j.hi; i++ {
		idx, val := j.csr.Row(i)
		y := j.y[i*j.t : (i+1)*j.t]
		for _, e := range j.nonzeros(i - j.lo) {
			if lo <= e.row && e.row < hi {
				row := j.row(e.row)
				for k, c := range idx {
					row[c] += e.sign * val[k]
				}
				floats.AddScaled(row[j.d:], e.sign, y)
			}
		}
	}
}

func (j *sjlt) read(out []float64) {
	copy(out, j.sum)
	floats.Scale(1/math.Sqrt(float64(j.nnz)), out)
}
