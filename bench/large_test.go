package bench

import (
	"flag"
	"testing"
)

var withLarge = flag.Bool("large", false, "run the cases that take minutes or gigabytes, too")

// large skips a case that takes minutes or gigabytes, unless the flag -large is set.
func large(b *testing.B) {
	if !*withLarge {
		b.Skip("minutes or gigabytes: -large runs it")
	}
}

// manyRows skips a case with more than half a gigabyte of rows, unless the flag -large is set.
func manyRows(b *testing.B, n, d int) {
	if 8*n*d > 1<<29 {
		large(b)
	}
}
