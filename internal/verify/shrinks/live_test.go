package shrinks

import (
	"encoding/binary"
	"math"

	"github.com/fdridge/fdridge/fd"
)

// live checks the guarantee of [fd.Sketch.Bound] for the live rows. It also checks that kept rows are as orthogonal as
// the next shrink assumes. It takes the rows from the message, of format version 1.
func (p *problem) live(out *Report) {
	data, err := p.s.MarshalBinary()
	if err != nil || binary.LittleEndian.Uint32(data[8:]) != 1 {
		return
	}
	number := func(at int) int { return int(binary.LittleEndian.Uint64(data[at:])) }
	d, n, kept, shrinks := number(24), number(56), number(64), number(80)
	float := func(i int) float64 { return math.Float64frombits(uint64(number(120 + 8*i))) }
	e, rows := p.k.clone(), make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range d {
			rows[i][j] = float(kept + i*d + j)
		}
		e.addSquare(-1, rows[i])
	}
	at, b := p.String(), p.s.Bound()
	b.RoundOff += 1e-28 * p.k.trace().value() // the reference's own round-off, where no shrink has been
	checkSides(out, "live, "+p.store(), at, e, b)
	if p.s.Config().Shrink != fd.Gram || p.s.Size() >= d || kept == 0 || shrinks%4 == 0 {
		return
	}
	g := newSymmetric(kept)
	for i := range kept {
		for j, row := 0, g.row(i); j <= i; j++ {
			row[j] = dot(rows[i], rows[j])
			if i == j {
				row[j] = row[j].minus(pair{float(i), 0})
			}
		}
	}
	most := math.Inf(-1)
	for _, v := range g.eigenvalues() {
		most = math.Max(most, v)
	}
	out.check("drift", at, most, b.RoundOff)
}
