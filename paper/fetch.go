package paper

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/atomicfile"
)

// A download is a file at the public home of a data set.
type download struct {
	url   string
	file  string // its name here
	sum   string // sha256 of its text
	bytes int64  // of its text, which the file has no more than
}

// fetched returns the checked files of s in the cache folder, downloading them
// first where they are not there.
func (s *realData) fetched(ctx context.Context, cache string) ([]located, error) {
	if found, err := s.in(cache); err != nil || found != nil {
		return found, err
	}
	if s.download == nil {
		return nil, &dataset.InputError{File: s.name, Msg: fmt.Sprintf(
			"cannot be fetched: no checksum of the complete file is known. Download it from %s, unpack %s into a folder and name that (--data, FDRIDGE_DATA)",
			s.home, s.editions[0][0].names[0])}
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, err
	}
	if err := s.download.to(ctx, cache); err != nil {
		return nil, fmt.Errorf("%s: fetching %s: %w", s.name, s.download.url, err)
	}
	return s.in(cache)
}

// to downloads into a folder. A file with another checksum is refused and leaves
// nothing behind.
func (d *download) to(ctx context.Context, folder string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server says %s", resp.Status)
	}
	return atomicfile.Write(filepath.Join(folder, d.file), func(w io.Writer) error {
		body := io.TeeReader(io.LimitReader(resp.Body, d.bytes), w)
		sum, err := sumOfText(body)
		if err != nil {
			return err
		}
		if sum != d.sum {
			return fmt.Errorf("%s %s", d.file, mismatch(sum, d.sum))
		}
		return nil
	})
}
