package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/errtext"
)

// OpenMember returns a source of the rows of an array in a .npz archive. The argument member is the name of the
// array in np.savez. If member is empty, OpenMember reads the first of these that exists: the array x, the array X,
// the sparse matrix that scipy.sparse.save_npz wrote, the only array. Checksums are verified, except if rows are
// skipped or the array is in Fortran order.
func OpenMember(name, member string, opts Options) (*dataset.Stream, error) {
	if member == "" {
		names, err := Members(name)
		if err == nil && hasSparse(names) {
			return openSparse(name, opts)
		}
		if err == nil {
			member, err = memberOfFeatures(name, names)
		}
		if err != nil {
			return nil, err
		}
	}
	open := func(was dataset.Stamp) (*input, error) {
		return openMember(name, member, was)
	}
	return source(open, open, opts)
}

// Members returns the names of the arrays of a .npz archive. Errors are *[dataset.InputError].
func Members(name string) ([]string, error) {
	f, z, err := openArchive(name, dataset.Stamp{})
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading, so an error of Close does no harm
	return members(z), nil
}

func members(z *zip.Reader) []string {
	var names []string
	for _, f := range z.File {
		if n, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			names = append(names, n)
		}
	}
	return names
}

// hasSparse reports whether the features are a sparse matrix.
func hasSparse(names []string) bool {
	return isSparse(names) &&
		!slices.Contains(names, "x") &&
		!slices.Contains(names, "X")
}

// memberOfFeatures returns the name of the array that holds the features: x, X or the only array. names are the
// arrays of the archive.
func memberOfFeatures(name string, names []string) (string, error) {
	switch {
	case slices.Contains(names, "x"):
		return "x", nil
	case slices.Contains(names, "X"):
		return "X", nil
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", &dataset.InputError{File: name, Msg: "holds no arrays"}
	}
	return "", &dataset.InputError{
		File: name,
		Msg: fmt.Sprintf(
			"holds the arrays %s; select one, as in %s:%s", joinNames(names), name, errtext.Excerpt(names[0]),
		),
	}
}

// joinNames joins the names by commas. If there are more than 12 names, it joins the first 12 and adds "…".
func joinNames(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(errtext.Excerpts(names[:most]), ", ") + ", …"
	}
	return strings.Join(errtext.Excerpts(names), ", ")
}

func openArchive(name string, was dataset.Stamp) (*rawfile.File, *zip.Reader, error) {
	f, err := rawfile.Reopen(name, was)
	if err != nil {
		return nil, nil, err
	}
	file := f.At()
	if file == nil {
		f.Close() // nothing was read
		return nil, nil, &dataset.InputError{
			File: name,
			Msg:  "is a " + f.Packed() + " stream, not a .npz archive",
		}
	}
	z, err := zip.NewReader(file, f.Plain)
	if err != nil {
		f.Close() // err is more informative than an error of Close
		return nil, nil, &dataset.InputError{File: name, Msg: "is not a readable .npz archive", Err: err}
	}
	seen := map[string]bool{}
	for _, m := range z.File {
		if seen[m.Name] {
			f.Close() // only the directory of the archive was read
			return nil, nil, &dataset.InputError{
				File: name,
				Msg:  fmt.Sprintf("has two members called %q: the choice is ambiguous", errtext.Excerpt(m.Name)),
			}
		}
		seen[m.Name] = true
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	return f, z, nil
}

func openMember(name, member string, was dataset.Stamp) (*input, error) {
	return openMemberAs(name, member, was, describe)
}

// openMemberAs opens an array of an archive. The function describe checks the header of the array and converts it.
func openMemberAs(
	name, member string,
	was dataset.Stamp,
	describe func(description) (header, error),
) (*input, error) {
	f, z, err := openArchive(name, was)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(z.File, func(f *zip.File) bool {
		return f.Name == member+".npy"
	})
	if i < 0 {
		f.Close() // only the directory of the archive was read
		return nil, &dataset.InputError{
			File: name,
			Msg:  fmt.Sprintf("has no array %q; it holds %s", errtext.Excerpt(member), joinNames(members(z))),
		}
	}
	in := &input{
		name:      name + ":" + member,
		stamp:     f.Stamp(),
		unchanged: f.Unchanged,
	}
	in.wrap = func(err error, row int) error {
		return wrapMember(in.name, err, row)
	}
	entry, err := in.openEntry(z.File[i], f)
	if err != nil {
		f.Close()          // err is more informative than an error of Close
		if err == io.EOF { // the member lies beyond the end of the archive
			err = io.ErrUnexpectedEOF
		}
		return nil, in.wrap(err, 0)
	}
	in.data = entry
	in.close = func() error {
		return errors.Join(entry.Close(), f.Close())
	}
	return in.begin(int64(z.File[i].UncompressedSize64), describe)
}

// openEntry opens an array of an archive. If the array is not compressed, it sets in.at, which reads at any
// position.
func (in *input) openEntry(m *zip.File, f *rawfile.File) (io.ReadCloser, error) {
	const encrypted = 1
	if m.Flags&encrypted != 0 {
		return nil, errors.New("it is encrypted")
	}
	if m.Method == zip.Store {
		start, err := m.DataOffset()
		if err != nil {
			return nil, err
		}
		entries := io.NewSectionReader(f.At(), start, int64(m.UncompressedSize64))
		in.at, in.want = entries, m.CRC32
		return io.NopCloser(entries), nil
	}
	return m.Open()
}

// wrapMember converts an error of reading the given row to an *[dataset.InputError]. It returns io.EOF unchanged.
func wrapMember(name string, err error, row int) error {
	var known *dataset.InputError
	if err == nil || err == io.EOF || errors.As(err, &known) {
		return err
	}
	return &dataset.InputError{
		File: name,
		Line: row,
		Msg:  "the archive cannot be read",
		Err:  err,
	}
}
