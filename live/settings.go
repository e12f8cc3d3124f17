package live

import (
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/window"
)

// CheckSettings returns an error if the sketch s does not have the settings c. It compares the numbers of features
// and targets, the size of the sketch, the intercept and the policy for old rows.
func CheckSettings(s window.Stream, c window.Settings) error {
	is := s.Settings()
	a, b := is.Summary, c.Summary
	if a.Dim != b.Dim ||
		a.Targets != max(b.Targets, 1) ||
		a.Size != b.Size ||
		a.Intercept != b.Intercept {
		return errtext.BadInput(
			"live: it has %d features and %d target(s), size %d and intercept %v; requested are %d and %d, %d and %v",
			a.Dim,
			a.Targets,
			a.Size,
			a.Intercept,
			b.Dim,
			max(b.Targets, 1),
			b.Size,
			b.Intercept,
		)
	}
	if is.Policy != c.Policy {
		return errtext.BadInput("live: it is of %v; requested are %v", is.Policy, c.Policy)
	}
	return nil
}
