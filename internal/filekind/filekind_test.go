package filekind

import (
	"encoding/binary"
	"testing"

	"github.com/fdridge/fdridge/internal/wire"
)

// TestOf: files are told by how they begin, and tables of rows are none of the kinds.
func TestOf(t *testing.T) {
	message := func(kind wire.Kind) string {
		return string(binary.LittleEndian.AppendUint32(append([]byte(Magic), 1, 0, 0, 0), uint32(kind)))
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
	} {
		if got := Of([]byte(head)); got != want {
			t.Errorf("%q is %v, want %v", head, got, want)
		}
	}
}
