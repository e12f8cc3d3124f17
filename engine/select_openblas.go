//go:build openblas && cgo

package engine

import "github.com/fdridge/fdridge/engine/cblas"

var _ Backend = (*cblas.Backend)(nil)

// built are the backends of this build, the default first.
var built = []constructor{
	{"openblas", func(t Tuning) (Backend, error) { return cblas.New(t.Threads.Value) }},
	pureGo,
}
