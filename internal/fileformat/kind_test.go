package fileformat

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/internal/wire"
)

// TestOf: files are told by how they begin, and tables of rows are none of the kinds.
func TestOf(t *testing.T) {
	message := func(kind wire.Kind) string {
		return string(binary.LittleEndian.AppendUint32(append([]byte(Magic), 1, 0, 0, 0), uint32(kind)))
	}
	member := func(name string) string {
		head := make([]byte, 30)
		copy(head, "PK\x03\x04")
		binary.LittleEndian.PutUint16(head[26:], uint16(len(name)))
		return string(head) + name
	}
	for head, want := range map[string]Kind{
		message(wire.Summary):         Sketch,
		message(wire.Lanes):           Sketch,
		message(wire.Window):          Sketch,
		message(wire.Fading):          Sketch,
		message(wire.Sketch):          State,
		message(wire.Checkpoint):      Checkpoint,
		message(wire.Pass):            Checkpoint,
		Magic:                         State,
		"{\n \"fdridge_model\": 2,\n": Model,
		"\ufeff{\"columns\":[\"a\"],\n\"fdridge_model\":1": Model,
		"{\"n\":3,\"method\":\"cg\"":                       Report,
		"{ \"a\" : 1}":                                     JSON,
		"{}":                                               JSON,
		"<!DOCTYPE html>\n<html>":                          Page,
		"<svg xmlns=":                                      Picture,
		"\x89PNG\r\n\x1a\n":                                Picture,
		"":                                                 Unknown,
		"{":                                                Unknown,
		"{a},{b}\n1,2\n":                                   Unknown,
		"a,b\n1,2\n":                                       Unknown,
		"\x93NUMPY":                                        Unknown,
		"PAR1":                                             Unknown,

		"<?xml version=\"1.0\"?>\n<Error><Code>":     XML,
		"<?xml version=\"1.0\"?>\n<svg ":             Picture,
		"[{\"a\":1}]":                                JSONArray,
		"[[1,2]]":                                    JSONArray,
		"\x89HDF\r\n\x1a\n":                          HDF5,
		"MATLAB 5.0 MAT-file, Platform":              Matlab,
		"SQLite format 3\x00":                        SQLite,
		"version https://git-lfs.github.com/spec/v1": LFS,
		"%%MatrixMarket matrix":                      MatrixMarket,
		"% by x\n\n@RELATION iris\n":                 ARFF,
		"Obj\x01\x04":                                Avro,
		"ORC\x00":                                    ORC,
		"ORC,b\n1,2\n":                               Unknown,
		"\x80\x04\x95":                               Pickle,
		"%PDF-1.7":                                   PDF,
		member("[Content_Types].xml"):                Excel,
		member("x.npy"):                              Unknown,
		member("a/b.csv"):                            Archive,
		member(strings.Repeat("x", 9000)):            Unknown,
		member("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"): OpenDocument,
	} {
		if got := Of([]byte(head)); got != want {
			t.Errorf("%q is %v, want %v", head, got, want)
		}
	}
}
