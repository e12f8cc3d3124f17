package batch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/ridge"
)

// A state is the state of a job. A checkpoint stores it in the following format, with lengths in bytes on the left:
//
//	8    length of the header, little-endian
//	…    the header, JSON
//	…    the summary, a message of package ridge, if there is one
//	…    the state of each pass of the solver, as recorded by a ridge.Journal
type state struct {
	header header
	sum    *ridge.Summary
	passes []*io.SectionReader // in memory, or in the last state written
	last   *safefile.State     // the last state written, nil if there is none
}

// version is the version of the format.
const version = 1

// A header is the JSON header of a checkpoint.
type header struct {
	Version  int              `json:"version,omitempty"`
	Run      []Setting        `json:"run"`
	At       Position         `json:"at"`
	Scaling  *dataset.Scaling `json:"scaling,omitempty"`
	Nonzeros nonzeros         `json:"nonzeros"`
	Sketched bool             `json:"sketched"`       // the summary holds the rows of all ranks
	Rows     int64            `json:"rows,omitempty"` // number of rows of this rank, if there are several ranks
	Summary  int64            `json:"summary"`        // length in bytes
	Passes   []int64          `json:"passes"`         // lengths in bytes
}

// empty reports whether there is nothing to resume from.
func (r *header) empty() bool {
	return r.Scaling == nil &&
		r.Summary == 0 &&
		len(r.Passes) == 0
}

// maxHeader is the largest length of a header in bytes. It limits the memory that read allocates for a damaged
// file.
const maxHeader = 1 << 30

// read reads the header and the summary from s.last, the last state written.
func (s *state) read(be engine.Backend) error {
	var size int64
	if err := binary.Read(s.last, binary.LittleEndian, &size); err != nil {
		return err
	}
	if size < 0 || size > min(maxHeader, s.last.Size()-8) {
		return fmt.Errorf("has an impossible header of %d bytes", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(s.last, text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &s.header); err != nil {
		return fmt.Errorf("has a header that cannot be read: %w", jsonfields.Explain(err))
	}
	if v := s.header.Version; v != version {
		return fmt.Errorf(
			"is a checkpoint of version %d, but this program reads version %d: resume with the program that wrote it",
			v,
			version,
		)
	}
	at := 8 + size
	if n := s.header.Summary; n > 0 {
		var err error
		s.sum, err = ridge.ReadSummary(io.NewSectionReader(s.last, at, n), be)
		if err != nil {
			return err
		}
		at += n
	}
	return s.place(at)
}

// place sets s.passes to the states of the solver's passes. In the file, these states begin at offset.
func (s *state) place(offset int64) error {
	s.passes = s.passes[:0]
	for _, n := range s.header.Passes {
		if n < 0 || n > s.last.Size()-offset {
			return fmt.Errorf("has a pass of %d bytes, which is impossible", n)
		}
		s.passes = append(s.passes, io.NewSectionReader(s.last, offset, n))
		offset += n
	}
	if offset != s.last.Size() {
		return fmt.Errorf("has %d bytes, but its header requires %d", s.last.Size(), offset)
	}
	return nil
}

// save writes the state, which becomes the last state.
func (s *state) save(file *safefile.Checkpoint) error {
	s.header.Summary, s.header.Passes = 0, nil
	if s.sum != nil {
		s.header.Summary = s.sum.BinarySize()
	}
	size := int64(0)
	for _, p := range s.passes {
		s.header.Passes = append(s.header.Passes, p.Size())
		size += p.Size()
	}
	text, err := json.Marshal(&s.header)
	if err != nil {
		return err
	}
	passes := 8 + int64(len(text)) + s.header.Summary
	written, err := file.Save(passes+size, func(w io.Writer) error {
		return s.write(w, text)
	})
	if err != nil {
		return err
	}
	closed := s.close()
	s.last = written
	return errors.Join(closed, s.place(passes))
}

func (s *state) write(w io.Writer, text []byte) error {
	if err := binary.Write(w, binary.LittleEndian, int64(len(text))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if s.sum != nil {
		if _, err := s.sum.WriteTo(w); err != nil {
			return err
		}
	}
	for _, p := range s.passes {
		if _, err := io.Copy(w, io.NewSectionReader(p, 0, p.Size())); err != nil {
			return err
		}
	}
	return nil
}

// close closes the file of the last state.
func (s *state) close() error {
	if s.last == nil {
		return nil
	}
	return s.last.Close()
}
