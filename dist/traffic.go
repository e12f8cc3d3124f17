package dist

import (
	"sync"
	"time"
)

// A Volume counts the calls of one kind and the caller's bytes that they moved.
type Volume struct {
	Calls    int64 `json:"calls"`
	Sent     int64 `json:"sent"`     // bytes
	Received int64 `json:"received"` // bytes
}

// Traffic is what one rank has moved, in calls that succeeded:
//
//	              sent       received
//	Send          len(b)
//	Recv                     len(b)
//	Broadcast     len(b)                on the root
//	                         len(b)     elsewhere
//	Allreduce     8·len(x)   8·len(x)
//	Barrier
//
// This is what a rank puts in and gets out. How often the bytes of a collective
// cross a wire is up to the algorithm below: a tree or a ring, at least once in
// and once out for each rank. A lone rank sends nothing, but its calls count.
type Traffic struct {
	Send      Volume `json:"send"`
	Recv      Volume `json:"recv"`
	Broadcast Volume `json:"broadcast"`
	Allreduce Volume `json:"allreduce"`
	Barrier   Volume `json:"barrier"`
	// Time was spent in calls, those that failed included: moving bytes and waiting
	// for other ranks.
	Time time.Duration `json:"time_ns"`
}

// Sent is the number of bytes sent, of all kinds.
func (t Traffic) Sent() int64 {
	return t.Send.Sent + t.Broadcast.Sent + t.Allreduce.Sent
}

// Received is the number of bytes received, of all kinds.
func (t Traffic) Received() int64 {
	return t.Recv.Received + t.Broadcast.Received + t.Allreduce.Received
}

// A Meter counts the traffic of one rank, for those who implement a [Transport].
// Its zero value is ready; any number of goroutines may use it.
type Meter struct {
	mu sync.Mutex
	t  Traffic
}

// Traffic returns what was counted so far.
func (m *Meter) Traffic() Traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.t
}

// Send counts a call of [Transport.Send] with n bytes, which began at start and returned
// err.
func (m *Meter) Send(start time.Time, n int, err error) { m.count(&m.t.Send, start, n, 0, err) }

// Recv counts a call of [Transport.Recv], which returned n bytes and err.
func (m *Meter) Recv(start time.Time, n int, err error) { m.count(&m.t.Recv, start, 0, n, err) }

// Broadcast counts a call of [Transport.Broadcast] by t: n bytes sent if t is the root,
// received otherwise.
func (m *Meter) Broadcast(t Transport, root int, start time.Time, n int, err error) {
	switch {
	case t.Size() == 1:
		m.count(&m.t.Broadcast, start, 0, 0, err)
	case t.Rank() == root:
		m.count(&m.t.Broadcast, start, n, 0, err)
	default:
		m.count(&m.t.Broadcast, start, 0, n, err)
	}
}

// Allreduce counts a call of [Transport.Allreduce] by t with n numbers.
func (m *Meter) Allreduce(t Transport, start time.Time, n int, err error) {
	bytes := 8 * n
	if t.Size() == 1 {
		bytes = 0
	}
	m.count(&m.t.Allreduce, start, bytes, bytes, err)
}

// Barrier counts a call of [Transport.Barrier].
func (m *Meter) Barrier(start time.Time, err error) { m.count(&m.t.Barrier, start, 0, 0, err) }

func (m *Meter) count(v *Volume, start time.Time, sent, received int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.t.Time += time.Since(start)
	if err != nil {
		return
	}
	v.Calls++
	v.Sent += int64(sent)
	v.Received += int64(received)
}
