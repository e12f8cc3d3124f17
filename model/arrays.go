package model

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/fileformat"
	"github.com/fdridge/fdridge/ridge"
)

// headerName is the name of the archive member that contains the model as JSON, without the numbers that are in
// arrays.
const headerName = fileformat.ModelMember

// An array is a member of the .npz archive of a model: a matrix with a row for each penalty γ and target.
type array struct {
	name    string
	columns int // number of columns; 0: the number of coefficients
	// at returns the row of the array for the fit w and target j. r is the record of the certificates of w.
	at func(w *Fit, r *Record, j int) []float64
	// set stores the row for w and target j.
	set func(w *Fit, r *Record, j int, v []float64)
}

// number returns an array with a single column. The function at returns a pointer to the number in a row.
func number(name string, at func(w *Fit, r *Record, j int) *float64) array {
	return array{
		name, 1, func(w *Fit, r *Record, j int) []float64 {
			return []float64{*at(w, r, j)}
		},
		func(w *Fit, r *Record, j int, v []float64) {
			*at(w, r, j) = v[0]
		},
	}
}

// bracket returns an array with two columns: the lower and the upper ends of intervals. The function at returns a
// pointer to the interval in a row.
func bracket(name string, at func(w *Fit, r *Record, j int) *ridge.Interval) array {
	return array{
		name, 2, func(w *Fit, r *Record, j int) []float64 {
			v := at(w, r, j)
			return []float64{v.Lo, v.Hi}
		},
		func(w *Fit, r *Record, j int, v []float64) {
			*at(w, r, j) = ridge.Interval{Lo: v[0], Hi: v[1]}
		},
	}
}

// arrays are the arrays of a model. The last two are written only if [Fit].Fitted has coefficients.
var arrays = []array{
	{
		"coef",
		0,
		func(w *Fit, _ *Record, j int) []float64 { return w.Coef[j] },
		func(w *Fit, _ *Record, j int, v []float64) { w.Coef[j] = v },
	},
	number("intercept", func(w *Fit, _ *Record, j int) *float64 {
		return &w.Intercept[j]
	}),
	number("gamma", func(w *Fit, _ *Record, j int) *float64 {
		return &w.Gammas[j]
	}),
	number("tss", func(w *Fit, _ *Record, j int) *float64 { return &w.TSS[j] }),
	number("error_bound", func(_ *Fit, r *Record, j int) *float64 {
		return &r.Certificates[j].ErrorBound
	}),
	number(
		"relative_error_bound",
		func(_ *Fit, r *Record, j int) *float64 {
			return &r.Certificates[j].RelativeErrorBound
		},
	),
	number("energy_bound", func(_ *Fit, r *Record, j int) *float64 {
		return &r.Certificates[j].EnergyBound
	}),
	number("intercept_bound", func(_ *Fit, r *Record, j int) *float64 {
		return &r.Certificates[j].InterceptBound
	}),
	bracket("objective", func(_ *Fit, r *Record, j int) *ridge.Interval {
		return &r.Certificates[j].Objective
	}),
	bracket("rss", func(_ *Fit, r *Record, j int) *ridge.Interval {
		return &r.Certificates[j].RSS
	}),
	bracket("gcv", func(_ *Fit, r *Record, j int) *ridge.Interval {
		return &r.Certificates[j].GCV
	}),
	bracket("r2_bracket", func(_ *Fit, r *Record, j int) *ridge.Interval {
		return &r.R2Bracket[j]
	}),
	number("fitted_intercept", func(w *Fit, _ *Record, j int) *float64 {
		return &w.Fitted.Intercept[j]
	}),
	{
		"fitted_coef",
		0,
		func(w *Fit, _ *Record, j int) []float64 { return w.Fitted.Coef[j] },
		func(w *Fit, _ *Record, j int, v []float64) { w.Fitted.Coef[j] = v },
	},
}

// coefArrays are further arrays of a model. They are written only if the records have the bounds in them.
var coefArrays = []array{
	number("coef_error_bound", func(_ *Fit, r *Record, j int) *float64 {
		return (*float64)(&r.CoefError[j])
	}),
	number(
		"coef_relative_error_bound",
		func(_ *Fit, r *Record, j int) *float64 {
			return (*float64)(&r.CoefRelative[j])
		},
	),
}

// arraysOf returns the arrays of a model. If fitted is true, it includes the coefficients of scaled columns. If
// bounded is true, it includes bounds on the errors of the coefficients in the units of the file.
func arraysOf(fitted, bounded bool) []array {
	out := arrays[:len(arrays)-2]
	if fitted {
		out = arrays
	}
	if bounded {
		out = slices.Concat(out, coefArrays)
	}
	return out
}

// WriteArrays writes the model as a .npz archive, which is compact for many targets. [Read] reads the archive.
// Every array has a row for each γ and target, ordered by γ; see docs/model.md. The errors are the errors of
// [Model.Write]. If a certificate of the model cannot be read, the error is a *[CertificateError].
func (m *Model) WriteArrays(w io.Writer) error {
	if err := m.checkFits(); err != nil {
		return err
	}
	head := *m
	t := len(m.Fits[0].Coef)
	head.Fits = nil
	fits := slices.Clone(m.Fits)
	records := make([]*Record, len(m.Fits))
	fitted := m.Folded != nil && m.Fits[0].Fitted != nil
	bounded := true
	for i := range fits {
		f := &fits[i]
		if _, err := f.Certificates(); err != nil {
			return err
		}
		r, err := f.Certificate.Record()
		if err != nil {
			return err
		}
		if len(r.R2Bracket) == 0 { // the record does not have it
			unknown := PerTarget[ridge.Interval]{{
				Lo: math.Inf(-1),
				Hi: math.Inf(1),
			}}
			r.R2Bracket = slices.Repeat(unknown, t)
		}
		records[i] = r
		if m.Folded != nil && (f.Fitted != nil) != fitted {
			return fmt.Errorf("%w: only some fits have fitted coefficients", errShape)
		}
		bounded = bounded && len(r.CoefError) == t && len(r.CoefRelative) == t
		short := *r
		short.CoefError, short.CoefRelative = nil, nil
		short.Gammas = nil
		short.Certificates = nil
		short.R2 = PerTarget[Number]{}
		short.R2Bracket = PerTarget[ridge.Interval]{}
		one := Fit{
			Gamma:             f.Gamma,
			Coef:              PerTarget[[]float64]{},
			Intercept:         PerTarget[float64]{},
			UnpenalizedBounds: f.UnpenalizedBounds,
			Coverage:          f.Coverage,
			Certificate:       Certificate{record: &short},
		}
		if f.Fitted != nil {
			one.Fitted = &Fitted{}
		}
		head.Fits = append(head.Fits, one)
		f.Gammas = make([]float64, t)
		f.TSS = orNaN(f.TSS, t)
		for j := range t {
			f.Gammas[j] = m.Fits[i].GammaOf(j)
		}
	}
	z := zip.NewWriter(w)
	text, err := z.CreateHeader(&zip.FileHeader{Name: headerName, Method: zip.Store}) // see openArchive
	if err == nil {
		err = head.encode(text)
	}
	for _, a := range arraysOf(fitted, bounded) {
		if err != nil {
			return err
		}
		var to io.Writer
		to, err = z.CreateHeader(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		cols := a.columns
		if cols == 0 {
			cols = len(a.at(&fits[0], records[0], 0))
		}
		err = fileformat.WriteNPY(
			to,
			len(fits)*t,
			cols,
			func(row int) []float64 {
				return a.at(&fits[row/t], records[row/t], row%t)
			},
		)
	}
	if err != nil {
		return err
	}
	return z.Close()
}

// orNaN returns values if it has t elements, otherwise a list of t times NaN.
func orNaN(values []float64, t int) []float64 {
	if len(values) == t {
		return values
	}
	return slices.Repeat([]float64{math.NaN()}, t)
}

// isArchive reports whether text begins like a file that [Model.WriteArrays] writes.
func isArchive(text []byte) bool {
	return bytes.HasPrefix(text, []byte("PK\x03\x04"))
}

// An archive is the .npz archive of a model.
type archive struct{ *zip.Reader }

func openArchive(file []byte) (*archive, []byte, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil, fmt.Errorf("the archive cannot be read: %w", err)
	}
	f, err := z.Open(headerName)
	if err != nil {
		return nil, nil, fmt.Errorf("an archive without %s is no model", headerName)
	}
	defer f.Close() // only read
	// The limit stops a compressed file that would expand enormously. JSON written by WriteArrays is not
	// compressed, so it is within the limit.
	text, err := io.ReadAll(io.LimitReader(f, int64(len(file))))
	if err != nil {
		return nil, nil, fmt.Errorf("member %s: %w", headerName, err)
	}
	return &archive{z}, text, nil
}

// fill reads the arrays of the archive and stores their numbers in the fits.
func (z *archive) fill(fits []Fit) error {
	has := func(name string) bool {
		return slices.ContainsFunc(z.File, func(f *zip.File) bool {
			return f.Name == name+".npy"
		})
	}
	fitted, bounded := has("fitted_coef"), has("coef_error_bound")
	t := 0
	records := make([]*Record, len(fits))
	for _, a := range arraysOf(fitted, bounded) {
		rows, cols, data, err := z.read(a.name)
		if err != nil {
			return err
		}
		if a.name == "coef" {
			t = rows / len(fits)
			if t < 1 || rows%len(fits) != 0 {
				return fmt.Errorf("coef has %d rows for %d gammas", rows, len(fits))
			}
			for i := range fits {
				records[i], err = allocate(&fits[i], t, fitted, bounded)
				if err != nil {
					return err
				}
			}
		}
		if rows != t*len(fits) || a.columns != 0 && cols != a.columns {
			return fmt.Errorf("array %s is %d×%d for %d gammas and %d targets", a.name, rows, cols, len(fits), t)
		}
		for row := range rows {
			a.set(
				&fits[row/t],
				records[row/t],
				row%t,
				data[row*cols:(row+1)*cols:(row+1)*cols],
			)
		}
	}
	for i := range fits {
		f := &fits[i]
		r := records[i]
		for j := range t {
			r.R2[j] = Number(r.R2Bracket[j].Mid())
		}
		if slices.ContainsFunc(f.TSS, math.IsNaN) {
			f.TSS = nil
		}
		if !slices.ContainsFunc(f.Gammas, func(g float64) bool { return g != f.Gamma }) {
			f.Gammas = nil
		}
		r.Gammas = slices.Clone(f.Gammas)
		f.Certificate = Certificate{record: r}
	}
	return nil
}

// allocate makes the slices of f for t targets.
func allocate(f *Fit, t int, fitted, bounded bool) (*Record, error) {
	r, err := f.Certificate.Record()
	if err != nil {
		return nil, err
	}
	r.counts = nil
	r.Certificates = make([]ridge.Certificate, t)
	r.R2 = make(PerTarget[Number], t)
	r.R2Bracket = make(PerTarget[ridge.Interval], t)
	for j := range r.Certificates {
		r.Certificates[j].TSS = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	f.Coef = make(PerTarget[[]float64], t)
	f.Intercept = make(PerTarget[float64], t)
	f.Gammas = make([]float64, t)
	f.TSS = make(PerTarget[float64], t)
	if bounded {
		r.CoefError = make(PerTarget[Number], t)
		r.CoefRelative = make(PerTarget[Number], t)
	}
	if fitted {
		f.Fitted = &Fitted{
			Coef:      make(PerTarget[[]float64], t),
			Intercept: make(PerTarget[float64], t),
		}
	}
	return r, nil
}

// read returns an array of float64.
func (z *archive) read(name string) (int, int, []float64, error) {
	f, err := z.Open(name + ".npy")
	if err != nil {
		return 0, 0, nil, fmt.Errorf("the model has no array %s", name)
	}
	defer f.Close() // only read
	raw, err := io.ReadAll(f)
	if err != nil {
		return 0, 0, nil, fmt.Errorf("array %s: %w", name, err)
	}
	rows, cols, data, ok := fileformat.ParseNPY(raw)
	if !ok {
		return 0, 0, nil, fmt.Errorf("array %s is not a whole matrix of float64 in C order", name)
	}
	return rows, cols, data, nil
}
