package table

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
)

// cacheKey returns a text that identifies the rows that this process reads from the files.
func (r *reading) cacheKey() (string, error) {
	s := &r.spec
	settings := batch.FileSettings(batch.Files(s.RowFiles()))
	backend, err := batch.BackendSetting(r.env.Backend)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %v %q", encode(s.canonical().reading()), r.env.shareOf(r.share), append(settings, backend)), nil
}

// parts returns the part of the data that Spec.Part selects. It also returns the size and modification time of each
// file. Both results are nil if Spec.Part is "".
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
	whole.Data = nil
	whole.Part = ""
	whole.Missing = nil
	key := sha256.Sum256(fmt.Appendf(nil, "%q %s", contents, encode(whole)))
	digest := (digestPrefix + fmt.Sprintf("%x", key))[:digestLength]
	i := int64(r.share.Rank)
	return []Parts{{digest, int64(r.share.Size), []span{{i, i}}}}, Stamps(files)
}

// digestPrefix begins each digest in Parts.Data that is computed from a Spec. Digests of earlier versions have the
// same length and no prefix.
const (
	digestPrefix = "spec-"
	digestLength = 32
)

// Settings returns each field of s as a setting of a job. If a job cannot continue because a field has changed, the
// error names this field. The name of a setting is the name of the field. Its value is the text of the command's
// flag, where defaults are written out and lists are joined by commas.
func (s Spec) Settings() []batch.Setting {
	v := reflect.ValueOf(s.canonical())
	out := make([]batch.Setting, v.NumField())
	for i := range out {
		name := v.Type().Field(i).Name
		value := fmt.Sprint(v.Field(i))
		if list, ok := v.Field(i).Interface().([]string); ok {
			value = strings.Join(list, ",")
		}
		if value == "" {
			value = defaults[name]
		}
		out[i] = batch.Setting{Name: name, Value: value}
	}
	return out
}

// Stamps maps the name of each file to its size and modification time, as [Env].Seen requires.
func Stamps(files []batch.File) map[string]dataset.Stamp {
	out := map[string]dataset.Stamp{}
	for _, f := range files {
		out[f.Name] = f.Stamp
	}
	return out
}
