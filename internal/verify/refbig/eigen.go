package refbig

import (
	"math/big"
	"slices"
)

// eigenPrec is the precision of the rotations in bits.
const eigenPrec = 256

// Eigenvalues returns the eigenvalues of the symmetric matrix a in ascending order. It uses cyclic Jacobi rotations
// (G. Golub, C. Van Loan, Matrix Computations, section 8.5). Each eigenvalue has an error of at most
// 2⁻¹⁹⁰‖a‖_F. Eigenvalues reads only the lower triangle of a, and does not change a.
func Eigenvalues(a [][]*big.Float) []*big.Float {
	n := len(a)
	s := matrix(n, n)
	total := Float(0)
	for i := range n {
		for j := range i + 1 {
			s[i][j] = new(big.Float).SetPrec(eigenPrec).Set(a[i][j])
			s[j][i] = s[i][j]
			total = add(total, mul(s[i][j], s[i][j]))
		}
	}
	negligible := new(big.Float).SetMantExp(total, -2*(eigenPrec-56))
	for range 100 {
		off := Float(0)
		for i := range n {
			for j := range i {
				off = add(off, mul(s[i][j], s[i][j]))
			}
		}
		if off.Cmp(negligible) <= 0 {
			out := make([]*big.Float, n)
			for i := range out {
				out[i] = s[i][i]
			}
			slices.SortFunc(out, (*big.Float).Cmp)
			return out
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(s, p, q)
			}
		}
	}
	panic("refbig: Jacobi's iteration did not converge")
}

// rotate makes s[p][q] zero by a Jacobi rotation of the rows and columns p and q.
func rotate(s [][]*big.Float, p, q int) {
	if s[p][q].Sign() == 0 {
		return
	}
	one := new(big.Float).SetPrec(eigenPrec).SetInt64(1)
	theta := quo(sub(s[q][q], s[p][p]), add(s[p][q], s[p][q]))
	root := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(eigenPrec).Sqrt(x) }
	tan := quo(one, add(new(big.Float).Abs(theta), root(add(mul(theta, theta), one))))
	if theta.Sign() < 0 {
		tan.Neg(tan)
	}
	cos := quo(one, root(add(mul(tan, tan), one)))
	sin := mul(tan, cos)
	move := mul(tan, s[p][q])
	s[p][p], s[q][q] = sub(s[p][p], move), add(s[q][q], move)
	s[p][q] = new(big.Float).SetPrec(eigenPrec)
	s[q][p] = s[p][q]
	for k := range s {
		if k == p || k == q {
			continue
		}
		x, y := s[k][p], s[k][q]
		s[k][p], s[k][q] = sub(mul(cos, x), mul(sin, y)), add(mul(sin, x), mul(cos, y))
		s[p][k], s[q][k] = s[k][p], s[k][q]
	}
}
