package live

import (
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/window"
)

// CanGoOn refuses to go on with rows that c asks to be summarised in another way than s does.
func CanGoOn(s window.Stream, c window.Settings) error {
	is := s.Settings()
	a, b := is.Summary, c.Summary
	if a.Dim != b.Dim || a.Targets != max(b.Targets, 1) || a.Size != b.Size || a.Intercept != b.Intercept {
		return badinput.Errorf("live: it is of %d features and %d target(s), size %d and intercept %v; asked for are %d and %d, %d and %v",
			a.Dim, a.Targets, a.Size, a.Intercept, b.Dim, max(b.Targets, 1), b.Size, b.Intercept)
	}
	if is.Policy != c.Policy {
		return badinput.Errorf("live: it is of %v; asked for are %v", is.Policy, c.Policy)
	}
	return nil
}
