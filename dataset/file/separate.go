package file

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// separate describes files that are joined row by row. The files x have the features; other files have the targets
// or the weights.
type separate struct {
	o       *Opened
	opts    Options // of the features, without the targets and the share
	x       []string
	targets string   // file of the targets, or ""
	weights []string // files of the weights, or nil
	// headers maps a file to whether it has a header. A file is in the map only if a comparison of the numbers of
	// rows has decided this.
	headers map[string]csv.Header
	// counts maps whole files to their numbers of rows. Only files that were counted are in the map.
	counts map[string]int64
	// isScanned is true if the text of the features was read to count its rows.
	isScanned bool
}

// others returns the separate files.
func (s *separate) others() []string {
	if s.targets == "" {
		return s.weights
	}
	return append([]string{s.targets}, s.weights...)
}

// newSeparate returns the description of the separate files of targets and weights. It returns nil if opts names no
// such files. The argument ownTarget is true if the target is a separate file.
func (o *Opened) newSeparate(paths []string, opts Options, ownTarget bool) *separate {
	s := &separate{
		o:       o,
		opts:    opts,
		x:       paths,
		weights: opts.Weights,
		headers: map[string]csv.Header{},
		counts:  map[string]int64{},
	}
	if ownTarget {
		s.targets = opts.Target[0]
	}
	if s.targets == "" && s.weights == nil {
		return nil
	}
	s.opts.Share, s.opts.Weights, s.opts.Alone = dataset.Share{}, nil, false
	if ownTarget || opts.Transposed {
		s.opts.Target, s.opts.Targets = nil, 0
	}
	return s
}

// textOptions returns the options for reading a separate file with targets or weights; see [SeparateOptions].
func (s *separate) textOptions(path string, holds prepare.Separate) (Options, error) {
	of, err := SeparateOptions(path, s.opts)
	if err != nil {
		return of, err
	}
	of.Cells = s.opts.Cells.ForSeparate(holds)
	if h, ok := s.headers[path]; ok {
		of.Header = h
	}
	return of, nil
}

// SeparateOptions returns the options for reading a separate file, for example of targets. The options opts are for
// the file of the features. Their settings for text also apply to the separate file, if its format has such
// settings. Exception: if the features are transposed, Header does not apply, because their header has the names of
// samples. Errors are as in [Format].
func SeparateOptions(path string, opts Options) (Options, error) {
	of := Options{Origin: Origin{Was: opts.Was, Heads: opts.Heads, Context: opts.Context}}
	name, err := Format(path, of)
	f := formatByName(name)
	if f.texts {
		of.Text = opts.Text
	}
	if err != nil || !f.fields {
		return of, err
	}
	of.Delimiter, of.Skipped = opts.Delimiter, opts.Skipped
	if !opts.Transposed {
		of.Header = opts.Header
	}
	return of, nil
}

// format returns the format of a separate file.
func (s *separate) format(path string) (format, error) {
	name, err := Format(path, Options{Origin: Origin{Heads: s.opts.Heads}})
	return formatByName(name), err
}

// featureOptions returns the options for reading the features. They are inner, but without settings for text if the
// features are not text and a separate file is. In this case the settings are meant for the separate file.
func (s *separate) featureOptions(inner Options) (Options, error) {
	name, err := Format(s.x[0], inner)
	if err != nil {
		return inner, err
	}
	f := formatByName(name)
	if h, ok := s.headers[s.x[0]]; ok {
		inner.Header = h
	}
	for _, path := range s.others() {
		of, err := s.format(path)
		if err != nil {
			return inner, err
		}
		if of.fields && !f.fields {
			inner.Delimiter = 0
			inner.Header = csv.Auto
			inner.Skipped = csv.Skipped{}
		}
		if of.texts && !f.texts {
			inner.Text.Marks = nil
		}
	}
	return inner, nil
}

// open opens a separate file with targets or weights. It returns the rows of the file and the names of its columns.
func (s *separate) open(path string, holds prepare.Separate) (dataset.Source, []string, error) {
	of, err := s.textOptions(path, holds)
	if err != nil {
		return nil, nil, err
	}
	f, err := s.format(path)
	if err != nil {
		return nil, nil, err
	}
	if f.labelled {
		return nil, nil, &dataset.InputError{File: path, Msg: "targets cannot come from a " + f.name + " file"}
	}
	name, _ := SplitArray(path)
	var own Opened // its notation of numbers is not the notation of the features
	src, _, err := own.openPart(part{path: path, stamp: s.opts.Was[name]}, of)
	if err != nil {
		return nil, nil, err
	}
	s.o.streams, s.o.remarks = append(s.o.streams, own.streams...), append(s.o.remarks, own.remarks...)
	names, _, err := f.names(path, of)
	return src, names, err
}

// join returns the rows of x with the targets and weights from the separate files. Row i of a separate file belongs
// to row i of x. A target or weight that is missing, and may be missing by opts.Cells, is NaN.
func (s *separate) join(x dataset.Source) (dataset.Source, error) {
	from := errtext.List(s.x, 5)
	if s.targets != "" {
		y, names, err := s.open(s.targets, prepare.SeparateTargets)
		if err != nil {
			return nil, err
		}
		s.o.TargetNames = names
		x, err = dataset.ZipNamed(x, y, from, errtext.Excerpt(s.targets))
		if err != nil {
			return nil, err
		}
	}
	if s.weights == nil {
		return x, nil
	}
	var all []dataset.Source
	for _, path := range s.weights {
		w, _, err := s.open(path, prepare.SeparateWeights)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	w, err := dataset.Concat(all...)
	if err != nil {
		return nil, err
	}
	return dataset.WeighNamed(x, w, from, errtext.List(s.weights, 5))
}

// joinShare returns the rows of the share opts.Share, with the targets and weights from the separate files. If
// byNumber is true, x has all rows. Otherwise x has only the rows of the share. They come from text files, and
// files lists the parts of these text files.
func (s *separate) joinShare(
	x dataset.Source,
	files []part,
	opts Options,
	byNumber bool,
) (dataset.Source, error) {
	isDivided := !opts.Share.Whole() && !byNumber
	var at place
	var err error
	switch {
	case isDivided:
		at, err = s.place(x, files, opts)
		if err != nil {
			return nil, err
		}
		x = &placed{x, at}
	case opts.Transposed && opts.IsPart:
		if err := s.compareTransposed(x); err != nil {
			return nil, err
		}
	}
	x, err = s.join(x)
	if err != nil {
		return nil, err
	}
	if s.isScanned {
		s.o.Scans++
	}
	if isDivided {
		return dataset.Cut(x, at.first, at.first+at.rows)
	}
	return dataset.Part(x, opts.Share)
}

// compareTransposed returns an error if the targets, or the weights, have another number of rows than x. The source
// x has the transposed features.
func (s *separate) compareTransposed(x dataset.Source) error {
	nx, _, _ := x.Dims()
	for _, of := range s.groups() {
		n, err := s.countAll(of)
		if err != nil {
			return err
		}
		if n != nx {
			return s.rowCountError(of, nx, n)
		}
	}
	return nil
}

// A place states which rows the share has: the number of its first row among the rows of all files, and how many
// rows.
type place struct{ first, rows int64 }

// place returns which of all rows the source x has. The rows of x are a share, and the argument files lists the
// parts of files that have these rows. To find the number of the first row, place calls opts.FirstRow, or counts
// the rows before it. It returns an error if a separate file does not have as many rows as the features.
func (s *separate) place(x dataset.Source, files []part, opts Options) (place, error) {
	var at place
	var err error
	at.rows, _, _ = x.Dims()
	if at.rows < 0 {
		at.rows, err = s.count(files)
		if err != nil {
			return at, err
		}
	}
	if opts.FirstRow != nil {
		at.first, err = opts.FirstRow(at.rows)
	} else {
		at.first, err = s.countBefore(opts)
	}
	if err != nil {
		return at, err
	}
	end := at.first + at.rows
	isLast := opts.Share.Rank == opts.Share.Size-1
	for _, of := range s.groups() {
		n, err := s.countAll(of)
		if err != nil {
			return at, err
		}
		if end <= n && !(isLast && end < n) {
			continue
		}
		if !isLast {
			end, err = s.countAll(s.x)
			if err != nil {
				return at, err
			}
		}
		return at, s.rowCountError(of, end, n)
	}
	return at, nil
}

// groups returns the lists of separate files: one list has the file of the targets, the other all files of the
// weights. The rows of each list, taken together, belong to the rows of the features.
func (s *separate) groups() [][]string {
	var out [][]string
	if s.targets != "" {
		out = append(out, []string{s.targets})
	}
	if s.weights != nil {
		out = append(out, s.weights)
	}
	return out
}

func (s *separate) rowCountError(of []string, nx, n int64) *dataset.RowCountError {
	what := "weights"
	if s.targets != "" && of[0] == s.targets {
		what = "targets"
	}
	return &dataset.RowCountError{
		What:        what,
		Features:    nx,
		Others:      n,
		FeatureName: errtext.List(s.x, 5),
		OthersName:  errtext.List(of, 5),
	}
}

// countBefore returns the number of rows in all shares that precede opts.Share.
func (s *separate) countBefore(opts Options) (int64, error) {
	var before int64
	for rank := range opts.Share.Rank {
		of := s.opts
		of.Share = dataset.Share{Rank: rank, Size: opts.Share.Size}
		files, err := parts(s.x, of)
		if err != nil {
			return 0, err
		}
		n, err := s.count(files)
		if err != nil {
			return 0, err
		}
		before += n
	}
	return before, nil
}

// countAll returns the number of rows of whole files.
func (s *separate) countAll(paths []string) (int64, error) {
	var all int64
	files, _ := sizes(paths, s.opts.Was)
	for _, p := range files {
		n, ok := s.counts[p.path]
		if !ok {
			var err error
			n, err = s.count([]part{p})
			if err != nil {
				return 0, err
			}
			s.counts[p.path] = n
		}
		all += n
	}
	return all, nil
}

// count returns the total number of rows in the given parts of files.
func (s *separate) count(files []part) (int64, error) {
	var all int64
	for _, p := range files {
		n, err := s.countPart(p)
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}

func (s *separate) countPart(p part) (int64, error) {
	if p.lo == p.hi && p.size > 0 {
		return 0, nil
	}
	isFeatures := p.number > 0 && p.path == s.x[p.number-1]
	of, err := s.textOptions(p.path, prepare.SeparateTargets)
	if isFeatures {
		of, err = s.featureOptions(s.opts)
	}
	if err != nil {
		return 0, err
	}
	name, err := Format(p.path, of)
	if err != nil {
		return 0, err
	}
	f := formatByName(name)
	s.isScanned = s.isScanned || isFeatures && !f.numbered
	if f.fields {
		text := csvOptions(of)
		text.Range = p.bytes()
		return csv.Count(p.path, text)
	}
	// Count the rows without an error for invalid cells, because the pass over the rows reports them in order.
	if !f.numbered && !f.labelled {
		of.Cells = &prepare.Cells{Look: true}
		of.Target = nil
		of.Targets = 0
		of.Columns = nil
	}
	var own Opened
	src, _, err := own.openPart(p, of)
	if err != nil {
		return 0, err
	}
	return dataset.CountRows(cmp.Or(of.Context, context.Background()), src)
}

// settleHeaders decides for each text file whether its first line is a header. If this is undecided, it counts the
// rows of the features and of each separate file, and compares the numbers. If only some rows will be read, it also
// counts them if a first line is not certainly a header.
func (s *separate) settleHeaders(pipe *dataset.Pipe, isPart bool) error {
	if s.opts.Transposed || pipe != nil && !isPart {
		return nil
	}
	guesses := map[string]csv.Guess{}
	isOpen := isPart && len(s.opts.Skip) > 0
	for _, path := range append(s.others(), s.x[0]) {
		of, err := s.textOptions(path, prepare.NotSeparate)
		if path == s.x[0] {
			of = s.opts
			if pipe != nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		name, err := Format(path, of)
		if err != nil {
			return err
		}
		if !formatByName(name).fields {
			continue
		}
		g, err := csv.GuessHeader(path, csvOptions(of))
		if err != nil {
			return err
		}
		if pipe != nil && g.Evidence == csv.Undecided && s.opts.Header == csv.Auto {
			return &dataset.InputError{
				File: path,
				Line: 1,
				Msg: fmt.Sprintf(
					"the first line (%s) may be a row or the names of the columns, and the rows of a pipe cannot be counted",
					g.First,
				),
				Hint: "choose by --header no or --header yes",
			}
		}
		isForced := s.opts.Header != csv.Auto && (s.opts.Header == csv.Present) != g.Header
		isOpen = isOpen ||
			g.Evidence == csv.Undecided && s.opts.Header == csv.Auto ||
			isPart && (g.Evidence != csv.Certain || isForced)
		guesses[path] = g
	}
	if !isOpen || pipe != nil {
		return nil
	}
	nx, err := s.countAll(s.x)
	if err != nil {
		return err
	}
	for _, of := range s.groups() {
		n, err := s.countAll(of)
		if err != nil {
			return err
		}
		x, other := errtext.List(s.x, 5), errtext.List(of, 5)
		switch {
		case n == nx || len(of) == 1 && s.turn(of[0], guesses, nx-n, x):
		case len(s.x) == 1 && s.turn(s.x[0], guesses, n-nx, other):
			return s.settleHeaders(pipe, isPart) // compare the other files again
		default:
			failed := s.rowCountError(of, nx, n)
			failed.Hint = hintAtHeader(of, guesses, nx-n)
			if failed.Hint == "" {
				failed.Hint = hintAtHeader(s.x, guesses, n-nx)
			}
			return failed
		}
	}
	return nil
}

// turn changes whether the first line of the file path is read as a header. If path lacks one row (change is 1),
// turn makes the header a row. If path has one row too many (change is −1), it makes the first row the header. Then
// path has as many rows as the file other, and turn returns true.
//
// In all other cases turn changes nothing and returns false. This includes a first line that is certainly a row or
// certainly a header.
func (s *separate) turn(path string, guesses map[string]csv.Guess, change int64, other string) bool {
	g, ok := guesses[path]
	_, isSettled := s.headers[path]
	if !ok ||
		isSettled ||
		g.Evidence != csv.Undecided ||
		s.opts.Header != csv.Auto ||
		len(s.opts.Skip) > 0 {
		return false
	}
	what := "a row"
	switch {
	case g.Header && change == 1:
		s.headers[path] = csv.Absent
	case !g.Header && change == -1:
		s.headers[path] = csv.Present
		what = "the names of the columns"
	default:
		return false
	}
	s.counts[path] += change
	r := dataset.Remark{
		File: path,
		Line: 1,
		Msg: fmt.Sprintf(
			"the first line (%s) is read as %s, because %s has as many rows then (--header yes or no overrides this)",
			g.First,
			what,
			other,
		),
	}
	s.o.remarks = append(s.o.remarks, r)
	return true
}

// hintAtHeader returns a hint to use the option --header, if this would give a file the right number of rows. The
// list paths must have a single file. The file either lacks one row (change is 1) because its first line is read as
// a header. Or it has one row too many (change is −1) because its first line is read as a row. In other cases
// hintAtHeader returns "".
func hintAtHeader(paths []string, guesses map[string]csv.Guess, change int64) string {
	g, ok := guesses[paths[0]]
	switch name := errtext.Excerpt(paths[0]); {
	case !ok || len(paths) > 1 || g.Evidence == csv.Certain:
	case g.Header && change == 1:
		return fmt.Sprintf("if the first line of %s (%s) is a row, use --header no", name, g.First)
	case !g.Header && change == -1:
		return fmt.Sprintf("if the first line of %s (%s) has names, use --header yes", name, g.First)
	}
	return ""
}

// A placed source has the rows of x, which are some of the rows of all files. It numbers them as in all files: its
// first row has the number at.first.
type placed struct {
	dataset.Source
	at place
}

// Dims implements [dataset.Source]. The number of rows is -1, because the number of rows of all files is unknown.
func (p *placed) Dims() (n int64, d, t int) {
	_, d, t = p.Source.Dims()
	return -1, d, t
}

// Blocks implements [dataset.Source].
func (p *placed) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return p.BlocksFrom(ctx, 0)
}

// BlocksFrom implements [dataset.Seeker].
func (p *placed) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for b, err := range dataset.From(ctx, p.Source, max(firstRow-p.at.first, 0)) {
			b.First += p.at.first
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}
