package job

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fdridge/fdridge/internal/badinput"
)

// RankName is the checkpoint of one of several ranks.
func RankName(name string, rank, size int) string {
	return fmt.Sprintf("%s.rank%d-of-%d", name, rank, size)
}

var rankSuffix = regexp.MustCompile(`^\.rank\d+-of-(\d+)(\.previous)?$`)

// refuseOthers refuses to begin where another number of ranks has left checkpoints, which
// would be of no use; ranks is 0 for a process alone.
func refuseOthers(name string, ranks int) error {
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	own := fmt.Sprint(ranks)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), base)
		if !ok {
			continue
		}
		if ranks > 0 && (rest == "" || rest == ".previous") {
			return badinput.Errorf("--checkpoint: %s is of one process alone, this is a run of %d ranks; %s", filepath.Join(dir, e.Name()), ranks, anew(filepath.Join(dir, base)))
		}
		if m := rankSuffix.FindStringSubmatch(rest); m != nil && m[1] != own {
			return badinput.Errorf("--checkpoint: %s is of a run of %s ranks, this one has %d; take as many, or remove all that are, %s.rank*-of-%s*, to begin anew",
				filepath.Join(dir, e.Name()), m[1], max(ranks, 1), filepath.Join(dir, base), m[1])
		}
	}
	return nil
}
