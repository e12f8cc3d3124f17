package main

import (
	"math"

	"github.com/fdridge/fdridge/engine"
)

// A machine has equal cores that share its memory. A network connects machines.
type machine struct {
	costs
	Memory    float64 // bytes per second that all cores together move to and from memory
	Cache     float64 // bytes of cache for each core
	Latency   float64 // seconds of a message
	Bandwidth float64 // bytes per second of a message
}

// A source is where the rows of a sketch come from.
type source int

const (
	oneReader   source = iota // one goroutine reads a file for all lanes
	manyReaders               // up to mostReaders goroutines read the parts of a block, as in package dataset
	ownReaders                // each lane reads its own rows
	inMemory                  // the rows are in memory
)

// sources are the names of the sources, by number.
var sources = []string{"one reader", "16 readers", "own readers", "in memory"}

// parts divides the time of a sketch, in seconds, by what the time is spent on.
type parts struct {
	work    float64 // appending and shrinking, if divided evenly among all cores
	reading float64 // lanes wait for rows, or read them
	memory  float64 // cores wait for memory
	lanes   float64 // some cores have no lane, or their lane has no rows, while other lanes work
	merging float64 // merging lanes and ranks, with the messages between ranks, and reading the result
}

func (p parts) total() float64 { return p.work + p.reading + p.memory + p.lanes + p.merging }

// limit returns the name of the largest part besides the work.
func (p parts) limit() string {
	all := map[float64]string{p.reading: "reading", p.memory: "memory", p.lanes: "lanes", p.merging: "merging"}
	return all[max(p.reading, p.memory, p.lanes, p.merging)]
}

// depth is the number of blocks that are read in advance, as in package dataset.
const depth = 3

// mostReaders is the number of goroutines that can share the reading of a block of 8 MiB. All readers with random
// access divide a block into at least this number of parts, except dataset/parquet: it makes one part of 8 columns.
const mostReaders = 16

// laneRows returns the default of ridge.SummaryConfig.LaneRows.
func laneRows(d, lanes int) int {
	return max(min((8<<20)/8/d, 8192)/lanes, min((64<<10)/8/d, 8), 1)
}

// rowBytes returns the number of bytes of a row.
func (s shape) rowBytes() float64 { return 8 * float64(s.D) }

// stretch returns the factor by which lanes (parallel sketches) slow each other down, because they share the memory.
// busy is the number of lanes that work at the same time.
//
// Between two shrinks a lane with m rows copies p new rows, computes the inner products of all m+p rows, and combines
// these rows to m rows. It moves 3p + 2(m+p) + m rows to or from memory, but only p if the sketch fits into the cache.
// Reading a file moves each row twice more: out of the page cache and into a block.
func (m machine) stretch(s shape, busy float64, src source) float64 {
	k, p := float64(s.M), float64(s.P)
	moved := 3*p + 2*(k+p) + k
	if (k+p)*s.rowBytes() <= m.Cache {
		moved = p
	}
	if src != inMemory {
		moved += 2 * p
	}
	return max(1, busy*moved*s.rowBytes()/s.Shrink/m.Memory)
}

// sketch simulates a sketch of n rows from src on the given number of cores.
func (m machine) sketch(s shape, n, cores int, src source) parts {
	tuning := engine.Tuning{Lanes: engine.Setting{Value: cores}}
	lanes, _ := tuning.LanesFor(int64(n), s.D, s.M+s.P)
	var out parts
	if src == ownReaders {
		out = m.apart(s, n, cores, lanes)
	} else {
		out = m.together(s, n, cores, lanes, src)
	}
	for ; lanes > 1; lanes = (lanes + 1) / 2 {
		out.merging += s.Merge * m.stretch(s, float64(lanes/2), inMemory)
	}
	out.merging += s.Spectrum
	return out
}

// apart simulates lanes (parallel sketches) that read their own rows, without waiting for each other.
func (m machine) apart(s shape, n, cores, lanes int) parts {
	rows := math.Ceil(float64(n) / float64(lanes))
	work, read := rows*s.Shrink/float64(s.P), rows*s.rowBytes()/m.Read
	slow, used := m.stretch(s, float64(lanes), ownReaders), float64(lanes)/float64(cores)
	return parts{work: work * used, reading: read * used, lanes: (work + read) * (1 - used), memory: work * (slow - 1)}
}

// together simulates lanes (parallel sketches) that get their rows from the same blocks of 8 MiB. Each lane waits until
// all rows of a block are copied into the lanes. A lane spends the time s.Shrink for every P rows.
func (m machine) together(s shape, n, cores, lanes int, src source) (out parts) {
	block, group := engine.Tuning{}.GradientRows(s.D), laneRows(s.D, lanes)
	fill, due := make([]int, lanes), make([]float64, lanes)
	var read, done [depth]float64 // times of the last blocks
	for i := 0; i*block < n; i++ {
		lo, hi := i*block, min(n, (i+1)*block)
		clear(due)
		for r := lo; r < hi; {
			k := min(hi, (r/group+1)*group) - r
			lane := r / group % lanes
			fill[lane] += k
			due[lane] += float64(fill[lane]/s.P) * s.Shrink
			fill[lane] %= s.P
			r += k
		}
		longest, sum, busy := 0.0, 0.0, 0.0
		for _, w := range due {
			longest, sum = max(longest, w), sum+w
			if w > 0 {
				busy++
			}
		}
		slow := m.stretch(s, busy, src)
		reading, last, readers := 0.0, done[(i+depth-1)%depth], 1
		if src == manyReaders {
			readers = min(cores, mostReaders)
		}
		if src != inMemory {
			reading = float64(hi-lo) * s.rowBytes() / m.Read
			read[i%depth] = max(read[(i+depth-1)%depth], done[i%depth]) + reading/float64(readers)
		}
		start := max(last, read[i%depth])
		// Readers need cores, too.
		crowded := max(0, (sum*slow+reading)/float64(cores)-longest*slow)
		done[i%depth] = start + longest*slow + crowded
		out.reading += start - last + crowded
		out.work += sum / float64(cores)
		out.lanes += longest - sum/float64(cores)
		out.memory += longest * (slow - 1)
	}
	return out
}

// ranks simulates ranks (MPI processes), each on a machine with the given number of cores. Each rank sketches its
// share of n rows in its own lanes. The sketches are then merged along a binary tree: for k = 1, 2, 4, …, rank r
// merges the sketch of rank r+k if r is a multiple of 2k. The result is sent back down this tree.
func (m machine) ranks(s shape, n, ranks, cores int) parts {
	out := m.sketch(s, (n+ranks-1)/ranks, cores, ownReaders)
	levels := math.Ceil(math.Log2(float64(ranks)))
	message := m.Latency + s.Bytes/m.Bandwidth
	out.merging += levels*(s.Merge+s.Encode+2*message) + min(levels, 1)*s.Encode
	return out
}
