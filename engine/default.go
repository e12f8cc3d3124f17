package engine

import (
	"fmt"
	"sync"

	"github.com/fdridge/fdridge/engine/purego"
)

var _ Backend = (*purego.Backend)(nil)

// A constructor creates a backend of the given name. Build tags select the constructors of a program.
type constructor struct {
	name string
	make func(Tuning) (Backend, error)
}

var pureGo = constructor{"purego", func(t Tuning) (Backend, error) { return newPureGo(t) }}

func newPureGo(t Tuning) (*purego.Backend, error) {
	return purego.New(purego.Config{
		Kernel: t.ISA,
		MC:     t.MC.Value,
		KC:     t.KC.Value,
		NC:     t.NC.Value,
	})
}

// Names returns the names of the backends of this build, with the default backend first. With the build tag
// openblas, they are "openblas" and "purego", otherwise only "purego".
func Names() []string {
	names := make([]string, len(constructors))
	for i, c := range constructors {
		names[i] = c.name
	}
	return names
}

// New creates the backend with the given name and the tuning t.
func New(name string, t Tuning) (Backend, error) {
	for _, c := range constructors {
		if c.name == name {
			be, err := c.make(t)
			if err != nil {
				return nil, err // be may be a nil pointer in a non-nil interface
			}
			return be, nil
		}
	}
	return nil, fmt.Errorf("engine: no backend %q in this build, which has %v", name, Names())
}

// Default returns the backend that the build tags select, with the tuning of [DefaultTuning]. All calls return the
// same backend. An error means that an environment variable is invalid, or that the backend cannot run on this
// machine.
var Default = sync.OnceValues(func() (Backend, error) {
	t, err := DefaultTuning()
	if err != nil {
		return nil, err
	}
	return New(constructors[0].name, t)
})

// OrDefault returns be, or the backend of [Default] if be is nil.
func OrDefault(be Backend) (Backend, error) {
	if be != nil {
		return be, nil
	}
	return Default()
}
