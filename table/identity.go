package table

import (
	"crypto/sha256"
	"fmt"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
)

// cacheKey returns a text that identifies the rows that are read from the files.
func (r *reading) cacheKey() (string, error) {
	s := &r.spec
	settings := batch.FileSettings(batch.Files(s.RowFiles()))
	backend, err := batch.BackendSetting(r.env.Backend)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %v %q", encode(s.canonical().reading()), r.env.shareOf(r.share), append(settings, backend)), nil
}

// parts returns the part of the data that Spec.Part selects, and the size and modification time of each file. Both
// results are nil without Part.
func (r *resolved) parts() ([]Parts, map[string]dataset.Stamp) {
	s := &r.spec
	if s.Part == "" {
		return nil, nil
	}
	files := batch.Files(s.RowFiles())
	var contents []string // equal for copies of a file with another name or time
	for _, f := range files {
		if f.Digest != "" {
			contents = append(contents, fmt.Sprintf("%d %s", f.Stamp.Size, f.Digest))
		}
	}
	whole := s.canonical().reading()
	whole.Data, whole.Part, whole.Missing = nil, "", nil
	key := sha256.Sum256(fmt.Appendf(nil, "%q %s", contents, encode(whole)))
	i := int64(r.share.Rank)
	return []Parts{{digestPrefix + fmt.Sprintf("%x", key[:16]), int64(r.share.Size), []span{{i, i}}}}, Stamps(files)
}

// digestPrefix begins the digests of Parts.Data that are computed from a Spec. Earlier versions had digests without a
// prefix, of the same length otherwise.
const digestPrefix = "spec-"

// Stamps returns the sizes and times of files by name, for [Env].Seen.
func Stamps(files []batch.File) map[string]dataset.Stamp {
	out := map[string]dataset.Stamp{}
	for _, f := range files {
		out[f.Name] = f.Stamp
	}
	return out
}
