package rows

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
)

// Sparse rows stay sparse where they are centred: as rows less a dense centre, the mean of the
// block,
//
//	√w·(a − origin − μ) = s − √w·c,   c = μ but in the columns below,
//
// which is never subtracted. So s must not be much longer than s − √w·c: a column in which the rows of
// at least half of the block's weight have entries, or the origin has one, is centred as those of
// dense rows are. There all rows of s have entries and c is 0. In any other column, where a share
// q < ½ of the weight W has entries, Cauchy's inequality makes W·μ² at most q·Σwa², so that
//
//	Σw(a − μ)² = Σwa² − Wμ² ≥ ½·Σwa².
//
// The origin is the heaviest row of the first block, in the columns that are centred explicitly there,
// and 0 in others.

// A sparseWork is the memory of sparse rows.
type sparseWork struct {
	own      engine.CSR     // sparse rows times √w, less what is centred of them
	row      []float64      // one that is written out, d
	held     []float64      // weight of the rows with an entry, of each column
	explicit []int32        // the columns in which every row is to have an entry
	shift    []float64      // the mean in these columns, 0 in others
	centre   []float64      // the mean in the others, 0 in these
	sums     []neumaier.Sum // of rows less the origin, times their weights
}

// stays finds the columns that are to be centred explicitly, and reports whether the rows of a block
// are short enough to stay sparse, with an entry more in each of these.
func (s *Stage) stays(b dataset.Block) bool {
	k := &s.sparse
	k.held = vec.Grow(k.held, s.d)
	clear(k.held)
	var total float64
	for i := range b.N {
		w := b.Weight(i)
		if total += w; w > 0 {
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
	return total > 0 && b.Sparse.NNZ()+b.N*len(k.explicit) <= b.N*(s.d/fd.SparseShare)
}

// loadCentred stages sparse rows less their mean, sparse ones, after stays.
func (s *Stage) loadCentred(b dataset.Block) Staged {
	n, w, k := b.N, b.W, &s.sparse
	s.y = append(append(s.y[:0], b.Y[:n*s.t]...), make([]float64, s.t)...)
	if !(s.Weight.Value() > 0) {
		s.beginAt(b, heaviest(n, w))
	}
	s.begin()
	widen(&s.sparse.own, b.Sparse, k.explicit)
	s.sumSparse(w)
	added := s.centre(n, w)
	s.subtract()
	out := Staged{N: n + added, Sparse: &s.sparse.own, Centre: k.centre, Y: s.y[:(n+added)*s.t], stage: s, own: n}
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

// beginAt makes the origin of row i.
func (s *Stage) beginAt(b dataset.Block, i int) {
	clear(s.Origin)
	idx, val := b.Sparse.Row(i)
	for _, j := range s.sparse.explicit {
		if at, there := slices.BinarySearch(idx, j); there {
			s.Origin[j] = val[at]
		}
	}
	copy(s.Origin[s.d:], b.Y[i*s.t:(i+1)*s.t])
}

// widen overwrites dst, in the memory it has, with the rows of src and zeros in the given columns where
// they have no entry.
func widen(dst, src *engine.CSR, columns []int32) {
	dst.Rows, dst.Cols = src.Rows, src.Cols
	dst.RowPtr, dst.ColIdx, dst.Val = append(dst.RowPtr[:0], 0), dst.ColIdx[:0], dst.Val[:0]
	for i := range src.Rows {
		idx, val := src.Row(i)
		at := 0
		for _, c := range columns {
			lo := at
			for at < len(idx) && idx[at] < c {
				at++
			}
			dst.ColIdx, dst.Val = append(dst.ColIdx, idx[lo:at]...), append(dst.Val, val[lo:at]...)
			if at == len(idx) || idx[at] != c {
				dst.ColIdx, dst.Val = append(dst.ColIdx, c), append(dst.Val, 0)
			}
		}
		dst.ColIdx, dst.Val = append(dst.ColIdx, idx[at:]...), append(dst.Val, val[at:]...)
		dst.RowPtr = append(dst.RowPtr, len(dst.Val))
	}
}

// sumSparse sets the mean of the block to the sum of its widened rows less the origin, and its
// spread. Sums are compensated, so that their error, a few roundings, is within that of a sum in
// parts.
func (s *Stage) sumSparse(w []float64) {
	k := &s.sparse
	if len(k.sums) < s.d {
		k.sums = make([]neumaier.Sum, s.d)
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

// subtract makes of the widened rows s, still without the root of a weight, and the centre.
func (s *Stage) subtract() {
	k := &s.sparse
	k.shift, k.centre = vec.Grow(k.shift, s.d), append(k.centre[:0], s.block.mean[:s.d]...)
	clear(k.shift)
	for _, j := range k.explicit {
		k.shift[j], k.centre[j] = k.centre[j], 0
	}
	for e, j := range s.sparse.own.ColIdx {
		s.sparse.own.Val[e] = (s.sparse.own.Val[e] - s.Origin[j]) - k.shift[j]
	}
}
