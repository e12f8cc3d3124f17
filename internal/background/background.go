// Package background replaces a nil context by one that is never cancelled.
package background

import "context"

// IfNil returns ctx, or [context.Background] if ctx is nil. The exported functions of this module call IfNil first,
// except functions that only pass on their context.
func IfNil(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
