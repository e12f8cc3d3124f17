package engine

import (
	"fmt"
	"sync"

	"github.com/fdridge/fdridge/engine/purego"
)

var _ Backend = (*purego.Backend)(nil)

// A constructor makes a backend; the build tags choose which there are.
type constructor struct {
	name string
	make func(Tuning) (Backend, error)
}

var pureGo = constructor{"purego", func(t Tuning) (Backend, error) { return newPureGo(t) }}

func newPureGo(t Tuning) (*purego.Backend, error) {
	return purego.New(purego.Config{Kernel: t.ISA, MC: t.MC.Value, KC: t.KC.Value, NC: t.NC.Value})
}

// Names lists the backends of this build, the default first: "purego" always,
// "openblas" before it with that build tag.
func Names() []string {
	names := make([]string, len(built))
	for i, c := range built {
		names[i] = c.name
	}
	return names
}

// New makes the backend of the given name, tuned by t.
func New(name string, t Tuning) (Backend, error) {
	for _, c := range built {
		if c.name == name {
			be, err := c.make(t)
			if err != nil {
				return nil, err // not be, which may hold a nil pointer
			}
			return be, nil
		}
	}
	return nil, fmt.Errorf("engine: no backend %q in this build, which has %v", name, Names())
}

// Default returns the backend that the build tags chose, with [DefaultTuning].
// It is made once; the error is that of a wrong environment variable or of a
// backend that cannot run on this machine.
var Default = sync.OnceValues(func() (Backend, error) {
	t, err := DefaultTuning()
	if err != nil {
		return nil, err
	}
	return New(built[0].name, t)
})
