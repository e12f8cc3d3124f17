package dist

import (
	"sync"
	"time"
)

// A Volume counts the calls of one kind on a rank, and the bytes that the rank sent and received in them.
type Volume struct {
	Calls    int64 `json:"calls"`
	Sent     int64 `json:"sent"`     // bytes
	Received int64 `json:"received"` // bytes
}

// Traffic counts the bytes that a rank moved in successful calls:
//
//	              sent       received
//	Send          len(b)
//	Recv                     len(b)
//	Broadcast     len(b)                on the root
//	                         len(b)     elsewhere
//	Allreduce     8·len(x)   8·len(x)
//	Barrier
//
// Here b and x are the arguments and results of the calls. The number of bytes on the wire is at least as large. It
// depends on the algorithm of the transport, such as a tree or a ring. If there is only one rank, calls are
// counted, but no bytes.
type Traffic struct {
	Send      Volume `json:"send"`
	Recv      Volume `json:"recv"`
	Broadcast Volume `json:"broadcast"`
	Allreduce Volume `json:"allreduce"`
	Barrier   Volume `json:"barrier"`
	// Time is the total time of all calls, failed calls included. It includes waiting for other ranks.
	Time time.Duration `json:"time_ns"`
}

// Sent returns the number of bytes sent by calls of all kinds.
func (t Traffic) Sent() int64 {
	return t.Send.Sent + t.Broadcast.Sent + t.Allreduce.Sent
}

// Received returns the number of bytes received by calls of all kinds.
func (t Traffic) Received() int64 {
	return t.Recv.Received + t.Broadcast.Received + t.Allreduce.Received
}

// A Meter counts the traffic of a rank. Implementations of [Transport] use it. Its zero value is ready to use.
// Several goroutines may use a Meter at the same time.
type Meter struct {
	mu sync.Mutex
	t  Traffic
}

// Traffic returns the traffic counted so far.
func (m *Meter) Traffic() Traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.t
}

// Send counts a call of [Transport.Send] that sent n bytes. The call began at the time start and returned err. If
// err is not nil, only the time is counted.
func (m *Meter) Send(start time.Time, n int, err error) {
	m.count(&m.t.Send, start, n, 0, err)
}

// Recv counts a call of [Transport.Recv] that returned n bytes and err. The call began at the time start. If err is
// not nil, only the time is counted.
func (m *Meter) Recv(start time.Time, n int, err error) {
	m.count(&m.t.Recv, start, 0, n, err)
}

// Broadcast counts a call of [Transport.Broadcast] on the rank t, which began at the time start and returned err.
// If t is the root, it sent n bytes, otherwise it received n bytes. If err is not nil, only the time is counted.
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

// Allreduce counts a call of [Transport.Allreduce] with n numbers on the rank t. The call began at the time start
// and returned err. If err is not nil, only the time is counted.
func (m *Meter) Allreduce(t Transport, start time.Time, n int, err error) {
	bytes := 8 * n
	if t.Size() == 1 {
		bytes = 0
	}
	m.count(&m.t.Allreduce, start, bytes, bytes, err)
}

// Barrier counts a call of [Transport.Barrier].
func (m *Meter) Barrier(start time.Time, err error) {
	m.count(&m.t.Barrier, start, 0, 0, err)
}

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
