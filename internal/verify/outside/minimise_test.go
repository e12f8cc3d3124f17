package outside

import (
	"slices"
	"strings"
	"testing"
)

// minimise removes rows, columns, targets and flags as long as a fault of the
// same kind remains.
func minimise(t *testing.T, binary, folder string, current *trial, faults []string) (*trial, []string) {
	t.Helper()

	kind, _, _ := strings.Cut(faults[0], ":")
	attempts := 0

	try := func(smaller *trial) bool {
		attempts++
		if attempts > 400 {
			return false
		}

		found, _, _ := attack(t, binary, folder, smaller, map[string]int{})
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, kind+":") }) {
			return false
		}

		current, faults = smaller, found

		return true
	}

	for changed := true; changed; {
		changed = false

		for i := len(current.x) - 1; i >= 0 && len(current.x) > 1; i-- {
			changed = current.holdout == 0 && try(current.withoutRow(i)) || changed
		}

		for j := len(current.p) - 1; j >= 0 && len(current.p) > 1; j-- {
			changed = current.bands == "" && try(current.withoutColumn(j)) || changed
		}

		for k := 0; current.y != nil && k < len(current.y[0]) && len(current.y[0]) > 1; k++ {
			changed = try(current.withoutTarget(k)) || changed
		}

		for k := 0; k < len(current.gammas) && len(current.gammas) > 1; k++ {
			s := *current
			s.gammas = slices.Delete(slices.Clone(s.gammas), k, k+1)
			changed = try(&s) || changed
		}

		for _, simpler := range simplifications {
			s := *current
			if simpler(&s) {
				changed = try(&s) || changed
			}
		}
	}

	// The last attack leaves the files of the result in the folder.
	_, _, _ = attack(t, binary, folder, current, map[string]int{})

	return current, faults
}

// simplifications drop one flag each, and report whether it was set.
var simplifications = []func(*trial) bool{
	func(s *trial) bool {
		ok := s.lanes != 0
		s.lanes = 0

		return ok
	},
	func(s *trial) bool {
		ok := s.size != 0
		s.size = 0

		return ok
	},
	func(s *trial) bool {
		ok := s.passes != 0
		s.passes = 0

		return ok
	},
	func(s *trial) bool {
		ok := s.holdout != 0
		s.holdout = 0

		return ok
	},
	func(s *trial) bool {
		ok := s.weights != nil
		s.weights = nil

		return ok
	},
	func(s *trial) bool {
		ok := s.standard
		s.standard = false

		return ok
	},
	func(s *trial) bool {
		ok := s.balanced
		s.balanced = false

		return ok
	},
	func(s *trial) bool {
		ok := s.predict
		s.predict = false

		return ok
	},
	func(s *trial) bool {
		ok := s.method != "auto"
		s.method = "auto"

		return ok
	},
	func(s *trial) bool {
		ok := !s.noIcpt
		s.noIcpt = true

		return ok
	},
	func(s *trial) bool {
		ok := s.selects != ""
		s.selects = ""

		return ok
	},
	func(s *trial) bool {
		ok := s.auto
		s.auto, s.grid, s.selects = false, false, ""

		return ok
	},
	func(s *trial) bool {
		ok := s.penalty || s.bands != "" || len(s.free) > 0
		s.penalty, s.bands, s.free = false, "", nil
		s.p = slices.Repeat([]float64{1}, len(s.p))

		return ok
	},
	func(s *trial) bool {
		s.x = slices.Clone(s.x)
		ok := false

		for i := range s.x {
			s.x[i] = slices.Clone(s.x[i])
			for j, v := range s.x[i] {
				if v > 1e6 && v < 2e8 && v != 1e8 {
					ok = true
					s.x[i][j] = v - 1e8
				}
			}
		}

		return ok
	},
}

func (t *trial) withoutRow(i int) *trial {
	s := *t
	s.x = slices.Delete(slices.Clone(s.x), i, i+1)

	if s.y != nil {
		s.y = slices.Delete(slices.Clone(s.y), i, i+1)
	}

	if s.labels != nil {
		s.labels = slices.Delete(slices.Clone(s.labels), i, i+1)
	}

	if s.weights != nil {
		s.weights = slices.Delete(slices.Clone(s.weights), i, i+1)
	}

	return &s
}

func (t *trial) withoutColumn(j int) *trial {
	s := *t
	s.x = slices.Clone(s.x)

	for i := range s.x {
		s.x[i] = slices.Delete(slices.Clone(s.x[i]), j, j+1)
	}

	s.p = slices.Delete(slices.Clone(s.p), j, j+1)
	s.free = nil

	for k, v := range s.p {
		if v == 0 {
			s.free = append(s.free, "x"+string(rune('0'+k)))
		}
	}

	return &s
}

func (t *trial) withoutTarget(k int) *trial {
	s := *t
	s.y = slices.Clone(s.y)

	for i := range s.y {
		s.y[i] = slices.Delete(slices.Clone(s.y[i]), k, k+1)
	}

	if len(s.y[0]) == 1 {
		s.each = false
	}

	return &s
}
