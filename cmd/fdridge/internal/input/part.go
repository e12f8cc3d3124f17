package input

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// partFlag is --part I/N, which selects part I of N parts of the rows. Each task of a job array reads one part.
type partFlag struct {
	text  string
	Given bool
	Share dataset.Share
}

// RegisterPart adds --part.
func (o *partFlag) RegisterPart(f *pflag.FlagSet) {
	f.StringVar(&o.text, "part", "", "use only part I of N of the rows, with I from 0 to N-1")
}

// check parses --part I/N. I = N has an error message of its own, because users may count parts from 1.
func (o *partFlag) check() error {
	if o.text == "" {
		return nil
	}
	index, count, ok := strings.Cut(o.text, "/")
	i, err1 := strconv.ParseUint(index, 10, 64)
	n, err2 := strconv.ParseUint(count, 10, 64)
	switch {
	case !ok || err1 != nil || err2 != nil || n < 1 || n > math.MaxInt32:
		return cli.BadInput("--part: %q must be I/N, part I of N, with 0 <= I < N < 2³¹", excerpt.Of(o.text))
	case i >= n:
		return cli.BadInput(
			"--part: there is no part %d of %d: parts are counted from 0 to %d; if the array counts from 1, subtract 1",
			i,
			n,
			n-1,
		)
	}
	o.Given, o.Share = true, dataset.Share{Rank: int(i), Size: int(n)}
	return nil
}

// StampsOf returns the sizes and times of files by name.
func StampsOf(files []batch.File) map[string]dataset.Stamp {
	out := map[string]dataset.Stamp{}
	for _, f := range files {
		out[f.Name] = f.Stamp
	}
	return out
}
