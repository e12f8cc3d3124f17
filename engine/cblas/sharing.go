//go:build openblas && cgo

package cblas

import (
	"sync"
	"sync/atomic"
)

// Sharing is the state of [Backend.Share]: while anybody shares, every call has one thread
// and a place of its own, and all of slots are taken.
type sharing struct {
	mu      sync.Mutex
	callers int           // who have called Share and not yet Unshare
	on      atomic.Bool   // callers > 0
	places  chan struct{} // one for each call inside meanwhile
}

// Share is that of [engine.Sharer]. It waits for the calls inside.
func (b *Backend) Share() {
	s := &b.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.callers++; s.callers > 1 {
		return
	}
	for range cap(b.slots) {
		b.slots <- struct{}{}
	}
	b.setThreads(1)
	s.on.Store(true)
}

// Unshare is that of [engine.Sharer]. It waits for the calls inside.
func (b *Backend) Unshare() {
	s := &b.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.callers--; s.callers > 0 {
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

// enter waits for a place inside OpenBLAS; leave gives it back. Where there is one
// place, the call inside has so many threads; where there are more, all calls have
// as many as New set, or one while calls share, as that is a setting of the process.
func (b *Backend) enter(threads int) {
	for {
		if b.sharing.on.Load() {
			b.sharing.places <- struct{}{}
			if b.sharing.on.Load() {
				return
			}
			<-b.sharing.places // sharing has ended meanwhile
			continue
		}
		b.slots <- struct{}{}
		if cap(b.slots) == 1 {
			b.setThreads(threads)
		}
		return
	}
}

// leave: whether calls share does not change while there is one inside.
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
