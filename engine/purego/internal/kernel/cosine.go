package kernel

import (
	"math"
	"unsafe"
)

// A Cosines holds the loops for random Fourier features scale·cos(x·W + u), with a row x, weights W and offsets u.
// All kernels compute the same bits, because they make the same operations as the Go versions, in the same order.
type Cosines struct {
	// Chain adds k rows of the matrix W, multiplied by the k elements of x, to the n numbers f_c = from[c]. It adds
	// one product after the other, with fused multiply-adds:
	//
	//	z_c = (…((f_c + x₀·w_{J₀c}) + x₁·w_{J₁c}) + …).
	//
	// The array columns holds the row indices J₀, J₁, … A row of W has n elements.
	Chain func(n, k int, x *float64, columns *int32, w, from, z *float64)

	// Chain4 computes z = from + x·W for four rows x of k elements, with the operations of Chain. W is k×n. ldx,
	// ldf and ldz are the distances between the rows of x, from and z. If ldf is 0, from has one row, which is
	// added to every row of the product.
	Chain4 func(n, k int, x *float64, ldx int, w, from *float64, ldf int, z *float64, ldz int)

	// near computes y_j = scale·cos(x_j) for j < n. It stops at the first group of numbers, as many as a vector
	// register holds, that contains a NaN or a magnitude above nearLimit. It returns the number of elements of y
	// that it has computed.
	near func(n int, scale float64, x, y *float64) (done int)
}

// nearLimit is the largest magnitude of a number whose cosine is computed by the fast method. This method subtracts
// a multiple of π/2, which is stored as a sum of three numbers.
const nearLimit = 1 << 20

// Cos computes y_j = scale·cos(x_j) for j < n, and reports whether all x_j are finite. The cosine of a finite
// number has an error of less than one ulp. The cosine of any other number is NaN. The product with scale is
// rounded once.
func (k *Kernel) Cos(n int, scale float64, x, y *float64) (finite bool) {
	finite = true
	for done := 0; done < n; {
		done += k.Cosines.near(n-done, scale, at(x, done), at(y, done))
		end := min(n, done+k.Unit)
		for ; done < end; done++ {
			c := cosine(*at(x, done))
			finite = finite && !math.IsNaN(c)
			*at(y, done) = scale * c
		}
	}
	return finite
}

// halfPi1, halfPi2 and halfPi3 add up to π/2 with an error of at most 2⁻¹⁴¹. halfPi1 has 53 bits. halfPi2 has
// only 33 bits, so that its product with an integer below 2²⁰ is exact.
const (
	halfPi1 = 0x1.921fb54442d18p+0
	halfPi2 = 0x1.1a626331p-54
	halfPi3 = 0x1.1701b839a252p-88
)

const (
	twoOverPi = 0x1.45f306dc9c883p-1
	// toInteger rounds a number below 2⁵¹ to an integer when it is added to the number. The lowest bits of the sum
	// are then the bits of the integer.
	toInteger = 0x1.8p52
)

// sinCoefficients are the coefficients of r³, r⁵, … in a polynomial r + … close to sin r. cosCoefficients are
// the coefficients of r⁴, r⁶, … in a polynomial 1 − r²/2 + … close to cos r. They were computed by the
// Remez algorithm. For |r| <= π/4 the relative error is at most 2⁻⁵⁶ for sin r and at most 2⁻⁵⁹ for cos
// r.
var (
	sinCoefficients = [6]float64{-0x1.5555555555548p-3, 0x1.111111110f7dp-7, -0x1.a01a019bfde86p-13,
		0x1.71de3567cde2p-19, -0x1.ae5e5a8d5ea4cp-26, 0x1.5d8fd078426b1p-33}
	cosCoefficients = [6]float64{0x1.555555555554bp-5, -0x1.6c16c16c14f91p-10, 0x1.a01a019c8448cp-16,
		-0x1.27e4f7eabfd54p-22, 0x1.1ee9d7b1712a5p-29, -0x1.8fa4983037911p-37}
)

// cosine returns cos x. For |x| <= nearLimit it computes x − q·π/2 = r + l, where q is the integer nearest to
// x·2/π and |r| <= π/4 up to round-off (W. Cody, W. Waite, "Software Manual for the Elementary Functions",
// 1980, here with fused multiply-adds):
//
//   - x − q·halfPi1 is exact: it is less than one and a multiple of 2⁻⁵³.
//   - q·halfPi2 < 2⁻³⁴ is exact too. Subtracting it gives r. The second and third step compute the round-off of r
//     exactly, because x − q·halfPi1 is a multiple of the ulp of q·halfPi2 (T. Dekker, Numer. Math. 18, 1971).
//   - q·halfPi3 is subtracted from l. The rest of π/2 times q, at most q·2⁻¹⁴¹, is neglected, because |r| is
//     above 2⁻⁶¹ for these x.
func cosine(x float64) float64 {
	if !(math.Abs(x) <= nearLimit) {
		return farCosine(x)
	}
	rounded := math.FMA(x, twoOverPi, toInteger)
	q := rounded - toInteger
	first := math.FMA(-q, halfPi1, x)
	r := math.FMA(-q, halfPi2, first)
	l := math.FMA(-q, halfPi2, first-r)
	l = math.FMA(-q, halfPi3, l)
	return quadrant(r, l, math.Float64bits(rounded))
}

// quadrant returns cos(r + l + q·π/2) for |r| <= π/4 and |l| < 2⁻⁵³. Let S and C be the polynomials with the
// coefficients sinCoefficients and cosCoefficients. Then quadrant uses
//
//	sin(r + l) = r + (r³·S(r²) + l·(1 − r²/2))
//	cos(r + l) = w + (r⁴·C(r²) + e − r·l),  w + e = 1 − r²/2,
//
// where w is 1 − r²/2 rounded to float64. The neglected terms are less than 2⁻⁵⁶ of the result. The term
// added to r or w is less than a tenth of the sum. Therefore its few roundings of half an ulp change the result by
// at most about 0.3 ulp.
func quadrant(r, l float64, q uint64) float64 {
	z := float64(r * r)
	h := float64(r * 0.5)
	w := math.FMA(-r, h, 1)
	var c float64
	if q&1 == 1 {
		s := &sinCoefficients
		p := math.FMA(math.FMA(math.FMA(math.FMA(math.FMA(s[5], z, s[4]), z, s[3]), z, s[2]), z, s[1]), z, s[0])
		c = r + math.FMA(float64(r*z), p, float64(l*w))
	} else {
		s := &cosCoefficients
		p := math.FMA(math.FMA(math.FMA(math.FMA(math.FMA(s[5], z, s[4]), z, s[3]), z, s[2]), z, s[1]), z, s[0])
		e := math.FMA(-r, l, math.FMA(-r, h, 1-w))
		c = w + math.FMA(float64(z*z), p, e)
	}
	return math.Float64frombits(math.Float64bits(c) ^ (q+1)<<62&(1<<63))
}

var cosinesGo = Cosines{chainGo, chain4Go, nearGo}

func nearGo(n int, scale float64, x, y *float64) int {
	ys := slice(y, 0, n)
	for j, v := range slice(x, 0, n) {
		if !(math.Abs(v) <= nearLimit) {
			return j
		}
		ys[j] = scale * cosine(v)
	}
	return n
}

func chainGo(
	n, k int,
	x *float64,
	columns *int32,
	w, from, z *float64,
) {
	chain(n, slice(x, 0, k), unsafe.Slice(columns, k), w, from, z)
}

func chain4Go(
	n, k int,
	x *float64,
	ldx int,
	w, from *float64,
	ldf int,
	z *float64,
	ldz int,
) {
	if n == 0 {
		return
	}
	for r := range 4 {
		chain(
			n,
			slice(x, r*ldx, k),
			nil,
			w,
			at(from, r*ldf),
			at(z, r*ldz),
		)
	}
}

// chain is the function Chain of [Cosines] in Go. If columns is nil, it multiplies x[i] by row i of W.
func chain(
	n int,
	x []float64,
	columns []int32,
	w, from, z *float64,
) {
	row := func(i int) int {
		if columns != nil {
			i = int(columns[i])
		}
		return i * n
	}
	c := 0
	for ; c+4 <= n; c += 4 {
		f := (*[4]float64)(unsafe.Pointer(at(from, c)))
		s0 := f[0]
		s1 := f[1]
		s2 := f[2]
		s3 := f[3]
		for i, v := range x {
			y := (*[4]float64)(unsafe.Pointer(at(w, row(i)+c)))
			s0 = math.FMA(v, y[0], s0)
			s1 = math.FMA(v, y[1], s1)
			s2 = math.FMA(v, y[2], s2)
			s3 = math.FMA(v, y[3], s3)
		}
		*(*[4]float64)(unsafe.Pointer(at(z, c))) = [4]float64{s0, s1, s2, s3}
	}
	for ; c < n; c++ {
		s := *at(from, c)
		for i, v := range x {
			s = math.FMA(v, *at(w, row(i)+c), s)
		}
		*at(z, c) = s
	}
}
