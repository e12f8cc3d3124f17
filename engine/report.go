package engine

import (
	"cmp"
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// A Report describes the machine, its tuning and the backend in use. The command `fdridge doctor` prints a Report.
type Report struct {
	CPU          string            `json:"cpu"`
	Cores        int               `json:"cores"`
	Platform     string            `json:"platform"`
	Go           string            `json:"go"`
	GoMaxProcs   int               `json:"gomaxprocs"`
	Backend      string            `json:"backend"`
	Backends     []string          `json:"backends"`
	Capabilities map[string]string `json:"capabilities"`
	Tuning       Tuning            `json:"tuning"`
}

// NewReport returns a Report about this machine and the default backend.
func NewReport() (*Report, error) {
	t, err := DefaultTuning()
	if err != nil {
		return nil, err
	}
	be, err := Default()
	if err != nil {
		return nil, err
	}
	return &Report{
		CPU:          cmp.Or(cpuid.CPU.BrandName, "unknown CPU"),
		Cores:        runtime.NumCPU(),
		Platform:     runtime.GOOS + "/" + runtime.GOARCH,
		Go:           runtime.Version(),
		GoMaxProcs:   runtime.GOMAXPROCS(0),
		Backend:      be.Name(),
		Backends:     Names(),
		Capabilities: be.Capabilities(),
		Tuning:       t,
	}, nil
}
