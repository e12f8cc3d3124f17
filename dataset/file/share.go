package file

import (
	"fmt"
	"os"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/proportion"
)

// A part is what is read of one file of a list: as much as bytes lo to hi, excluded, of all
// its size bytes.
type part struct {
	path         string
	number       int // from 1
	lo, hi, size int64
	stamp        dataset.Stamp // none where the file was not there
}

// check refuses a stream of the file if the file has changed since it was divided.
func (p part) check(s *dataset.Stream) error {
	name, _ := SplitArray(p.path)
	return p.stamp.Check(name, s.Stamp)
}

func (p part) whole() bool { return p.lo == 0 && p.hi == p.size }

// bytes is the part as a reader of text takes it.
func (p part) bytes() dataset.Range {
	if p.whole() {
		return dataset.Range{}
	}
	return dataset.Range{Lo: p.lo, Hi: p.hi}
}

// rows returns the part of the rows of src: as many of them, rounded down, as bytes.
func (p part) rows(src dataset.Source) (dataset.Source, error) {
	if p.whole() {
		return src, nil
	}
	n, _, _ := src.Dims()
	if n < 0 {
		return nil, &dataset.InputError{File: p.path, Msg: "is compressed, so its rows are not known by number, to be divided; unpack it"}
	}
	return dataset.Cut(src, proportion.Of(n, p.lo, p.size), proportion.Of(n, p.hi, p.size))
}

// parts returns what a share reads of the files, in their order. Where there are as many
// files as shares, or more, it is whole files; otherwise it is the share of all bytes.
// Compressed text is not divided: it goes to the share that has its middle. A share that
// has nothing gets an empty part of the first file, to have its columns.
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

// sizes returns all of every file, by the stamp it was seen to have before or else has now,
// and the size of all.
func sizes(paths []string, was map[string]dataset.Stamp) (all []part, total int64) {
	for i, path := range paths {
		name, _ := SplitArray(path)
		stamp, seen := was[name]
		if info, err := os.Stat(name); err == nil && !seen { // otherwise it is said when the file is opened
			stamp = dataset.StampOf(info)
		}
		all = append(all, part{path, i + 1, 0, stamp.Size, stamp.Size, stamp})
		total += stamp.Size
	}
	return all, total
}

// group returns the files of a share: those whose middles lie in the share of all bytes.
// Files are moved to a neighbouring share where otherwise one would have none.
func group(all []part, total int64, s dataset.Share) []part {
	var mine []part
	at, rank := int64(0), -1
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

// split returns the part of each file that lies in the share of all bytes.
func split(all []part, total int64, opts Options) ([]part, error) {
	var mine []part
	lo, hi := opts.Share.Of(total)
	at := int64(0)
	for _, p := range all {
		from, to := max(lo-at, 0), min(hi-at, p.size)
		if from < to && to-from < p.size {
			whole, err := undivided(p.path, opts)
			if err != nil {
				return nil, err
			}
			if middle := p.size / 2; whole && from <= middle && middle < to {
				from, to = 0, p.size
			} else if whole {
				to = from
			}
		}
		// Some share has to open an empty file, to report that it is empty.
		empty := p.size == 0 && lo <= at && (at < hi || hi == total)
		if p.lo, p.hi = from, to; from < to || empty {
			mine = append(mine, p)
		}
		at += p.size
	}
	return mine, nil
}

// undivided reports whether a file can only be read from its start.
func undivided(path string, opts Options) (bool, error) {
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

// divideRows keeps a share of the rows, where features and targets are in different files.
func (o *Opened) divideRows(path string, s dataset.Share) error {
	if s.Whole() {
		return nil
	}
	if !Numbered(o.Format) {
		return &dataset.InputError{File: path, Msg: fmt.Sprintf("is %s, of which no rows can be found by number, to read them beside those of another file; take npy, npz, Parquet or Arrow, or put targets and weights into the same file", o.Format)}
	}
	var err error
	o.Source, err = dataset.Part(o.Source, s)
	return err
}
