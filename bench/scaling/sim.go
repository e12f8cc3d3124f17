package main

import (
	"container/heap"
	"fmt"
)

// An op is one step of a rank: it works for some seconds, puts bytes on its link to a
// peer and goes on at once, or waits for bytes of a peer.
type op struct {
	kind   opKind
	peer   int32
	amount float64 // seconds of work, or bytes sent
	slowed bool    // whether the work takes the rank's factor
}

type opKind int8

const (
	opWork opKind = iota
	opSend
	opRecv
)

// A schedule has the ops of each rank.
type schedule [][]op

func (s schedule) work(rank int, seconds float64) {
	s[rank] = append(s[rank], op{kind: opWork, amount: seconds, slowed: true})
}

func (s schedule) send(from, to int, bytes float64) {
	s[from] = append(s[from], op{kind: opSend, peer: int32(to), amount: bytes})
}

func (s schedule) recv(rank, from int) {
	s[rank] = append(s[rank], op{kind: opRecv, peer: int32(from)})
}

// A cluster simulates ranks by discrete events: each has a clock, and a link that
// takes one message out and one in at a time. What it has done stays done between
// schedules, so that a job is run phase by phase, without a barrier between them.
type cluster struct {
	net     network
	slow    func(rank int) float64 // factor on each piece of work; nil: 1
	clock   []float64              // of each rank
	worked  []float64              // seconds of work in it
	out, in []float64              // when each link is free
	sent    []float64              // bytes
}

func newCluster(ranks int, net network) *cluster {
	return &cluster{
		net: net, clock: make([]float64, ranks), worked: make([]float64, ranks),
		out: make([]float64, ranks), in: make([]float64, ranks), sent: make([]float64, ranks),
	}
}

// finish is when the last rank is done.
func (c *cluster) finish() float64 {
	last := 0.0
	for _, t := range c.clock {
		last = max(last, t)
	}
	return last
}

// idle is the mean share of the time that ranks did not work but waited and
// communicated.
func (c *cluster) idle() float64 {
	end, sum := c.finish(), 0.0
	if end == 0 {
		return 0
	}
	for _, w := range c.worked {
		sum += w
	}
	return 1 - sum/end/float64(len(c.worked))
}

// An event is a rank that is ready for its next op.
type event struct {
	time float64
	rank int
}

type events []event

func (e events) Len() int { return len(e) }

// Less orders equal times by rank, so that a run is the same each time.
func (e events) Less(i, j int) bool {
	if e[i].time != e[j].time {
		return e[i].time < e[j].time
	}
	return e[i].rank < e[j].rank
}

func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

func (e *events) Push(x any) { *e = append(*e, x.(event)) }

func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// run lets the ranks go through a schedule.
func (c *cluster) run(s schedule) error {
	next := make([]int, len(s))
	waits := make([]int32, len(s)) // for which rank, -1 for none
	mail := make(map[[2]int32][]float64)
	queue := make(events, 0, len(s))
	for r := range s {
		waits[r] = -1
		queue = append(queue, event{c.clock[r], r})
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		e := queue[0]
		r := e.rank
		c.clock[r] = e.time
		if next[r] == len(s[r]) {
			heap.Pop(&queue)
			continue
		}
		o := s[r][next[r]]
		next[r]++
		switch o.kind {
		case opWork:
			queue[0].time += c.work(r, o)
			heap.Fix(&queue, 0)
		case opSend:
			arrival := c.transmit(e.time, r, int(o.peer), o.amount)
			if to := int(o.peer); waits[to] == int32(r) {
				waits[to] = -1
				heap.Push(&queue, event{max(c.clock[to], arrival), to})
			} else {
				key := [2]int32{int32(r), o.peer}
				mail[key] = append(mail[key], arrival)
			}
		case opRecv:
			key := [2]int32{o.peer, int32(r)}
			if box := mail[key]; len(box) > 0 {
				mail[key] = box[1:]
				queue[0].time = max(e.time, box[0])
				heap.Fix(&queue, 0)
			} else {
				waits[r] = o.peer
				heap.Pop(&queue)
			}
		}
	}
	for r := range s {
		if next[r] < len(s[r]) || waits[r] >= 0 {
			return fmt.Errorf("the schedule leaves rank %d waiting for rank %d", r, waits[r])
		}
	}
	return nil
}

// work books a piece of work and returns its seconds.
func (c *cluster) work(rank int, o op) float64 {
	seconds := o.amount
	if o.slowed && c.slow != nil {
		seconds *= c.slow(rank)
	}
	c.worked[rank] += seconds
	return seconds
}

// transmit books the links of a message that is ready at a time, and returns when it
// arrives.
func (c *cluster) transmit(ready float64, from, to int, bytes float64) float64 {
	start := max(ready, c.out[from], c.in[to])
	end := start + bytes/c.net.Bandwidth
	c.out[from], c.in[to] = end, end
	c.sent[from] += bytes
	return end + c.net.Alpha
}
