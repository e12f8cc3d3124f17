//go:build openblas && cgo

package engine

import "github.com/fdridge/fdridge/engine/cblas"

var _ Backend = (*cblas.Backend)(nil)

// constructors are the constructors of all backends of this build, beginning with the default backend.
var constructors = []constructor{
	{"openblas", func(t Tuning) (Backend, error) {
		return cblas.New(t.Threads.Value)
	}},
	pureGo,
}
