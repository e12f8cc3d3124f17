// Package background gives functions without a context one that is never cancelled.
package background

import "context"

// IfNil returns ctx, or [context.Background] if ctx is nil. The exported functions and methods of this
// module call it first, but for those that only hand their context on: a nil context is never cancelled.
func IfNil(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
