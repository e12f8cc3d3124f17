package adversary

import (
	"context"
	"math"
	"math/big"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// random is the preconditioners of randsketch, of the rows as they came.
func (e *evaluation) random() {
	g := e.p.g
	if e.p.weights != nil {
		return
	}
	raw := e.p.moments
	if g.Intercept {
		raw = e.p.reference(false, everything)
		if !exactEnough(raw, e.p.gamma) {
			return
		}
	}
	ny, err := randsketch.NewNystrom(randsketch.NystromConfig{Rank: g.Size, Dim: g.Cols, Seed: g.Seed})
	if e.refused("Nyström", err) || e.refused("Nyström", ny.AppendSource(context.Background(), e.p)) {
		return
	}
	spec, err := ny.Spectrum()
	if e.refused("Nyström", err) {
		return
	}
	e.hessian("Nyström", raw, spec)
	if !g.Intercept {
		f := e.run("cg by Nyström", ridge.SolveOptions{Tol: math.Pow(10, g.Tol), MaxPasses: g.Passes, Hessian: spec})
		if f != nil {
			e.certificate("cg by Nyström", f, e.truth)
		}
	}
	kind := []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT}[g.Seed%2]
	sk, err := randsketch.New(randsketch.Config{Kind: kind, Rows: g.Size, Dim: g.Cols, Seed: g.Seed})
	if e.refused("random sketch", err) || e.refused("random sketch", sk.AppendSource(context.Background(), e.p)) {
		return
	}
	spec, err = sk.Spectrum()
	if !e.refused("random sketch", err) {
		e.hessian("random sketch", raw, spec)
	}
}

// hessian holds the bounds on K − K̂ and on Ĥ⁻¹H.
func (e *evaluation) hessian(name string, raw *refbig.Problem, s *randsketch.Spectrum) {
	approx := gram(s.Dim, s.Lambda, s.V)
	least, most := extremes(combine(raw.K, approx, -1), raw.K)
	e.atMost(name+": Over", most, s.Over)
	e.atMost(name+": Under", new(big.Float).Neg(least), s.Under)

	h, hhat := combine(raw.K, raw.K, 0), combine(approx, approx, 0)
	projector := gram(s.Dim, ones(len(s.Lambda)), s.V)
	for i := range h {
		h[i][i] = sum(h[i][i], refbig.Float(e.p.gamma))
		hhat[i][i] = sum(hhat[i][i], refbig.Float(e.p.gamma))
		for j := range h {
			rest := new(big.Float).Neg(projector[i][j])
			if i == j {
				rest.Add(rest, refbig.Float(1))
			}
			hhat[i][j] = sum(hhat[i][j], rest.Mul(rest, refbig.Float(s.Floor)))
		}
	}
	spectrum, err := pencil(h, hhat)
	if err != nil ||
		spectrum[len(spectrum)-1].Cmp(refbig.Float(0x1p100)) > 0 { // the reference is off by 2⁻¹⁹⁰ of the largest
		return
	}
	lo, hi := s.Range(e.p.gamma)
	e.atMost(name+": Range above", spectrum[len(spectrum)-1], hi)
	if lo > 0 {
		e.worst(
			name+": Range below",
			oneSided(refbig.Float(lo), spectrum[0], new(big.Float).Sub(refbig.Float(lo), spectrum[0]), refbig.Float(0)),
		)
	}
}
