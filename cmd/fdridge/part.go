package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// partFlag says which part of the rows a command reads, where the tasks of a job array share them.
type partFlag struct {
	text  string
	given bool
	share dataset.Share
}

// registerPart adds --part; more is what the command does with it.
func (o *partFlag) registerPart(f *pflag.FlagSet, more string) {
	f.StringVar(&o.text, "part", "", "I/N: only part I of the N that the rows are divided into, I from 0 to N-1, as the index of a job array is: whole files where there are as many as parts, else rows of npy, npz, Parquet and Arrow or bytes of csv and svmlight; compressed text is not divided; "+more)
}

// check reads --part. A count in tasks from 1 is the likely mistake, so N/N is told apart.
func (o *partFlag) check() error {
	if o.text == "" {
		return nil
	}
	index, count, ok := strings.Cut(o.text, "/")
	i, err1 := strconv.ParseUint(index, 10, 64)
	n, err2 := strconv.ParseUint(count, 10, 64)
	switch {
	case !ok || err1 != nil || err2 != nil || n < 1 || n > math.MaxInt32:
		return badInput("--part: %q must be I/N, part I of N, with 0 <= I < N < 2³¹", excerpt.Of(o.text))
	case i >= n:
		return badInput("--part: there is no part %d of %d: they are counted from 0, to %d; where an array counts from 1, subtract it", i, n, n-1)
	}
	o.given, o.share = true, dataset.Share{Rank: int(i), Size: int(n)}
	return nil
}

// name is what reports call the rows.
func (o *inputFlags) name() string {
	if !o.part.given {
		return o.data.value
	}
	return fmt.Sprintf("%s, part %d of %d", o.data.value, o.part.share.Rank, o.part.share.Size)
}

// refuseBeside refuses what parts of rows cannot be had of.
func (o *inputFlags) refuseBeside() error {
	switch {
	case !o.part.given:
		return nil
	case o.piped():
		return badInput("--part: %s can be read once, by one process, which has no parts to take from; have what writes to it send each task its own rows", dataName(o.data.value))
	case o.transposed:
		return badInput("--part: files with a sample in each column are read by their rows, which have some of every sample; divide them, or leave out --transposed")
	}
	return nil
}

// checkPart refuses parts of svmlight rows whose width is not told: each part would find its own.
func (o *rowFlags) checkPart(share dataset.Share, opts file.Options) error {
	if share.Whole() || opts.Features > 0 {
		return nil
	}
	path := o.dataFiles()[0]
	format, err := file.Format(path, opts)
	if err != nil || !file.Labelled(format) {
		return err
	}
	return badInput("--part: %s is %s, whose rows do not say how many features those of other parts have: say --n-features", path, format)
}

// nameAsWhole gives a part of csv files, of which only some have a header, the names that all of
// the files together have: those of the first that has any.
func (o *rowFlags) nameAsWhole(opened *file.Opened, opts file.Options) error {
	if opts.Share.Whole() || opened.Format != "csv" || opened.Names != nil {
		return nil
	}
	opts.Share = dataset.Share{}
	for _, path := range o.dataFiles() {
		one, err := file.Open([]string{path}, opts)
		if err != nil {
			return err
		}
		if one.Names == nil {
			continue
		}
		if err := opened.Agrees(one.Layout); err != nil {
			return err
		}
		opened.Names, opened.TargetNames = one.Names, one.TargetNames
		return nil
	}
	return nil
}

// partsOf are those that a sketch with --part has, and the files as they were when they were told.
func (o *inputFlags) partsOf() ([]partSet, map[string]dataset.Stamp) {
	if !o.part.given {
		return nil, nil
	}
	files := batch.Files(o.rowFlags.files())
	var contents []string // by which copies are alike, whatever their names and times are
	for _, f := range files {
		if f.Digest != "" {
			contents = append(contents, fmt.Sprintf("%d %s", f.Stamp.Size, f.Digest))
		}
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %q %q %q %q %q %d",
		contents, o.target.value, o.weights.value, o.named(), o.format, o.delimiter, o.header, o.columns, o.rows, o.width))
	i := int64(o.part.share.Rank)
	return []partSet{{fmt.Sprintf("%x", key[:16]), int64(o.part.share.Size), []spans{{i, i}}}}, stampsOf(files)
}
