// Package corpus has tests that compare two builds of fdridge: everything that they print and write, bit for bit.
//
//	go test ./internal/verify/corpus -old OLD -new NEW -timeout 0    # two builds, with absolute paths
//	go test ./internal/verify/corpus -old OLD -new NEW -mpi          # with ranks too; both built with -tags openblas,mpi
//	go test ./internal/verify/corpus -old OLD -new NEW -run 'TestBuilds/.*(sparse|cv)'
//
// Each entry of commands.txt is a subtest. It fails with the first difference of each stream and file, or if
// OLD does not end as the entry requires. With -v it logs every line that differs.
//
// Each entry runs in its own folder for each build, with one thread unless it sets more. File
// names and data are the same: files of the repository and generated ones (data_test.go). FDRIDGE_KERNEL
// and other variables are left unchanged. -parallel entries run at a time.
//
// Exit codes, stdout, stderr and all files left in the folder are compared, so that a checkpoint
// left behind counts. Times and places are ignored; normalise_test.go has the list:
//
//   - in JSON the fields sketch_seconds, total_seconds, open_seconds, seconds,
//     peak_rss_bytes, communicating_seconds, communicating_share, gemm_gflops,
//     read_gigabytes_per_second, version, cpu, platform, go and modules; for a live
//     sketch time and rows_per_second; for a plan bytes, best and reason
//   - in text the seconds and MiB at most; for a plan also memory, the mark of the
//     fastest, the reason and newton
//   - the process and the host in a lock
//   - in the HTML report the time, the memory, the CPU and the version
//   - in the paper's tables the version, the CPU, Go, the place in the code where a
//     claim is judged or explained, and claims about times
//   - in the file of a window the arrival times of rows, and so its checksum
//   - the path of the folder, and the output of an interrupted command
package corpus

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var (
	oldBuild = flag.String("old", "", "the build to compare with")
	newBuild = flag.String("new", "", "the build to compare")
	withMPI  = flag.Bool("mpi", false, "run the entries by ranks too, under mpirun")
)

// TestBuilds compares two builds on the corpus.
func TestBuilds(t *testing.T) {
	if *oldBuild == "" || *newBuild == "" {
		t.Skip("-old and -new name no builds to compare")
	}
	all, err := parse(commandText)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := makeData("../../..", data); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if e := &all[i]; *withMPI || !e.byRanks() {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				e.compare(t, data)
			})
		}
	}
}

// compare runs an entry with both builds, one after the other in the same folder.
func (e *entry) compare(t *testing.T, data string) {
	dir := filepath.Join(t.TempDir(), "run")
	var outcomes [2]outcome
	for i, build := range []string{*oldBuild, *newBuild} {
		var err error
		outcomes[i], err = play(context.Background(), e, build, data, dir)
		if err != nil {
			t.Fatalf("%s: %v", build, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.asExpected(outcomes[0]); err != nil {
		t.Fatalf("%s: %v", *oldBuild, err)
	}
	found := differences(outcomes[0], outcomes[1])
	for _, f := range found {
		t.Error(f)
	}
	if found != nil && testing.Verbose() {
		t.Log(whole(outcomes[0], outcomes[1]))
	}
}
