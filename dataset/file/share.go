package file

import (
	"os"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/proportion"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// A part is a portion of a file. From a text file it has the bytes lo to hi−1. From a file whose rows are found by
// number, such as .npy, it has the rows in the fraction lo/size to hi/size.
type part struct {
	path         string
	number       int // number of the file, from 1
	lo, hi, size int64
	stamp        dataset.Stamp // zero if the file did not exist
}

// check checks that the file is unchanged since it was divided.
func (p part) check(s *dataset.Stream) error {
	name, _ := SplitArray(p.path)
	return p.stamp.Check(name, s.Stamp)
}

func (p part) whole() bool {
	return p.lo == 0 && p.hi == p.size
}

// bytes returns the part as a range for a text reader.
func (p part) bytes() dataset.Range {
	if p.whole() {
		return dataset.Range{}
	}
	return dataset.Range{Lo: p.lo, Hi: p.hi}
}

// rows returns the rows in the fraction lo/size to hi/size of src.
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

// parts returns the parts of the files that belong to opts.Share, in order:
//   - If there are at least as many files as shares, the parts are whole files.
//   - Otherwise the parts cover the share's range of the bytes of all files.
//   - Compressed text is not divided. It belongs to the share that has its middle byte.
//   - A share without rows gets an empty part of the first file, which has the column names.
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

// sizes returns each file as a whole part, and the total size.
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

// group returns the whole files that share s reads. Each file belongs to the share that contains its middle byte. If a
// share would have no file, it gets a neighbour's file.
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

// split divides each file at the ends of the share's bytes.
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
		// An empty file belongs to exactly one share, whose reader reports an error.
		empty := p.size == 0 && lo <= at && (at < hi || hi == total)
		p.lo, p.hi = from, to
		if from < to || empty {
			mine = append(mine, p)
		}
		at += p.size
	}
	return mine, nil
}

// isUndivided reports whether a file can only be read from its start.
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
