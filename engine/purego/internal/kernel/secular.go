package kernel

// A Secular holds the loops over the poles d_i of a secular equation. Package eigen has the equation.
type Secular struct {
	// Poles sets delta_i = (d_i − origin) − tau for n poles, and returns the sums of zz_i/delta_i and of
	// zz_i/delta_i². It adds up the elements from the first to the last, in one or more parallel sums. partials is
	// the sum of all partial sums of zz_i/delta_i. PolesDown does the same from the last element to the first.
	Poles, PolesDown func(n int, origin, tau float64, d, zz, delta *float64) (sum, slope, partials float64)

	// ScaleQuotients multiplies y_i by delta_i/(d_i − pole), for n elements.
	ScaleQuotients func(n int, pole float64, delta, d, y *float64)
}

var secularGo = Secular{polesGo, polesDownGo, scaleQuotientsGo}

func polesGo(
	n int,
	origin, tau float64,
	d, zz, delta *float64,
) (sum, slope, partials float64) {
	ds := slice(d, 0, n)
	squares := slice(zz, 0, n)
	deltas := slice(delta, 0, n)
	for i, x := range ds {
		x = (x - origin) - tau
		deltas[i] = x
		t := 1 / x
		u := float64(squares[i] * t)
		sum += u
		slope += float64(u * t)
		partials += sum
	}
	return sum, slope, partials
}

func polesDownGo(
	n int,
	origin, tau float64,
	d, zz, delta *float64,
) (sum, slope, partials float64) {
	ds := slice(d, 0, n)
	squares := slice(zz, 0, n)
	deltas := slice(delta, 0, n)
	for i := n - 1; i >= 0; i-- {
		x := (ds[i] - origin) - tau
		deltas[i] = x
		t := 1 / x
		u := float64(squares[i] * t)
		sum += u
		slope += float64(u * t)
		partials += sum
	}
	return sum, slope, partials
}

func scaleQuotientsGo(n int, pole float64, delta, d, y *float64) {
	ds := slice(d, 0, n)
	ys := slice(y, 0, n)
	for i, x := range slice(delta, 0, n) {
		ys[i] *= x / (ds[i] - pole)
	}
}
