package file

import (
	"os"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/proportion"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// A part is a portion of a file. The part of a text file is the bytes from lo to hi−1. Other formats such as .npy
// find rows by number. There the part is the rows from the fraction lo/size to the fraction hi/size of all rows.
type part struct {
	path         string
	number       int // number of the file, from 1
	lo, hi, size int64
	stamp        dataset.Stamp // zero if the file did not exist
}

// check returns an error if the file has changed since it was divided into parts. The stream s was opened
// afterwards.
func (p part) check(s *dataset.Stream) error {
	name, _ := SplitArray(p.path)
	return p.stamp.Check(name, s.Stamp)
}

func (p part) whole() bool {
	return p.lo == 0 && p.hi == p.size
}

// bytes returns the range of bytes that the part has of a text file. It is the zero value for a whole file.
func (p part) bytes() dataset.Range {
	if p.whole() {
		return dataset.Range{}
	}
	return dataset.Range{Lo: p.lo, Hi: p.hi}
}

// rows returns the rows of src that belong to the part, from the fraction lo/size to the fraction hi/size of all
// rows.
func (p part) rows(src dataset.Source) (dataset.Source, error) {
	if p.whole() {
		return src, nil
	}
	n, _, _ := src.Dims()
	if n < 0 {
		return nil, &dataset.InputError{
			File: p.path,
			Msg:  "is compressed, so its rows cannot be divided; decompress it",
		}
	}
	first := proportion.Of(n, p.lo, p.size)
	end := proportion.Of(n, p.hi, p.size)
	return dataset.Cut(src, first, end)
}

// parts returns the parts of the files that belong to opts.Share, in the order of the files:
//   - If there are at least as many files as shares, the parts are whole files.
//   - Otherwise each share has an equal range of the bytes of all files. The parts cover the range of opts.Share.
//   - Compressed text is not divided. It belongs to the share whose range has its middle byte.
//   - A share without rows gets an empty part of the first file, because this file has the column names.
func parts(paths []string, opts Options) ([]part, error) {
	if opts.Pipe != nil {
		return []part{{path: paths[0], number: 1}}, nil
	}
	all, total := sizes(paths, opts.Was)
	if opts.Share.Whole() {
		return all, nil
	}
	var mine []part
	var err error
	if len(paths) >= opts.Share.Size {
		mine = group(all, total, opts.Share)
	} else if mine, err = split(all, total, opts); err != nil {
		return nil, err
	}
	if mine == nil {
		first := all[0]
		first.lo = first.size
		mine = append(mine, first)
	}
	return mine, nil
}

// sizes returns for each file a part that is the whole file. It also returns the total number of bytes.
func sizes(paths []string, stamps map[string]dataset.Stamp) (all []part, total int64) {
	for i, path := range paths {
		name, _ := SplitArray(path)
		stamp, seen := stamps[name]
		if info, err := os.Stat(name); err == nil && !seen { // if Stat fails, opening the file reports the error later
			stamp = dataset.StampOf(info)
		}
		all = append(all, part{path, i + 1, 0, stamp.Size, stamp.Size, stamp})
		total += stamp.Size
	}
	return all, total
}

// group returns the files that belong to share s, if shares consist of whole files. A file belongs to the share
// whose range of bytes has its middle byte. A share that would then have no file gets a file of its neighbour.
func group(all []part, total int64, s dataset.Share) []part {
	var mine []part
	at := int64(0)
	rank := -1
	for i, p := range all {
		middle := int(proportion.Of(int64(s.Size), at+p.size/2, max(total, 1)))
		rank = min(max(middle, rank, s.Size-(len(all)-i)), rank+1, s.Size-1)
		if rank == s.Rank {
			mine = append(mine, p)
		}
		at += p.size
	}
	return mine
}

// split returns the parts of the files that lie in the share's range of bytes.
func split(all []part, total int64, opts Options) ([]part, error) {
	var mine []part
	lo, hi := opts.Share.Of(total)
	at := int64(0)
	for _, p := range all {
		from, to := max(lo-at, 0), min(hi-at, p.size)
		if from < to && to-from < p.size {
			whole, err := isUndivided(p.path, opts)
			if err != nil {
				return nil, err
			}
			if middle := p.size / 2; whole && from <= middle && middle < to {
				from, to = 0, p.size
			} else if whole {
				to = from
			}
		}
		// An empty file must belong to exactly one share, because the reader of this share reports the error.
		empty := p.size == 0 && lo <= at && (at < hi || hi == total)
		p.lo, p.hi = from, to
		if from < to || empty {
			mine = append(mine, p)
		}
		at += p.size
	}
	return mine, nil
}

// isUndivided reports whether a file cannot be divided, because it is compressed text or UTF-16 text.
func isUndivided(path string, opts Options) (bool, error) {
	format, err := Format(path, opts)
	if err != nil || Numbered(format) {
		return false, err
	}
	f, err := rawfile.Open(path)
	if err != nil {
		return false, err
	}
	return f.Packed() != "", f.Close()
}
