package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// These decoders follow "Encodings.md" in github.com/apache/parquet-format. The memory they use does not depend on
// sizes stated in the file.

var (
	errShort = errors.New("a page has fewer values than its header states")
	errDelta = errors.New("a page has damaged deltas")
	errIndex = errors.New("a page refers to a value that is not in its dictionary")
)

// bitsAt returns the number that is stored in width bits of b, from the given bit on. width is at most 64. Bits
// after the end of b are 0.
func bitsAt(b []byte, bit, width int) uint64 {
	b = b[min(bit>>3, len(b)):]
	shift := bit & 7
	if len(b) < 9 {
		var padded [9]byte
		copy(padded[:], b)
		b = padded[:]
	}
	v := binary.LittleEndian.Uint64(b)>>shift | uint64(b[8])<<(64-shift)
	return v & (1<<width - 1)
}

// A hybrid decodes Parquet's hybrid encoding, a sequence of two kinds of runs. A run is one value that is repeated,
// or several values of width bits each.
type hybrid struct {
	b      []byte
	width  int // bits of a value, at most 32
	left   int // values left in the run
	value  uint32
	packed []byte // of a run of packed bits; nil for equal values
	bit    int    // next bit of packed
}

// run returns the number of values left in the current run. At the end of a run it starts the next run.
func (h *hybrid) run() (int, error) {
	for h.left == 0 {
		head, n := binary.Uvarint(h.b)
		if n <= 0 || head > math.MaxInt32/8 { // a page has at most 2³¹ − 1 values
			return 0, errShort
		}
		h.b = h.b[n:]
		if head&1 == 0 {
			size := (h.width + 7) / 8
			if size > len(h.b) {
				return 0, errShort
			}
			h.left = int(head >> 1)
			h.value = uint32(bitsAt(h.b[:size], 0, h.width))
			h.packed = nil
			h.b = h.b[size:]
			continue
		}
		groups := int(head >> 1) // of 8 values
		size := groups * h.width
		if h.width == 0 {
			h.left = 8 * groups
			h.value = 0
			h.packed = nil
			continue
		}
		size = min(size, len(h.b))
		if size == 0 { // the last group may be shorter
			return 0, errShort
		}
		h.left = min(8*groups, size*8/h.width)
		h.packed = h.b[:size:size]
		h.bit = 0
		h.b = h.b[size:]
	}
	return h.left, nil
}

func (h *hybrid) next(dst []uint32) error {
	for len(dst) > 0 {
		n, err := h.run()
		if err != nil {
			return err
		}
		n = min(n, len(dst))
		if h.packed == nil {
			for i := range dst[:n] {
				dst[i] = h.value
			}
		} else {
			for i := range dst[:n] {
				dst[i] = uint32(bitsAt(h.packed, h.bit, h.width))
				h.bit += h.width
			}
		}
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// A delta decodes integers stored as differences.
type delta struct {
	b       []byte
	mini    int   // values of a miniblock
	minis   int   // miniblocks of a block
	left    int   // values left
	value   int64 // next value
	widths  []byte
	least   int64 // smallest difference in the block
	packed  []byte
	width   int // bits of a difference
	bit     int // next bit of packed
	inMini  int // values left in the miniblock
	started bool
}

func newDelta(b []byte) (delta, error) {
	d := delta{b: b}
	block := d.uvarint()
	minis := d.uvarint()
	count := d.uvarint()
	d.value = unzigzag(d.uvarint())
	if d.b == nil ||
		count > math.MaxInt32 ||
		minis == 0 ||
		minis > block ||
		block > 1<<24 ||
		block%(8*minis) != 0 {
		return d, errDelta
	}
	d.mini = int(block / minis)
	d.minis = int(minis)
	d.left = int(count)
	return d, nil
}

// uvarint reads an integer. b is nil after damage.
func (d *delta) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b = nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// miniblock begins the next miniblock.
func (d *delta) miniblock() error {
	if len(d.widths) == 0 {
		d.least = unzigzag(d.uvarint())
		if d.minis > len(d.b) {
			return errDelta
		}
		d.widths = d.b[:d.minis]
		d.b = d.b[d.minis:]
	}
	d.width = int(d.widths[0])
	d.widths = d.widths[1:]
	need := (min(d.mini, d.left)*d.width + 7) / 8
	if d.width > 64 || need > len(d.b) {
		return errDelta
	}
	size := min(d.mini/8*d.width, len(d.b)) // the last miniblock may be shorter
	d.packed = d.b[:size:size]
	d.bit = 0
	d.inMini = d.mini
	d.b = d.b[size:]
	return nil
}

func (d *delta) next() (int64, error) {
	if d.left == 0 {
		return 0, errShort
	}
	if !d.started {
		d.started = true
		d.left--
		return d.value, nil
	}
	if d.inMini == 0 {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	d.inMini--
	d.left--
	d.value += d.least + int64(bitsAt(d.packed, d.bit, d.width))
	d.bit += d.width
	return d.value, nil
}

// rest returns the data after the last value.
func (d delta) rest() ([]byte, error) {
	for d.left--; d.left > 0; d.left -= d.mini { // the first value is in the header
		if err := d.miniblock(); err != nil {
			return nil, err
		}
	}
	return d.b, nil
}
