package paper

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// home serves one file and counts how often.
func home(t *testing.T, content string) (url string, served *int) {
	served = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/data" {
			http.NotFound(w, q)
			return
		}
		*served++
		w.Write([]byte(content)) // a client that has gone is no matter
	}))
	t.Cleanup(s.Close)
	return s.URL + "/data", served
}

// smallSet is a data set whose public home is at url.
func smallSet(url, text string) *realData {
	return &realData{
		name:     "small",
		editions: [][]textFile{{{[]string{"small.gz"}, map[string]string{sumOf(text): "complete"}}}},
		download: &download{url: url, file: "small.gz", sum: sumOf(text), bytes: int64(len(text))},
	}
}

// TestFetch: plain or gzip, checked, once.
func TestFetch(t *testing.T) {
	text := strings.Repeat("1,2,3\n", 50)
	for name, content := range map[string]string{"plain": text, "gzip": zipped(t, text)} {
		url, served := home(t, content)
		cache := filepath.Join(t.TempDir(), "made", "here")
		for range 2 {
			found, err := smallSet(url, text).fetched(context.Background(), cache)
			if err != nil || len(found) != 1 || found[0].sum != sumOf(text) {
				t.Fatalf("%s: %v, %v", name, found, err)
			}
			if got, err := os.ReadFile(found[0].path); err != nil || string(got) != content {
				t.Errorf("%s: the file is not what was served, %v", name, err)
			}
		}
		if *served != 1 {
			t.Errorf("%s: served %d times", name, *served)
		}
	}
}

// TestFetchLeavesNothing: what is not the public file is refused, and so is a
// server that fails; nothing is left behind.
func TestFetchLeavesNothing(t *testing.T) {
	const text = "1,2,3\n"
	refused := func(name, url, want string) {
		t.Helper()
		cache := t.TempDir()
		_, err := smallSet(url, text).fetched(context.Background(), cache)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if left, err := os.ReadDir(cache); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
	other, _ := home(t, "1,2,4\n")
	refused("another text", other, sumOf("1,2,4\n"))
	long, _ := home(t, strings.Repeat("x", 1000))
	refused("another length", long, sumOf("xxxxxx"))
	cut, _ := home(t, zipped(t, text)[:5])
	refused("a piece of gzip", cut, "EOF")
	refused("not found", other+"/no", "404")
}

// TestFetchStops when the context is cancelled, in the middle of the file.
func TestFetchStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Write([]byte("1,2")) // a client that has gone is no matter
		w.(http.Flusher).Flush()
		cancel()
		<-q.Context().Done()
	}))
	defer s.Close()
	cache := t.TempDir()
	if _, err := smallSet(s.URL, "1,2,3\n").fetched(ctx, cache); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestNoChecksumNoFetch: YearPredictionMSD says why it cannot be fetched.
func TestNoChecksumNoFetch(t *testing.T) {
	var e *dataset.InputError
	_, err := realSets["YearPredictionMSD"].fetched(context.Background(), t.TempDir())
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "no checksum") {
		t.Errorf("%v", err)
	}
}
