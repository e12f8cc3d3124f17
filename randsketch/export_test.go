package randsketch

import "gonum.org/v1/gonum/mat"

// Omega is the test matrix Ωᵀ, m×d.
func (a *Nystrom) Omega() *mat.Dense { return mat.NewDense(a.m, a.cfg.Dim, a.omega) }
