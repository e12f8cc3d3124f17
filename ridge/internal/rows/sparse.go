package rows

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// Sparse rows stay sparse when they are centred. Let a be a row of weight w, and μ the mean of the block. The centred
// row is stored as a sparse row s, and a dense vector c that all rows of the block share:
//
//	√w·(a − origin − μ) = s − √w·c.
//
// The subtraction of √w·c is not carried out. To avoid cancellation later, s must not be much longer than
// s − √w·c. So c has the element μ only in some columns: the origin must be 0, and the rows with an entry must
// have less than half of the weight of the block. All other columns are called explicit: c is 0 there, and every row
// gets an entry, which is centred as in dense rows. The origin has the entries of the heaviest row of the first block
// in the explicit columns, and 0 in all others.
//
// Let W be the weight of the block. In a column that is not explicit, the rows with an entry have the weight q·W with
// q < ½. By Cauchy's inequality W·μ² ≤ q·Σwa², so that s is not much longer than the centred column:
//
//	Σw(a − μ)² = Σwa² − Wμ² ≥ ½·Σwa².

// sparseWork is the workspace for centred sparse rows.
type sparseWork struct {
	own      engine.CSR      // the sparse rows times √w, centred in the explicit columns
	row      []float64       // one row as a dense row, d
	held     []float64       // for each column, the weight of the rows with an entry
	explicit []int32         // the explicit columns
	shift    []float64       // the mean in the explicit columns, 0 in the others
	centre   []float64       // the mean in the other columns, 0 in the explicit ones
	sums     []twofold.Total // Σw·(row − origin)
}

// chooseExplicit chooses the explicit columns of b: the columns in which every row gets an entry, so that they can
// be centred. The start of this file says how. The result reports whether the rows of b are still sparse with these
// entries.
func (s *Stage) chooseExplicit(b dataset.Block) bool {
	k := &s.sparse
	k.held = vec.Grow(k.held, s.d)
	clear(k.held)
	var total float64
	for i := range b.N {
		w := b.Weight(i)
		total += w
		if w > 0 {
			idx, _ := b.Sparse.Row(i)
			for _, j := range idx {
				k.held[j] += w
			}
		}
	}
	begun := s.Weight.Value() > 0
	k.explicit = k.explicit[:0]
	for j, v := range k.held {
		if v >= total/2 || begun && s.Origin[j] != 0 {
			k.explicit = append(k.explicit, int32(j))
		}
	}
	return total > 0 &&
		b.Sparse.NNZ()+b.N*len(k.explicit) <= b.N*(s.d/fd.SparseShare)
}

// loadCentred centres sparse rows that stay sparse, after chooseExplicit.
func (s *Stage) loadCentred(b dataset.Block) Staged {
	n := b.N
	w := b.W
	k := &s.sparse
	s.y = append(append(s.y[:0], b.Y[:n*s.t]...), make([]float64, s.t)...)
	if !(s.Weight.Value() > 0) {
		s.beginAt(b, heaviest(n, w))
	}
	s.begin()
	widen(&s.sparse.own, b.Sparse, k.explicit)
	s.sumSparse(w)
	added := s.centre(n, w)
	s.subtract()
	out := Staged{
		N:      n + added,
		Sparse: &s.sparse.own,
		Centre: k.centre,
		Y:      s.y[:(n+added)*s.t],
		stage:  s,
		own:    n,
	}
	s.noteNonZero(out, w)
	s.weighTargets()
	if len(s.root) > 0 {
		out.Times = s.root
		for i, r := range s.root {
			_, val := s.sparse.own.Row(i)
			vec.Scale(r, val)
		}
	}
	return out
}

// beginAt sets the origin to row i of b. For feature columns that are not in s.sparse.explicit, it sets the origin
// to 0.
func (s *Stage) beginAt(b dataset.Block, i int) {
	clear(s.Origin)
	idx, val := b.Sparse.Row(i)
	for _, j := range s.sparse.explicit {
		if at, there := slices.BinarySearch(idx, j); there {
			s.Origin[j] = val[at]
		}
	}
	y := b.Y[i*s.t : (i+1)*s.t]
	copy(s.Origin[s.d:], y)
}

// widen overwrites dst with the rows of src. If a row has no entry in one of the given columns, widen adds an entry
// of value zero. It reuses the memory of dst.
func widen(dst, src *engine.CSR, columns []int32) {
	dst.Rows, dst.Cols = src.Rows, src.Cols
	dst.RowPtr = append(dst.RowPtr[:0], 0)
	dst.ColIdx = dst.ColIdx[:0]
	dst.Val = dst.Val[:0]
	for i := range src.Rows {
		idx, val := src.Row(i)
		at := 0
		for _, c := range columns {
			lo := at
			for at < len(idx) && idx[at] < c {
				at++
			}
			dst.ColIdx = append(dst.ColIdx, idx[lo:at]...)
			dst.Val = append(dst.Val, val[lo:at]...)
			if at == len(idx) || idx[at] != c {
				dst.ColIdx = append(dst.ColIdx, c)
				dst.Val = append(dst.Val, 0)
			}
		}
		dst.ColIdx = append(dst.ColIdx, idx[at:]...)
		dst.Val = append(dst.Val, val[at:]...)
		dst.RowPtr = append(dst.RowPtr, len(dst.Val))
	}
}

// sumSparse computes sums over the rows of s.sparse.own with the weights w. With z = row − origin, it stores Σw·z
// in s.block.mean, and Σw·z² in s.block.spread. Its sums Σw·z are compensated, and so more accurate than in
// sumFeatures.
func (s *Stage) sumSparse(w []float64) {
	k := &s.sparse
	if len(k.sums) < s.d {
		k.sums = make([]twofold.Total, s.d)
	}
	clear(k.sums)
	for i := range s.sparse.own.Rows {
		v := 1.0
		if w != nil {
			v = w[i]
		}
		idx, val := s.sparse.own.Row(i)
		for e, j := range idx {
			z := val[e] - s.Origin[j]
			vz := float64(v * z)
			k.sums[j].Add(vz)
			s.block.spread[j] += float64(vz * z)
		}
	}
	for j := range k.sums {
		s.block.mean[j] = k.sums[j].Value()
	}
}

// subtract subtracts the origin from the rows in s.sparse.own. In the columns s.sparse.explicit it also subtracts
// the mean. For all other columns it only stores the mean, in s.sparse.centre.
func (s *Stage) subtract() {
	k := &s.sparse
	k.shift = vec.Grow(k.shift, s.d)
	k.centre = append(k.centre[:0], s.block.mean[:s.d]...)
	clear(k.shift)
	for _, j := range k.explicit {
		k.shift[j] = k.centre[j]
		k.centre[j] = 0
	}
	for e, j := range s.sparse.own.ColIdx {
		s.sparse.own.Val[e] = (s.sparse.own.Val[e] - s.Origin[j]) - k.shift[j]
	}
}
