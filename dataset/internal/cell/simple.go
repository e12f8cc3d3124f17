package cell

// Simple parses a number that consists of digits, a sign, at most one point and an exponent, such as 12, -0.5 and
// 1.5e-3. The result mark equals the result of [Evidence] for s. For all other texts, including numbers in other
// notations, ok is false. Simple is faster than Number and Evidence.
func Simple(s []byte) (v float64, mark int, ok bool) {
	const longest = 64
	if len(s) == 0 || len(s) > longest {
		return 0, Plain, false
	}
	at := 0
	if s[0] == '+' || s[0] == '-' {
		at = 1
	}
	left := digitsAt(s[at:])
	at += left
	if at < len(s) && s[at] == '.' {
		right := digitsAt(s[at+1:])
		at += 1 + right
		mark = Point
		if 1 <= left && left <= 3 && right == 3 && s[at-left-1-right] != '0' { // the point may separate groups
			mark = EitherDot
		}
	}
	if at < len(s) && s[at]|0x20 == 'e' {
		at++
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		at += digitsAt(s[at:])
	}
	if at < len(s) {
		return 0, Plain, false
	}
	v, err := Parse(s)
	return v, mark, err == nil && v-v == 0
}

// digitsAt returns the number of digits at the start of s.
func digitsAt(s []byte) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
