package file_test

import (
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

func TestMain(m *testing.M) { refbig.Main(m) }
