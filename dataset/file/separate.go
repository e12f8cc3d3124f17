package file

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/printable"
)

// separate describes files that are joined row by row: the features x, and files with targets or weights.
type separate struct {
	o       *Opened
	opts    Options // of the features, without the targets and the share
	x       []string
	targets string   // file of the targets, or ""
	weights []string // files of the weights, or nil
	// headers maps files to whether they have a header, if the comparison of the numbers of rows has decided this.
	headers map[string]csv.Header
	// counts are the numbers of rows of whole files, as far as they were counted.
	counts map[string]int64
	// isScanned is true if the text of the features was read to count rows.
	isScanned bool
}

// others returns the separate files.
func (s *separate) others() []string {
	if s.targets == "" {
		return s.weights
	}
	return append([]string{s.targets}, s.weights...)
}

// newSeparate returns the separate files that opts names, or nil if there are none.
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

// textOptions returns the options for reading a separate file; see [SeparateOptions].
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

// SeparateOptions returns the options for a separate file, such as a file of targets, beside the rows that opts
// describes. Options about text apply to the separate file, too, if its format has such options. Exception: Header does
// not apply if the features are transposed, because their header then names samples. Errors are as in [Format].
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

// featureOptions returns inner, the options for the features. If the features are not text but a separate file is, the
// options about text are meant for that file, and featureOptions removes them from the result.
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

// open opens a separate file and returns its rows and the names of its columns.
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

// join returns the rows of x with the separate targets and weights. Row i of each separate file belongs to row i of x.
// If opts.Cells allows a missing target or weight, its row has NaN there.
func (s *separate) join(x dataset.Source) (dataset.Source, error) {
	from := printable.List(s.x, 5)
	if s.targets != "" {
		y, names, err := s.open(s.targets, prepare.SeparateTargets)
		if err != nil {
			return nil, err
		}
		s.o.TargetNames = names
		x, err = dataset.ZipNamed(x, y, from, printable.Excerpt(s.targets))
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
	return dataset.WeighNamed(x, w, from, printable.List(s.weights, 5))
}

// joinShare joins the share of the rows that opts selects, like join. If byNumber is true, x has all rows. Otherwise x
// has only the rows of the share, which files locates in the text files.
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

// compareTransposed returns an error if a separate file has not as many rows as x, the transposed features.
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

// A place states which rows of all files the share has.
type place struct{ first, rows int64 }

// place returns the position of the rows of x, which are a share, in the whole. files locates these rows in the files.
// place counts them, and counts the rows before them unless opts.FirstRow returns that number. It returns an error if a
// separate file does not have the same number of rows as the features.
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

// groups returns the lists of separate files whose rows belong to the rows of x: the targets, and all files of weights.
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
		FeatureName: printable.List(s.x, 5),
		OthersName:  printable.List(of, 5),
	}
}

// countBefore returns the number of rows of all shares before opts.Share.
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

// count returns the number of rows of parts of files.
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
	// a pass that only counts accepts all cells; the pass over the rows reports invalid cells in order
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

// settleHeaders decides whether the first line of each text file is a header. It compares the number of rows of the
// features with the number in each separate file. Rows are counted if a first line may as well be a row. They are also
// counted if only some rows will be read and a first line is not certainly a header.
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
		x, other := printable.List(s.x, 5), printable.List(of, 5)
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

// turn reads the first line of the file path as a row instead of a header, if path lacks one row (change is 1). It
// reads the first line as a header instead of a row, if path has one row too many (change is −1). The file path then
// has as many rows as the file other. turn returns false and changes nothing if neither fits, or if it is not an open
// question whether the first line is a header.
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

// hintAtHeader returns a hint for a single file in paths that lacks the given number of rows, change. The hint names
// the option --header, if the file would have the right number of rows with its first line as a row, or as a header.
// Otherwise hintAtHeader returns "".
func hintAtHeader(paths []string, guesses map[string]csv.Guess, change int64) string {
	g, ok := guesses[paths[0]]
	switch name := printable.Excerpt(paths[0]); {
	case !ok || len(paths) > 1 || g.Evidence == csv.Certain:
	case g.Header && change == 1:
		return fmt.Sprintf("if the first line of %s (%s) is a row, use --header no", name, g.First)
	case !g.Header && change == -1:
		return fmt.Sprintf("if the first line of %s (%s) has names, use --header yes", name, g.First)
	}
	return ""
}

// A placed source has the rows of x, which are part of a whole, with the row numbers of the whole. The first has the
// number at.first.
type placed struct {
	dataset.Source
	at place
}

// Dims implements [dataset.Source]. The number of rows is -1, because the whole has an unknown number of rows.
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
