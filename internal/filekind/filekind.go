// Package filekind recognises the kind of a file from its first bytes. It knows the files of fdridge, and the
// pictures and web pages that users mistake for tables.
package filekind

import (
	"bytes"
	"encoding/binary"
	"regexp"

	"github.com/fdridge/fdridge/internal/wire"
)

// A Kind is the kind of a file. Unknown means that the file may be a table.
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
)

// kinds holds the name of each kind, and advice on how to use a file of this kind.
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

// String returns the name of the kind with its article, or "" for Unknown.
func (k Kind) String() string { return kinds[k].name }

// Use returns advice on how to use a file of the kind, or "".
func (k Kind) Use() string { return kinds[k].use }

// Magic is the first bytes of every binary file of fdridge.
var Magic = wire.Magic()

// ModelMember is the first member of a model in a .npz archive.
const ModelMember = "fdridge_model.json"

// Head is the number of bytes that [Of] examines.
const Head = 4096

var (
	jsonObject = regexp.MustCompile(`^\{\s*(\}|"([^"\\]|\\.)*"\s*:)`)
	modelKey   = regexp.MustCompile(`(?s)^\{\s*(.*[,{]\s*)?"fdridge_model"\s*:`)
	reportKey  = regexp.MustCompile(`"(method|fits|trace)"\s*:`)
)

// Of returns the kind of a file, given its first Head bytes, or all bytes of a shorter file.
func Of(head []byte) Kind {
	head = head[:min(len(head), Head)]
	if bytes.HasPrefix(head, []byte(Magic)) {
		return ofMessage(head)
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) && bytes.Contains(head, []byte(ModelMember)) {
		return Model
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

// ofMessage returns the kind of a binary file of fdridge.
func ofMessage(head []byte) Kind {
	const at = 12 // offset of the kind in a message, see package wire
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
