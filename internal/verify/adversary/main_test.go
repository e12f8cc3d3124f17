package adversary

import (
	"flag"
	"os"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

func TestMain(m *testing.M) { refbig.Main(tests{m}) }

// tests are the tests of this package.
type tests struct{ *testing.M }

// Run runs the tests. TestProperty draws 15 problems unless FDRIDGE_THOROUGH is set, because each has all certificates.
func (t tests) Run() int {
	if os.Getenv("FDRIDGE_THOROUGH") == "" {
		if err := flag.Set("rapid.checks", "15"); err != nil {
			panic(err)
		}
	}
	return t.M.Run()
}
