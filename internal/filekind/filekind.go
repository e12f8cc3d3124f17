// Package filekind recognises the files that are no tables of rows by how they begin: those of
// fdridge, and pictures and pages, which are easily taken for them.
package filekind

import (
	"bytes"
	"encoding/binary"
	"regexp"

	"github.com/fdridge/fdridge/internal/wire"
)

// A Kind is what a file holds. The zero Kind is unknown: it may be a table.
type Kind int

const (
	Unknown Kind = iota
	Sketch
	Checkpoint
	State // another message of this program
	Model
	Report // of fit --json or solve --json
	JSON
	Page
	Picture
)

// kinds are the names of kinds, and what can be done with a file of the kind.
var kinds = [...]struct{ name, use string }{
	Sketch:     {"a sketch", "fdridge solve fits from it"},
	Checkpoint: {"a checkpoint", "run the command that wrote it once more, to go on"},
	State:      {"a part of a sketch, without targets", ""},
	Model:      {"a model", "fdridge predict --model predicts from it"},
	Report:     {"a report", "fdridge plot draws it"},
	JSON:       {"a JSON object", ""},
	Page:       {"a page of HTML", "a browser shows it"},
	Picture:    {"a picture", ""},
}

// String is the name of the kind with its article, "" for Unknown.
func (k Kind) String() string { return kinds[k].name }

// Use says what can be done with a file of the kind, "" for nothing.
func (k Kind) Use() string { return kinds[k].use }

// Magic is how all binary files of fdridge begin.
var Magic = wire.Magic()

// Head is how many bytes of a file [Of] asks for.
const Head = 4096

var (
	jsonObject = regexp.MustCompile(`^\{\s*(\}|"([^"\\]|\\.)*"\s*:)`)
	modelKey   = regexp.MustCompile(`(?s)^\{\s*(.*[,{]\s*)?"fdridge_model"\s*:`)
	reportKey  = regexp.MustCompile(`"(method|fits|trace)"\s*:`)
)

// Of recognises a file by its first bytes, Head of them or all that there are.
func Of(head []byte) Kind {
	head = head[:min(len(head), Head)]
	if bytes.HasPrefix(head, []byte(Magic)) {
		return ofMessage(head)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch start := bytes.ToLower(text[:min(len(text), 16)]); {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n")), bytes.HasPrefix(start, []byte("<svg")), bytes.HasPrefix(start, []byte("<?xml")):
		return Picture
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

// ofMessage is Of a binary file of fdridge.
func ofMessage(head []byte) Kind {
	const at = 12 // see package wire
	if len(head) < at+4 {
		return State
	}
	switch wire.Kind(binary.LittleEndian.Uint32(head[at:])) {
	case wire.Summary, wire.Lanes, wire.Window, wire.Fading:
		return Sketch
	case wire.Checkpoint, wire.Pass:
		return Checkpoint
	}
	return State
}
