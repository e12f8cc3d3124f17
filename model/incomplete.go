package model

import "sync"

// rowNumbers is a queue of the numbers of rows with missing values. The goroutine that encodes rows appends to it.
// The consumer of the rows removes from it.
type rowNumbers struct {
	mu   sync.Mutex
	rows []int64 // ascending
}

func (r *rowNumbers) add(row int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row)
}

// has reports whether row is in the queue. If it is, has removes it. Calls must ask for rows in ascending order.
func (r *rowNumbers) has(row int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 || r.rows[0] != row {
		return false
	}
	r.rows = r.rows[1:]
	if len(r.rows) == 0 {
		r.rows = nil
	}
	return true
}
