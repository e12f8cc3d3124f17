package ridge

import (
	"crypto/sha256"

	"github.com/fdridge/fdridge/fd"
)

// A SpectrumCache stores the spectrum of one sketch. Summaries of the same rows with different targets have equal
// sketches, so that they can share one spectrum. The zero value is an empty cache. Only one goroutine may use it at
// a time.
type SpectrumCache struct {
	hash [sha256.Size]byte // hash of the binary form of the sketch
	spec *fd.Spectrum
}

// Share gives s the stored spectrum if the sketch of s equals, byte for byte, the sketch of the stored spectrum.
// Otherwise Share computes the spectrum of s and stores it. All summaries must have the same backend. Errors are
// the errors of [Summary.Spectrum].
func (c *SpectrumCache) Share(s *Summary) error {
	if !s.isValid() {
		return errZeroValue
	}
	all, err := s.all()
	if err != nil {
		return err
	}
	h := sha256.New()
	if _, err := all.Sketch.WriteTo(h); err != nil {
		return err
	}
	hash := [sha256.Size]byte(h.Sum(nil))
	if c.spec != nil && hash == c.hash {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spec = c.spec
		return nil
	}
	c.hash = hash
	c.spec, err = s.spectrum()
	return err
}
