// Package fileformat recognises the kind of a file from its first bytes. It knows the files of fdridge, and the
// pictures and web pages that users mistake for tables. It also writes arrays of float64 in the .npy format of NumPy.
package fileformat

import (
	"bytes"
	"encoding/binary"
	"regexp"

	"github.com/fdridge/fdridge/internal/wire"
)

// A Kind is the kind of a file. Unknown includes all files that may be tables.
type Kind int

const (
	Unknown Kind = iota
	Sketch
	Checkpoint
	State // another binary file of fdridge
	Model
	Report // written by fit --json or solve --json
	JSON
	Page
	Picture
	XML
	JSONArray
	Excel
	OldExcel
	OpenDocument
	Archive
	HDF5
	Matlab
	SQLite
	LFS
	MatrixMarket
	ARFF
	Avro
	ORC
	Pickle
	Stata
	SPSS
	PDF
)

// kinds holds the name of each kind of file, and advice on how to use such a file.
var kinds = [...]struct{ name, use string }{
	Sketch:     {"a sketch", "fdridge solve fits from it"},
	Checkpoint: {"a checkpoint", "run the command that wrote it once more, to go on"},
	State:      {"a part of a sketch, without targets", ""},
	Model:      {"a model", "fdridge predict --model predicts from it"},
	Report:     {"a report", "fdridge plot draws it"},
	JSON:       {"a JSON object", ""},
	Page:       {"a page of HTML", "a browser shows it"},
	Picture:    {"a picture", ""},

	XML: {"XML, perhaps the error page of a server", "download the table again, and look at the first lines"},
	JSONArray: {
		"a JSON array",
		"jq -r '(.[0]|keys_unsorted) as $k | $k, (.[]|[.[$k[]]]) | @csv' FILE > rows.csv writes csv",
	},
	Excel: {
		"an Excel workbook",
		"save it as csv, or python -c \"import pandas; pandas.read_excel('FILE').to_csv('rows.csv', index=False)\"",
	},
	OldExcel:     {"an old Excel workbook or another Office file", "save it as csv"},
	OpenDocument: {"an OpenDocument file", "save it as csv, or soffice --convert-to csv FILE"},
	Archive:      {"a zip archive without arrays", "unzip it, and name the file inside"},
	HDF5: {
		"HDF5",
		"python -c \"import h5py, numpy; numpy.save('x.npy', h5py.File('FILE')['NAME'][:])\" writes npy",
	},
	Matlab: {
		"a MATLAB file",
		"python -c \"import scipy.io, numpy; numpy.save('x.npy', scipy.io.loadmat('FILE')['NAME'])\" writes npy",
	},
	SQLite: {"an SQLite database", "sqlite3 -header -csv FILE 'select * from TABLE' > rows.csv writes csv"},
	LFS:    {"a pointer of Git LFS, not the file itself", "git lfs pull brings the file"},
	MatrixMarket: {
		"MatrixMarket",
		"python -c \"import scipy.io, scipy.sparse as s; s.save_npz('x.npz', " +
			"s.csr_matrix(scipy.io.mmread('FILE')))\" writes npz",
	},
	ARFF: {
		"ARFF",
		"python -c \"import scipy.io.arff as a, pandas; " +
			"pandas.DataFrame(a.loadarff('FILE')[0]).to_csv('rows.csv', index=False)\" writes csv",
	},
	Avro: {
		"Avro",
		"python -c \"import fastavro, pandas; " +
			"pandas.DataFrame(fastavro.reader(open('FILE','rb'))).to_parquet('rows.parquet')\" writes Parquet",
	},
	ORC: {
		"ORC",
		"python -c \"import pandas; pandas.read_orc('FILE').to_parquet('rows.parquet')\" writes Parquet",
	},
	Pickle: {"a Python pickle", "load it in Python, and write it by to_parquet or numpy.save"},
	Stata: {
		"a Stata file",
		"python -c \"import pandas; pandas.read_stata('FILE').to_parquet('rows.parquet')\" writes Parquet",
	},
	SPSS: {
		"an SPSS file",
		"python -c \"import pandas; pandas.read_spss('FILE').to_parquet('rows.parquet')\" writes Parquet",
	},
	PDF: {"a PDF document", ""},
}

// magics maps the first bytes of a file to its kind. Only some kinds of files always begin with the same bytes.
var magics = []struct {
	text string
	kind Kind
}{
	{"\x89HDF\r\n\x1a\n", HDF5},
	{"MATLAB 5.0 MAT-file", Matlab}, {"MATLAB 7.3 MAT-file", HDF5}, {"SQLite format 3\x00", SQLite},
	{
		"version https://git-lfs.github.com/spec/",
		LFS,
	},
	{"%%MatrixMarket", MatrixMarket}, {"Obj\x01", Avro}, {"ORC", ORC},
	{"\x80\x02", Pickle},
	{"\x80\x03", Pickle}, {"\x80\x04\x95", Pickle}, {"\x80\x05\x95", Pickle}, {"<stata_dta>", Stata},
	{"$FL2", SPSS}, {"%PDF-", PDF},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OldExcel},
}

// relation matches the beginning of an ARFF file. After comments and blanks, the first statement of such a file
// begins with @relation.
var relation = regexp.MustCompile(`(?i)^(\s*%[^\n]*\n|\s+)*@relation\b`)

// ofZip returns the kind of a zip archive, given its first bytes. It mainly examines the name of the archive's
// first member.
func ofZip(head []byte) Kind {
	const nameAt = 30 // offset of the name of a member
	if len(head) < nameAt {
		return Unknown
	}
	size := int(binary.LittleEndian.Uint16(head[nameAt-4:]))
	name := head[nameAt:min(nameAt+size, len(head))]
	switch {
	case nameAt+size > len(head), bytes.HasSuffix(name, []byte(".npy")) || bytes.Contains(head, []byte(ModelMember)):
		return Unknown
	case bytes.Contains(head, []byte("opendocument")):
		return OpenDocument
	}
	for _, start := range []string{"[Content_Types]", "xl/", "_rels/", "docProps/"} { // the first files of a workbook
		if bytes.HasPrefix(name, []byte(start)) {
			return Excel
		}
	}
	return Archive
}

// String returns the name of the kind with its article, such as "a sketch". It returns "" for Unknown.
func (k Kind) String() string { return kinds[k].name }

// Use returns advice on how to use a file of this kind, or "" if there is no advice.
func (k Kind) Use() string { return kinds[k].use }

// Magic holds the bytes with which every binary file of fdridge begins.
var Magic = wire.Magic()

// ModelMember is the name of the first member of a .npz archive that contains a model.
const ModelMember = "fdridge_model.json"

// Head is the number of bytes that [Of] examines.
const Head = 4096

var (
	jsonObject = regexp.MustCompile(`^\{\s*(\}|"([^"\\]|\\.)*"\s*:)`)
	jsonArray  = regexp.MustCompile(`^\[\s*(\{\s*("|\})|\[)`)
	modelKey   = regexp.MustCompile(`(?s)^\{\s*(.*[,{]\s*)?"fdridge_model"\s*:`)
	reportKey  = regexp.MustCompile(`"(method|fits|trace)"\s*:`)
)

// Of returns the kind of a file. head holds the first [Head] bytes of the file, or the whole file if it is shorter.
func Of(head []byte) Kind {
	head = head[:min(len(head), Head)]
	if bytes.HasPrefix(head, []byte(Magic)) {
		return ofMessage(head)
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) && bytes.Contains(head, []byte(ModelMember)) {
		return Model
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return ofZip(head)
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.text)) &&
			(m.kind != ORC || bytes.IndexByte(head, 0) >= 0 || len(head) == len(m.text)) {
			return m.kind
		}
	}
	if relation.Match(head) {
		return ARFF
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch start := bytes.ToLower(text[:min(len(text), 16)]); {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n")),
		bytes.HasPrefix(start, []byte("<svg")),
		bytes.HasPrefix(start, []byte("<?xml")) && bytes.Contains(text, []byte("<svg")):
		return Picture
	case bytes.HasPrefix(start, []byte("<?xml")), bytes.HasPrefix(start, []byte("<error>")):
		return XML
	case jsonArray.Match(text):
		return JSONArray
	case bytes.HasPrefix(start, []byte("<!doctype html")), bytes.HasPrefix(start, []byte("<html")):
		return Page
	case modelKey.Match(text):
		return Model
	case !jsonObject.Match(text):
		return Unknown
	case reportKey.Match(text):
		return Report
	}
	return JSON
}

// ofMessage returns the kind of a binary file of fdridge, given its first bytes.
func ofMessage(head []byte) Kind {
	const at = 12 // offset of the kind in a message, see package wire
	if len(head) < at+4 {
		return State
	}
	kind := wire.Kind(binary.LittleEndian.Uint32(head[at:]))
	switch {
	case kind.IsSummary():
		return Sketch
	case kind == wire.Checkpoint, kind == wire.Pass:
		return Checkpoint
	}
	return State
}
