package dataset

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// A Lexicon numbers the texts of a categorical column: each text has a code, a whole number from
// 0 on in the order in which they were first met. Readers put codes in the place of texts, and an
// [Encoding] makes columns of them; it does not depend on the order. The zero value knows no text.
// It may be used by several goroutines at a time: a text that is known costs no lock and no memory.
type Lexicon struct {
	known   atomic.Pointer[map[string]int32]  // as they were some time ago; never written to
	numbers atomic.Pointer[map[float64]int32] // the codes of the texts of numbers, likewise

	mu    sync.Mutex
	texts []string         // by code
	codes map[string]int32 // of all texts
	size  int              // bytes of them
	late  int              // texts that known does not have and that were asked for since it was made
	seen  map[float64]int32
	lateN int
}

// The most texts of a lexicon, and the most bytes of them.
const (
	mostLevels = 1 << 20
	mostText   = 64 << 20
)

// Code is the code of a text, without the blanks around it. ok is false if there would be more
// than 2²⁰ texts, or more than 64 MiB of them: a column of names or of numbers is no category. It is
// false too if the text is not UTF-8.
func (l *Lexicon) Code(text []byte) (code float64, ok bool) {
	if m := l.known.Load(); m != nil {
		if c, ok := (*m)[string(text)]; ok {
			return float64(c), true
		}
	}
	return l.ask(string(text))
}

// CodeOf is [Lexicon.Code] of a string.
func (l *Lexicon) CodeOf(text string) (code float64, ok bool) {
	if m := l.known.Load(); m != nil {
		if c, ok := (*m)[text]; ok {
			return float64(c), true
		}
	}
	return l.ask(text)
}

// ask is CodeOf of a text that may not be known.
func (l *Lexicon) ask(text string) (code float64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.codes[text]
	if !ok {
		if len(l.texts) == mostLevels || l.size+len(text) > mostText || !utf8.ValidString(text) {
			return 0, false
		}
		if l.codes == nil {
			l.codes = map[string]int32{}
		}
		c = int32(len(l.texts))
		kept := strings.Clone(text) // which may be part of a block of a file
		l.texts, l.codes[kept] = append(l.texts, kept), c
		l.size += len(text)
	}
	// What is known is copied when that costs no more than the questions since: a text then comes to
	// be known after a few of them.
	if l.late++; l.late > len(l.texts) {
		l.known.Store(copied(l.codes))
		l.late = 0
	}
	return float64(c), true
}

// Number is the code of a number: that of its shortest decimal text.
func (l *Lexicon) Number(v float64) (code float64, ok bool) {
	if m := l.numbers.Load(); m != nil {
		if c, ok := (*m)[v]; ok {
			return float64(c), true
		}
	}
	if code, ok = l.CodeOf(numberText(v)); !ok {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[float64]int32{}
	}
	l.seen[v] = int32(code)
	if l.lateN++; l.lateN > len(l.seen) {
		l.numbers.Store(copied(l.seen))
		l.lateN = 0
	}
	return code, true
}

func copied[K string | float64](m map[K]int32) *map[K]int32 {
	out := make(map[K]int32, len(m))
	for k, v := range m {
		out[k] = v
	}
	return &out
}

// numberText is the level that a number is: its shortest decimal text, with no sign of a zero.
func numberText(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// textsFrom are the texts whose codes are n and more.
func (l *Lexicon) textsFrom(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.texts[min(n, len(l.texts)):len(l.texts):len(l.texts)]
}
