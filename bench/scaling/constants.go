package main

import (
	"encoding/json"
	"io"
	"math"
	"os"

	"github.com/fdridge/fdridge/internal/atomicfile"
)

// Constants are what one rank does in a second, measured by measure, and where.
type constants struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"threads"`
	Go      string `json:"go"`
	Backend string `json:"backend"`
	Kernel  string `json:"kernel"`

	Peak float64 `json:"micro_kernel_gflops"`
	Gemm float64 `json:"gemm_gflops"`
	Read float64 `json:"read_gigabytes_per_second"`
	// Add is the bytes of a vector added to another in a second.
	Add float64 `json:"add_bytes_per_second"`

	Sketch []sketchRate `json:"sketch"`
	Pass   []passRate   `json:"pass"`
	Sparse []sparseRate `json:"sparse_pass"`
	Step   []stepRate   `json:"step"`
	Merge  []mergeRate  `json:"merge"`

	// Lanes are those of LanesCPU, which need not be CPU.
	Lanes    []laneRate `json:"lanes"`
	LanesCPU string     `json:"lanes_cpu"`
	// Start is what a lane takes to be given its rows of a block and to tell that it has them.
	Start float64 `json:"lane_start_seconds"`
	// Npy is the bytes of a .npy file that are read and handed on in a second.
	Npy float64 `json:"npy_bytes_per_second"`

	Loopback []transportRate `json:"loopback"`
}

// A sketchRate is the speed of ridge.Summary's appends.
type sketchRate struct {
	D     float64 `json:"d"`
	M     float64 `json:"m"`
	Rows  float64 `json:"rows_per_second"`
	Flops float64 `json:"flops_per_second"` // as rowFlops counts
}

// A passRate is that of a gradient of q vectors over rows in memory.
type passRate struct {
	D     float64 `json:"d"`
	Q     float64 `json:"q"`
	Rows  float64 `json:"rows_per_second"`
	Bytes float64 `json:"bytes_per_second"` // of rows
	Flops float64 `json:"flops_per_second"` // 4dq a row
}

type sparseRate struct {
	D     float64 `json:"d"`
	NNZ   float64 `json:"nonzeros_of_a_row"`
	Rows  float64 `json:"rows_per_second"`
	Flops float64 `json:"flops_per_second"` // 4·nnz a row
}

// A stepRate is that of what all ranks repeat after a pass.
type stepRate struct {
	D       float64 `json:"d"`
	M       float64 `json:"m"`
	Q       float64 `json:"q"`
	Seconds float64 `json:"seconds"`
	Flops   float64 `json:"flops_per_second"` // as stepFlops counts
}

// A mergeRate is that of a level of the tree, and of reading the union.
type mergeRate struct {
	D        float64 `json:"d"`
	M        float64 `json:"m"`
	Bytes    float64 `json:"summary_bytes"`
	Write    float64 `json:"marshal_bytes_per_second"`
	Load     float64 `json:"read_bytes_per_second"`
	Seconds  float64 `json:"merge_seconds"`
	Shrinks  float64 `json:"shrinks"`
	Flops    float64 `json:"flops_per_second"` // as mergeFlops counts
	Spectrum float64 `json:"spectrum_seconds"`
}

type transportRate struct {
	Ranks   int     `json:"ranks"`
	Call    string  `json:"call"`
	Bytes   float64 `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

func readConstants(path string) (*constants, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &constants{}
	return c, json.Unmarshal(b, c)
}

func (c *constants) write(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "\t")
		return enc.Encode(c)
	})
}

// nearest returns the element whose place differs least, in logarithms.
func nearest[T any](all []T, at func(T) []float64, place ...float64) T {
	var best T
	least := math.Inf(1)
	for _, e := range all {
		sum := 0.0
		for i, x := range at(e) {
			sum += math.Abs(math.Log(x / place[i]))
		}
		if sum < least {
			best, least = e, sum
		}
	}
	return best
}

func (c *constants) sketch(m, d float64) sketchRate {
	return nearest(c.Sketch, func(r sketchRate) []float64 { return []float64{r.M, r.D} }, m, d)
}

func (c *constants) pass(d, q float64) passRate {
	return nearest(c.Pass, func(r passRate) []float64 { return []float64{r.D, r.Q} }, d, q)
}

func (c *constants) sparse(d float64) sparseRate {
	return nearest(c.Sparse, func(r sparseRate) []float64 { return []float64{r.D} }, d)
}

func (c *constants) step(m, d, q float64) stepRate {
	return nearest(c.Step, func(r stepRate) []float64 { return []float64{r.M, r.D, r.Q} }, m, d, q)
}

func (c *constants) merge(m, d float64) mergeRate {
	return nearest(c.Merge, func(r mergeRate) []float64 { return []float64{r.M, r.D} }, m, d)
}
