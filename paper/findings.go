package paper

// The claims of section 3 of the paper, "Findings" and "Summary", on figures 1 and
// 2. Errors are relative errors, |û − u*|/u*.

// turn is the γ at which the paper sees the methods change places in figure 2.
const turn = 1.0 / 16

// What the paper's words are taken to mean.
const (
	manyOrders  = 100  // "many orders of magnitude", as a factor
	muchWeaker  = 10   // "much weaker", as a factor
	negligible  = 0.01 // of u*, a difference that does not count
	near        = 1.5  // "competitive", "not too far", as a factor
	littleMore  = 1.25 // "little change", as a factor
	overmuch    = 2    // "substantially overestimate", as a factor
	noticeable  = 1.05 // "the worst", as a factor over the others
	similar     = 3    // "similarly", "competitive" of errors that span decades
	noFurther   = 3    // "no improvement" over all γ above turn, as a factor
	improvement = 10   // improvement there, as a factor
)

func hasR1(r *results) bool   { return r.risks[0] != nil }
func hasR2(r *results) bool   { return r.risks[1] != nil }
func hasBoth(r *results) bool { return hasR1(r) && hasR2(r) }

// onR1 and onR2 judge by figure 1 or 2.
func onR1(judge func(*risks) finding) func(*results) finding {
	return func(r *results) finding { return judge(r.risks[0]) }
}

func onR2(judge func(*risks) finding) func(*results) finding {
	return func(r *results) finding { return judge(r.risks[1]) }
}

// onBoth judges by figures 1 and 2.
func onBoth(judge func(*risks) finding) func(*results) finding {
	return func(r *results) finding {
		return both(part("R₁", judge(r.risks[0])), part("R₂", judge(r.risks[1])))
	}
}

// What is known of the methods, for claims that do not hold as they stand.
const (
	sjltIsGaussian  = "An SJLT with its factor 1/√s, which the paper's appendix forgets, has E[SᵀS] = I as the Gaussian has, and hardly differs from it."
	hessianIsRight  = "The Hessian sketch leaves Aᵀb exact, and becomes exact as γ grows; the classical sketch goes on sketching the noise."
	robustShrinks   = "With ρ above γ the shift shrinks the variance, by up to (γ/(γ+ρ))², below the optimal one, while another method may cross the optimal one and err by nothing there."
	crossingOptimal = "Where a value crosses the optimal one its error vanishes, and a ratio to it says little."
	allBias         = "As γ grows the bias of every method tends to ‖x₀‖²."
	fdCostsMore     = "SA takes 2mnd flops, and the sketch by FD with its eigenproblems several times that."
)

var (
	allMetrics   = []metric{bias, variance, mse}
	biasVariance = []metric{bias, variance}
)
