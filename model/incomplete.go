package model

import "sync"

// rowNumbers is a queue of the numbers of rows with missing values. The goroutine that encodes rows adds numbers, and
// the consumer of the rows removes them.
type rowNumbers struct {
	mu   sync.Mutex
	rows []int64 // ascending
}

func (r *rowNumbers) add(row int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row)
}

// has reports whether a row is in the queue. The rows must be asked for in ascending order.
func (r *rowNumbers) has(row int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 || r.rows[0] != row {
		return false
	}
	if r.rows = r.rows[1:]; len(r.rows) == 0 {
		r.rows = nil
	}
	return true
}
