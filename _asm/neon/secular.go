package main

// secular writes the functions for the secular equation of package eigen.
func (p *program) secular() {
	p.poles("poles", "from the first to the last", false)
	p.poles("polesDown", "from the last to the first", true)
	p.scaleQuotients()
}

// poles writes a function that adds up the terms of poles and their slopes.
func (p *program) poles(name, order string, down bool) {
	const sum, slope, partials = 0, 1, 2
	const origin, tau, one = 3, 4, 5
	const x, t, u = 6, 7, 8
	p.function(
		name,
		"n int, origin float64, tau float64, d *float64, zz *float64, delta *float64",
		"sum float64, slope float64, partials float64",
		"sets delta_i = (d_i − origin) − tau and adds up zz_i/delta_i, zz_i/delta_i² and the partial sums of the",
		"first, "+order+" element.",
	)
	pointers := []int{1, 2, 3}
	p.params(0, "n")
	p.params(1, "d", "zz", "delta")
	if down {
		for _, r := range pointers {
			p.op("ADD", "R0<<3, R%d, R%d", r, r)
		}
	}
	p.zero(sum, 3)
	p.everywhere(origin, "origin")
	p.everywhere(tau, "tau")
	p.op("FMOVD", "$1.0, F%d", one)
	p.op("VDUP", "V%d.D[0], V%d.D2", one, one)
	step := func(w width) func() {
		return func() {
			if down {
				p.retreat(w.elements, pointers...)
			}
			w.take(x, 1)
			w.take(u, 2)
			p.sub(x, x, origin)
			p.sub(x, x, tau)
			w.put(x, 3)
			p.div(t, one, x)
			p.mul(u, u, t)
			p.add(sum, sum, u)
			w.fma(slope, u, t)
			p.add(partials, partials, sum)
			if !down {
				p.advance(w.elements, pointers...)
			}
		}
	}
	p.countdown(lanes, "vector", step(width{p, lanes}))
	for _, v := range []int{sum, slope, partials} {
		p.sum(v, v)
	}
	p.countdown(1, "one", step(width{p, 1}))
	for v, name := range []string{"sum", "slope", "partials"} {
		p.op("FMOVD", "F%d, %s", sum+v, p.arg(name))
	}
	p.ret()
}

// everywhere loads a parameter into all elements of vector v.
func (p *program) everywhere(v int, name string) {
	p.op("FMOVD", "%s, F%d", p.arg(name), v)
	p.op("VDUP", "V%d.D[0], V%d.D2", v, v)
}

// retreat subtracts the given number of elements from each pointer.
func (p *program) retreat(elements int, pointers ...int) {
	for _, r := range pointers {
		p.op("SUB", "$%d, R%d", 8*elements, r)
	}
}

func (p *program) div(d, x, y int) {
	p.word(0x6e60fc00, d, x, y, 0, "FDIV V%d.2D, V%d.2D, V%d.2D", d, x, y)
}

func (p *program) scaleQuotients() {
	const delta, d, y, pole = 0, 1, 2, 3
	p.function(
		"scaleQuotients",
		"n int, pole float64, delta *float64, d *float64, y *float64",
		"",
		"multiplies y_i by delta_i/(d_i − pole).",
	)
	p.params(0, "n")
	p.params(1, "delta", "d", "y")
	p.everywhere(pole, "pole")
	p.each([]int{1, 2, 3}, func(w width) {
		w.take(delta, 1)
		w.take(d, 2)
		w.take(y, 3)
		p.sub(d, d, pole)
		p.div(delta, delta, d)
		p.mul(y, y, delta)
		w.put(y, 3)
	})
	p.ret()
}
