//go:build openblas && cgo

package cblas

import (
	"sync"
	"sync/atomic"
)

// sharing is the state that [Backend.Share] and [Backend.Unshare] change. While sharing is on, each call of
// OpenBLAS uses one thread. The channel slots of the Backend is then full, so that no call with several threads
// starts.
type sharing struct {
	mu      sync.Mutex
	callers int           // number of calls of Share without a call of Unshare
	on      atomic.Bool   // callers > 0
	places  chan struct{} // one element for each call inside OpenBLAS while sharing is on
}

// Share implements [engine.Sharer]. If sharing is off, it waits until no call runs inside OpenBLAS.
func (b *Backend) Share() {
	s := &b.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers++
	if s.callers > 1 {
		return
	}
	for range cap(b.slots) {
		b.slots <- struct{}{}
	}
	b.setThreads(1)
	s.on.Store(true)
}

// Unshare implements [engine.Sharer]. If sharing ends, it waits until no call runs inside OpenBLAS.
func (b *Backend) Unshare() {
	s := &b.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers--
	if s.callers > 0 {
		return
	}
	for range cap(s.places) {
		s.places <- struct{}{}
	}
	s.on.Store(false)
	b.setThreads(b.threads)
	for range cap(s.places) {
		<-s.places
	}
	for range cap(b.slots) {
		<-b.slots
	}
}

// enter waits until the caller may call OpenBLAS. After the call of OpenBLAS, the caller must call leave. The call
// of OpenBLAS uses
//
//   - one thread while sharing is on
//   - the given number of threads if only one call may run at a time, because Backend.slots has one place
//   - otherwise the number of threads set by New
func (b *Backend) enter(threads int) {
	for {
		if b.sharing.on.Load() {
			b.sharing.places <- struct{}{}
			if b.sharing.on.Load() {
				return
			}
			<-b.sharing.places // sharing has ended while the call waited
			continue
		}
		b.slots <- struct{}{}
		if cap(b.slots) == 1 {
			b.setThreads(threads)
		}
		return
	}
}

// leave ends the section that enter began. Sharing is not switched on or off between enter and leave.
func (b *Backend) leave() {
	if b.sharing.on.Load() {
		<-b.sharing.places
		return
	}
	if cap(b.slots) == 1 {
		b.setThreads(b.threads)
	}
	<-b.slots
}
