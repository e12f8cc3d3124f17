package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/fdridge/fdridge/dataset/internal/columns"
)

// A column chunk (the values of a column in a row group) consists of pages: at most one dictionary page, then data
// pages. A data page has the values that are not null. If the column may have nulls, it also has a definition level
// for each row, which is 0 for null and 1 for a value.

// Types of pages.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

// maxPageHeader is the largest size of a page header in bytes.
const maxPageHeader = 16 << 20

// A header is the header of a page. Its struct tags are the numbers of the fields in parquet.thrift.
type header struct {
	Kind   int32 `thrift:"1"`
	Size   int32 `thrift:"2"` // bytes after decompression
	Packed int32 `thrift:"3"` // bytes in the file
	// Sum is the CRC-32 of the page as it is stored in the file. It is nil if the file has none.
	Sum *int32 `thrift:"4"`
	V1  struct {
		Values   int32 `thrift:"1"` // number of values, nulls included
		Encoding int32 `thrift:"2"`
		Levels   int32 `thrift:"3"` // encoding of the levels
	} `thrift:"5"`
	Dictionary struct {
		Values   int32 `thrift:"1"`
		Encoding int32 `thrift:"2"`
	} `thrift:"7"`
	V2 struct {
		Values      int32 `thrift:"1"`
		Encoding    int32 `thrift:"4"`
		Levels      int32 `thrift:"5"` // bytes of the definition levels
		Repetitions int32 `thrift:"6"` // bytes of the repetition levels before them; some writers store zeros
		Compressed  *bool `thrift:"7"` // nil means true
	} `thrift:"8"`
}

// pages reads the values of a column in a row group.
type pages struct {
	file     io.ReaderAt
	end      int64 // position after the last page of the file
	limit    int   // largest size of a page
	codec    int32
	optional bool
	packed   bool  // as in footer
	at       int64 // position of the next page
	left     int64 // number of values in the pages from at on
	inPage   int   // values left in the current page
	levels   hybrid
	decoder  decoder
	body     []byte   // memory of the current page
	shared   *scratch // set for the duration of read and skip
}

func (p *pages) open(c chunk) error {
	if c.Kind != p.decoder.kind {
		return errors.New("its type differs from the schema")
	}
	p.codec = c.Codec
	p.at = c.Data
	p.left = c.Values
	p.inPage = 0
	if c.Dictionary > 0 && c.Dictionary < c.Data {
		p.at = c.Dictionary
	}
	dict := &p.decoder.dict
	dict.numbers = dict.numbers[:0]
	dict.starts = dict.starts[:0]
	return nil
}

// header reads the page header at position p.at of the file, and moves p.at to the end of the header.
func (p *pages) header() (h header, err error) {
	for size := 1 << 8; ; size <<= 4 {
		if p.at < 0 || p.at >= p.end {
			return h, errOutside
		}
		b := grown(&p.shared.packed, int(min(int64(size), p.end-p.at)))
		if n, err := p.file.ReadAt(b, p.at); n < len(b) {
			return h, err
		}
		h = header{Kind: -1}
		length := unmarshal(b, &h)
		if length == 0 && len(b) == size && size < maxPageHeader {
			continue
		}
		p.at += int64(length)
		switch {
		case length == 0 ||
			h.Size < 0 ||
			h.Packed < 0 ||
			h.V1.Values < 0 ||
			h.V2.Values < 0 ||
			h.V2.Levels < 0 ||
			h.V2.Repetitions < 0 ||
			h.Dictionary.Values < 0:
			return h, errors.New("the header of a page is damaged")
		case int(max(h.Packed, h.Size)) > p.limit:
			return h, fmt.Errorf("a page has %d bytes, more than %d", max(h.Packed, h.Size), p.limit)
		case int64(h.Packed) > p.end-p.at:
			return h, errOutside
		}
		return h, nil
	}
}

var errOutside = errors.New("a page lies outside the file")

// load reads the page with header h into memory and decompresses it. The first levelBytes bytes of the page are not
// compressed.
func (p *pages) load(h *header, levelBytes int, codec int32, memory *[]byte) error {
	if levelBytes > int(min(h.Packed, h.Size)) {
		return errShort
	}
	packed := &p.shared.packed
	if codec == codecNone {
		packed = memory
		if h.Packed != h.Size {
			return fmt.Errorf("a page has %d bytes, its header states %d", h.Packed, h.Size)
		}
	}
	src := grown(packed, int(h.Packed))
	if n, err := p.file.ReadAt(src, p.at); n < len(src) {
		return err
	}
	if h.Sum != nil && crc32.ChecksumIEEE(src) != uint32(*h.Sum) {
		return fmt.Errorf(
			"the page at byte %d of the file has the CRC-32 %08x, its header states %08x",
			p.at,
			crc32.ChecksumIEEE(src),
			uint32(*h.Sum),
		)
	}
	p.at += int64(h.Packed)
	if codec == codecNone {
		return nil
	}
	dst := grown(memory, int(h.Size))
	copy(dst, src[:levelBytes])
	// If a page has no values, some writers store no bytes here, and others store a compressed empty text.
	if len(dst) == levelBytes {
		return nil
	}
	return decompress(codec, dst[levelBytes:], src[levelBytes:])
}

// advance loads the next data page of the column. It first skips pages, which together have at most maxSkipped
// values, without reading them. If no page is left, ok is false.
func (p *pages) advance(maxSkipped int64) (skipped int64, ok bool, err error) {
	for p.left > 0 {
		h, err := p.header()
		if err != nil {
			return skipped, false, err
		}
		values := int64(h.V1.Values)
		switch h.Kind {
		case pageData:
		case pageDataV2:
			values = int64(h.V2.Values)
		case pageDictionary:
			if err := p.dictionary(&h); err != nil {
				return skipped, false, err
			}
			continue
		default:
			p.at += int64(h.Packed)
			continue
		}
		if values > p.left {
			return skipped, false, errors.New("its pages have more values than its row group")
		}
		p.left -= values
		if values > maxSkipped {
			p.inPage = int(values)
			return skipped, true, p.begin(&h)
		}
		p.at += int64(h.Packed)
		maxSkipped -= values
		skipped += values
	}
	return skipped, false, nil
}

func (p *pages) dictionary(h *header) error {
	if h.Dictionary.Encoding != encodingPlain &&
		h.Dictionary.Encoding != encodingOldIndices {
		return fmt.Errorf("the encoding of its dictionary, number %d, is unknown", h.Dictionary.Encoding)
	}
	memory := &p.body
	if p.decoder.isText {
		memory = &p.decoder.dict.data
	}
	if err := p.load(h, 0, p.codec, memory); err != nil {
		return err
	}
	return p.decoder.setDictionary(int(h.Dictionary.Values), *memory)
}

func (p *pages) begin(h *header) error {
	if h.Kind == pageDataV2 {
		codec := p.codec
		if h.V2.Compressed != nil && !*h.V2.Compressed && !p.packed {
			codec = codecNone
		}
		first := int(h.V2.Repetitions) // the repetition levels of a column that is not nested are zero
		end := first + int(h.V2.Levels)
		if err := p.load(h, end, codec, &p.body); err != nil {
			return err
		}
		p.levels = hybrid{b: p.body[first:end], width: 1}
		return p.decoder.begin(h.V2.Encoding, p.body[end:])
	}
	if err := p.load(h, 0, p.codec, &p.body); err != nil {
		return err
	}
	data := p.body
	if p.optional {
		if h.V1.Levels != encodingRuns {
			return fmt.Errorf("the encoding of its levels, number %d, is unknown", h.V1.Levels)
		}
		levels, err := textAt(data) // with its length before it, like a text
		if err != nil {
			return err
		}
		p.levels = hybrid{b: levels, width: 1}
		data = data[4+len(levels):]
	}
	return p.decoder.begin(h.V1.Encoding, data)
}

// levelsOf decodes the definition levels of the next n rows, which are 0 for null and 1 for a value. values is the
// number of ones. If the levels are one run of ones, or the column has no levels, levels is nil.
func (p *pages) levelsOf(n int) (levels []uint32, values int, err error) {
	if !p.optional {
		return nil, n, nil
	}
	run, err := p.levels.run()
	if err != nil {
		return nil, 0, err
	}
	if run >= n && p.levels.packed == nil && p.levels.value == 1 {
		p.levels.left -= n
		return nil, n, nil
	}
	levels = p.shared.levels[:n]
	if err := p.levels.next(levels); err != nil {
		return nil, 0, err
	}
	for _, level := range levels {
		values += int(level)
	}
	return levels, values, nil
}

// skip skips rows. It does not read a page whose rows are all skipped.
func (p *pages) skip(rows int64, s *scratch) error {
	p.shared = s
	for rows > 0 {
		if p.inPage == 0 {
			skipped, ok, err := p.advance(rows)
			rows -= skipped
			if err != nil || !ok {
				return err
			}
			continue
		}
		n := int(min(rows, int64(p.inPage), rowsPerTile))
		_, values, err := p.levelsOf(n)
		if err != nil {
			return err
		}
		if !p.decoder.isText {
			err = p.decoder.numbers(p.shared.numbers[:values], p.shared.indices[:])
		}
		for ; p.decoder.isText && values > 0 && err == nil; values-- {
			_, err = p.decoder.text()
		}
		if err != nil {
			return err
		}
		p.inPage -= n
		rows -= int64(n)
	}
	return nil
}

// read reads the values of up to len(dst) rows, and returns the number of rows read. len(dst) is at most
// rowsPerTile. It stops at the end of the column, at an error, or at a null if missing is false; null is then true.
func (p *pages) read(
	dst []float64,
	missing bool,
	text func([]byte) (float64, error),
	s *scratch,
) (rows int, null bool, err error) {
	p.shared = s
	for rows < len(dst) {
		if p.inPage == 0 {
			if _, ok, err := p.advance(0); err != nil || !ok {
				return rows, false, err
			}
		}
		n := min(p.inPage, len(dst)-rows)
		levels, values, err := p.levelsOf(n)
		if err != nil {
			return rows, false, err
		}
		null = values < n && !missing
		if null {
			n = slices.Index(levels, 0)
			values = n
		}
		part := dst[rows : rows+n]
		if !p.decoder.isText {
			if err := p.decoder.numbers(part[:values], p.shared.indices[:]); err != nil {
				return rows, false, err
			}
			if values < n {
				spread(part, levels, values)
			}
		}
		for i := 0; p.decoder.isText && i < n; i++ {
			part[i] = math.NaN()
			if levels != nil && levels[i] == 0 {
				continue
			}
			value, err := p.decoder.text()
			if err == nil {
				part[i], err = text(value)
			}
			if err != nil {
				return rows + i, false, err
			}
		}
		rows += n
		if null {
			return rows, true, nil
		}
		p.inPage -= n
	}
	return rows, false, nil
}

// spread moves the values, which stand at the start of dst, to the rows that are not null. Null rows become NaN.
func spread(dst []float64, levels []uint32, values int) {
	for i := len(dst) - 1; i >= 0; i-- {
		if levels[i] == 0 {
			dst[i] = math.NaN()
			continue
		}
		values--
		dst[i] = dst[values]
	}
}

func grown(memory *[]byte, n int) []byte {
	if cap(*memory) < n {
		*memory = make([]byte, n)
	}
	*memory = (*memory)[:n]
	return *memory
}

// scratch is the working memory of one goroutine.
type scratch struct {
	tile    [columns.Tile * rowsPerTile]float64
	packed  []byte // a header, or a page before decompression
	levels  [rowsPerTile]uint32
	indices [rowsPerTile]uint32
	numbers [rowsPerTile]float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}
