package rawfile

import "sync"

// Heads keeps what was found in the first lines or bytes of files, such as column names. So a program that opens a
// file several times examines its beginning only once. Heads keeps values under keys. Its zero value is empty and
// ready. It may be used by several goroutines at the same time. A nil *Heads keeps nothing.
type Heads struct {
	mu   sync.Mutex
	kept map[any]any
}

// Keep returns the value that h keeps under the key. If there is none, Keep calls find, keeps the value that find
// returns, and returns it. If find returns an error, Keep keeps nothing and returns the error.
//
// Each package must use its own type of keys. All callers share a value, so none may change the memory to which the
// value refers.
func Keep[K comparable, V any](h *Heads, key K, find func() (V, error)) (V, error) {
	if h == nil {
		return find()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if v, ok := h.kept[key]; ok {
		return v.(V), nil
	}
	v, err := find()
	if err != nil {
		return v, err
	}
	if h.kept == nil {
		h.kept = map[any]any{}
	}
	h.kept[key] = v
	return v, nil
}
