package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/checkpoint"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/ridge"
)

// checkpointFlags say where the state of a fit is kept, and how often.
type checkpointFlags struct {
	name    string
	every   time.Duration
	follows bool // another rank tells what goes well
}

func (o *checkpointFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.name, "checkpoint", "", "keep the state of the run here: after a crash, or Ctrl-C, the same command goes on from it, to the same bits; removed when the run is done")
	f.DurationVar(&o.every, "checkpoint-every", 30*time.Second, "how often, at most; what a checkpoint takes to write is left ten times in between")
}

func (o *checkpointFlags) check() error {
	if !(o.every > 0) {
		return badInput("--checkpoint-every: %v, must be positive", o.every)
	}
	for _, f := range o.outputs() { // a name of the user's, and those that are made of it
		if err := checkOutput(f.flag, f.path); err != nil {
			return err
		}
	}
	return nil
}

// ofRank takes this rank's own name, and refuses what another number of ranks has left.
func (o *checkpointFlags) ofRank(t *team) error {
	switch {
	case o.name == "":
		return nil
	case t == nil:
		return strangers(o.name, 0)
	}
	name := o.name
	o.name, o.follows = rankName(name, t.Rank(), t.Size()), !t.leads()
	return strangers(name, t.Size())
}

// outputs are the files that are written.
func (o *checkpointFlags) outputs() []named {
	var out []named
	if o.name != "" {
		for _, name := range checkpoint.Names(o.name) {
			out = append(out, named{"checkpoint", name})
		}
	}
	return out
}

// A keeper keeps the state of a fit in a checkpoint, of which the content is
//
//	8    length of the next, little-endian
//	…    a kept, JSON
//	…    the summary, a message of package ridge, where there is one
//	…    what the passes of the solver have found, each as a ridge.Journal has it
//
// It is that journal. A nil keeper keeps nothing.
type keeper struct {
	checkpointFlags
	file   *checkpoint.File
	state  *checkpoint.State // the last one, with what isn't in memory
	saved  position          // of the last one
	kept   kept
	sum    *ridge.Summary
	passes []part
	count  *counted
	next   time.Time // when the next state is due
	unsent bool      // there is more than the last state has
	bar    *progress
	stderr io.Writer
}

// keptVersion is what this program writes. Version 0 has no digests of the files.
const keptVersion = 1

// kept is what a state tells of itself.
type kept struct {
	Version  int              `json:"version,omitempty"`
	Run      []setting        `json:"run"`
	At       position         `json:"at"`
	Scaling  *dataset.Scaling `json:"scaling,omitempty"`
	Size     int              `json:"size,omitempty"` // of the sketch, where it was chosen
	Nonzeros nonzeros         `json:"nonzeros"`
	Sketched bool             `json:"sketched"`       // the summary is whole, with several ranks that of all rows
	Rows     int64            `json:"rows,omitempty"` // of this rank, where there are several
	Summary  int64            `json:"summary"`        // length in bytes
	Passes   []int64          `json:"passes"`         // lengths in bytes
}

// empty tells that there is nothing yet to go on from.
func (k *kept) empty() bool { return k.Scaling == nil && k.Size == 0 && k.Summary == 0 }

// A setting is something that two runs have in common if one is to go on from where
// the other was.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A position is how far a run has come.
type position struct {
	Pass int   `json:"pass"` // 0: the one that sketches
	Rows int64 `json:"rows"`
}

func (p position) String() string {
	if p.Pass == 0 {
		return fmt.Sprintf("row %d of the sketch's pass", p.Rows)
	}
	return fmt.Sprintf("row %d of pass %d", p.Rows, p.Pass)
}

// A part is what one pass has found: in memory, or else in the last state.
type part struct {
	data     []byte
	at, size int64
}

// openKeeper takes the checkpoint, and what it has of this run. Where there was none
// the first state is written, to see that it can be.
func openKeeper(o checkpointFlags, run []setting, be engine.Backend, bar *progress, stderr io.Writer) (*keeper, error) {
	if o.name == "" {
		return nil, nil
	}
	file, err := checkpoint.Open(o.name)
	if err != nil {
		return nil, fmt.Errorf("--checkpoint: %w", err)
	}
	k := &keeper{checkpointFlags: o, file: file, bar: bar, stderr: stderr}
	if err := k.begin(run, be); err != nil {
		return nil, errors.Join(fmt.Errorf("--checkpoint: %w", err), k.close())
	}
	return k, nil
}

func (k *keeper) begin(run []setting, be engine.Backend) error {
	var err error
	if k.state, err = k.file.Load(); err != nil {
		return badInput("%w; there is nothing to go on from, remove it to begin anew", err)
	}
	if k.state != nil {
		if k.state.Damage != nil {
			k.tell(slog.LevelWarn, fmt.Sprintf("the last checkpoint is damaged and the one before is taken: %v", k.state.Damage))
		}
		if err := k.read(be); err != nil {
			return badInput("%s: %w", k.name, err)
		}
	}
	if k.kept.empty() {
		k.kept = kept{Version: keptVersion, Run: run}
		return k.save()
	}
	same := run
	if k.kept.Version == 0 {
		same = slices.DeleteFunc(slices.Clone(run), func(s setting) bool { return strings.HasSuffix(s.Name, digested) })
	}
	if d := differences(k.kept.Run, same); len(d) > 0 {
		return badInput("%s is of another run: %s; remove it to begin anew", k.name, strings.Join(d, "; "))
	}
	k.kept.Version, k.kept.Run, k.saved = keptVersion, run, k.kept.At
	k.postpone(0)
	k.tell(slog.LevelInfo, fmt.Sprintf("going on from checkpoint %s, %v", k.name, k.saved))
	return nil
}

// differences are those between the settings of two runs.
func differences(was, is []setting) []string {
	find := func(in []setting, name string) (value string, there bool) {
		i := slices.IndexFunc(in, func(s setting) bool { return s.Name == name })
		if i < 0 {
			return "", false
		}
		return in[i].Value, true
	}
	var out []string
	for _, s := range is {
		switch before, there := find(was, s.Name); {
		case !there:
			out = append(out, fmt.Sprintf("%s was not there, is %q", s.Name, excerpt.Of(s.Value)))
		case before != s.Value:
			out = append(out, fmt.Sprintf("%s was %q, is %q", s.Name, excerpt.Of(before), excerpt.Of(s.Value)))
		}
	}
	for _, s := range was {
		if _, there := find(is, s.Name); !there {
			out = append(out, fmt.Sprintf("%s was %q, is not there", s.Name, excerpt.Of(s.Value)))
		}
	}
	return out
}

// maxKept bounds the JSON of a state, which is held in memory.
const maxKept = 1 << 30

// read takes in the state, but for what the passes have found.
func (k *keeper) read(be engine.Backend) error {
	var size int64
	if err := binary.Read(k.state, binary.LittleEndian, &size); err != nil {
		return err
	}
	if size < 0 || size > min(maxKept, k.state.Size()-8) {
		return fmt.Errorf("says that it has %d bytes about itself", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(k.state, text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &k.kept); err != nil {
		return err
	}
	if v := k.kept.Version; v < 0 || v > keptVersion {
		return fmt.Errorf("is a checkpoint of version %d, of which this program knows none above %d: go on with the one that wrote it", v, keptVersion)
	}
	at := 8 + size
	if n := k.kept.Summary; n > 0 {
		var err error
		if k.sum, err = ridge.ReadSummary(io.NewSectionReader(k.state, at, n), be); err != nil {
			return err
		}
		at += n
	}
	return k.place(at)
}

// place finds the passes in a state, where they begin at byte at.
func (k *keeper) place(at int64) error {
	k.passes = k.passes[:0]
	for _, n := range k.kept.Passes {
		if n < 0 || n > k.state.Size()-at {
			return fmt.Errorf("says that it has a pass of %d bytes", n)
		}
		k.passes = append(k.passes, part{at: at, size: n})
		at += n
	}
	if at != k.state.Size() {
		return fmt.Errorf("has %d bytes, says %d", k.state.Size(), at)
	}
	return nil
}

// save writes the state as it stands.
func (k *keeper) save() error {
	begin := time.Now()
	if !k.kept.Sketched && k.count != nil {
		k.kept.Nonzeros = k.count.before(k.kept.At.Rows)
	}
	k.kept.Summary, k.kept.Passes = 0, nil
	if k.sum != nil {
		k.kept.Summary = k.sum.BinarySize()
	}
	size := int64(0)
	for _, p := range k.passes {
		k.kept.Passes = append(k.kept.Passes, p.size)
		size += p.size
	}
	text, err := json.Marshal(&k.kept)
	if err != nil {
		return err
	}
	passes := 8 + int64(len(text)) + k.kept.Summary
	state, err := k.file.Save(passes+size, func(w io.Writer) error { return k.write(w, text) })
	k.postpone(time.Since(begin))
	if err != nil {
		return err
	}
	if k.state != nil {
		err = k.state.Close()
	}
	k.state, k.unsent, k.saved = state, false, k.kept.At
	if k.bar.log != nil {
		k.bar.log.Info("checkpoint", "pass", k.saved.Pass, "rows", k.saved.Rows)
	}
	return errors.Join(err, k.place(passes))
}

func (k *keeper) write(w io.Writer, text []byte) error {
	if err := binary.Write(w, binary.LittleEndian, int64(len(text))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if k.sum != nil {
		if _, err := k.sum.WriteTo(w); err != nil {
			return err
		}
	}
	for _, p := range k.passes {
		if _, err := io.Copy(w, k.reader(p)); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) reader(p part) io.Reader {
	if p.data != nil {
		return bytes.NewReader(p.data)
	}
	return io.NewSectionReader(k.state, p.at, p.size)
}

// postpone sets when the next state is due, after one that took so long to write.
func (k *keeper) postpone(took time.Duration) { k.next = time.Now().Add(max(k.every, 10*took)) }

// Due is that of [ridge.Journal].
func (k *keeper) Due() bool { return !time.Now().Before(k.next) }

// saveDue saves if it is time to. What goes wrong is told and the run goes on: the
// last state stays, and the next may be written.
func (k *keeper) saveDue() {
	if k.unsent = true; k.Due() {
		k.saveNow()
	}
}

// saveNow saves; what goes wrong is told.
func (k *keeper) saveNow() {
	if err := k.save(); err != nil {
		k.tell(slog.LevelWarn, fmt.Sprintf("no checkpoint could be written, the last is of %v: %v", k.saved, err))
	}
}

// tell writes a line to standard error.
func (k *keeper) tell(level slog.Level, message string) {
	if k.follows && level < slog.LevelWarn {
		return
	}
	if k.bar.log != nil {
		k.bar.log.Log(context.Background(), level, message, "pass", k.saved.Pass, "rows", k.saved.Rows)
		return
	}
	k.bar.finish()
	fmt.Fprintln(k.stderr, "fdridge: "+message)
}

// attach tells what the rows are that the state is of: prepared by the scaling that was
// learnt from them.
func (k *keeper) attach(d *data) {
	if k == nil {
		return
	}
	k.count = d.counted
	if n := k.kept.Nonzeros; n.All {
		d.counted.known, d.counted.nnz = true, n.Count
	} else {
		d.counted.resume, d.counted.keep = n, true
	}
	if k.kept.Scaling == nil && d.prep.Scaling != nil {
		k.kept.Scaling, k.unsent = d.prep.Scaling, true
	}
}

// scaling is what the state has of it, nil for nothing.
func (k *keeper) scaling() *dataset.Scaling {
	if k == nil {
		return nil
	}
	return k.kept.Scaling
}

// size is that of the sketch which an earlier run has found, 0 for none.
func (k *keeper) size() int {
	if k == nil {
		return 0
	}
	return k.kept.Size
}

// sized notes the size that was found.
func (k *keeper) sized(m int) {
	if k != nil && k.kept.Size == 0 {
		k.kept.Size, k.unsent = m, true
	}
}

// summarize is ridge.Summarize, of the rows of a team.
func (k *keeper) summarize(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, t *team, tell func(int64)) (*ridge.Summary, error) {
	if k == nil {
		sum, err := ridge.Summarize(ctx, src, cfg, tell)
		if err != nil {
			return nil, err
		}
		if t != nil {
			t.seen = sum.Rows()
		}
		return t.union(ctx, sum)
	}
	if !k.kept.Sketched {
		if err := k.sketch(ctx, src, cfg, tell); err != nil {
			return nil, err
		}
	}
	if t != nil {
		if !k.kept.Sketched {
			k.kept.Rows = k.sum.Rows()
			k.saveNow()
			k.unsent = false // merging uses up what is this rank's own
		}
		t.seen = k.kept.Rows
	}
	sum, err := t.union(ctx, k.sum)
	if err != nil {
		return nil, err
	}
	if !k.kept.Sketched {
		k.kept.Sketched, k.kept.At, k.unsent = true, position{1, 0}, true
		k.kept.Nonzeros = nonzeros{All: true, Count: k.count.nnz}
	}
	k.sum = sum
	return sum, nil
}

// sketch makes the rest of the pass over this process's rows.
func (k *keeper) sketch(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) error {
	if k.sum == nil {
		_, cfg.Dim, cfg.Targets = src.Dims()
		sum, err := ridge.NewSummary(cfg)
		if err != nil {
			return err
		}
		k.sum = sum
	}
	return k.sum.Continue(ctx, src, func(rows int64) {
		if tell != nil {
			tell(rows)
		}
		k.kept.At = position{0, rows}
		k.saveDue()
	})
}

// journal is k as a solver takes it.
func (k *keeper) journal() ridge.Journal {
	if k == nil {
		return nil
	}
	return k
}

// follow notes how far the passes are.
func (k *keeper) follow(tell func(ridge.Progress)) func(ridge.Progress) {
	if k == nil {
		return tell
	}
	return func(p ridge.Progress) {
		if tell != nil {
			tell(p)
		}
		k.kept.At = position{p.Pass, p.Rows}
	}
}

// Recorded is that of [ridge.Journal].
func (k *keeper) Recorded(pass int) ([]byte, error) {
	if pass > len(k.passes) {
		return nil, nil
	}
	return io.ReadAll(k.reader(k.passes[pass-1]))
}

// Record is that of [ridge.Journal].
func (k *keeper) Record(pass int, state []byte) error {
	k.passes = append(k.passes[:pass-1], part{data: state, size: int64(len(state))})
	k.saveDue()
	return nil
}

// end lets go of the checkpoint of a run that ended in err: a run that is done needs it
// no more, and neither does one that failed before it had come to anything. One that
// was interrupted, or has failed, writes a last state.
func (k *keeper) end(err error) error {
	switch {
	case k == nil:
		return err
	case err == nil:
		if err := errors.Join(k.closeState(), k.file.Remove()); err != nil {
			return fmt.Errorf("--checkpoint: the run is done, but %w", err)
		}
		return nil
	case k.kept.empty() && !k.unsent:
		return errors.Join(err, k.closeState(), k.file.Remove())
	}
	interrupted := errors.Is(err, context.Canceled)
	var unsaved error
	// What failed in the midst of sketching may have left half a block in the summary.
	if k.unsent && (interrupted || k.kept.Sketched) {
		unsaved = k.save()
	}
	if interrupted { // which is said here, with how to go on
		err = &interruptedError{fmt.Sprintf("interrupted; the same command goes on from checkpoint %s, %v", k.name, k.saved)}
	}
	if unsaved != nil {
		err = fmt.Errorf("%w; a later one could not be written: %w", err, unsaved)
	}
	return errors.Join(err, k.close())
}

func (k *keeper) closeState() error {
	if k.state == nil {
		return nil
	}
	return k.state.Close()
}

func (k *keeper) close() error { return errors.Join(k.closeState(), k.file.Close()) }

// unbinding are the flags that one run may have and one that goes on for it not: where
// to put results and what to show, and how far to go.
var unbinding = []string{"out", "coef", "report", "json", "save-sketch", "log-format", "threads", "checkpoint", "checkpoint-every", "tol", "max-passes", "help"}

// digested follows a file's name in the setting that has its digest.
const digested = ", its first and last 64 KiB"

// digest tells a file of so many bytes from another that has its size and time, as what
// was copied with its times may have: by the SHA-256 of its first and last 64 KiB. What
// cannot be read is told when it is opened, if it ever is: it may be a column's name.
func digest(name string, size int64) string {
	const end = 64 << 10
	f, err := open(name)
	if err != nil {
		return "not readable"
	}
	defer f.Close() // only read
	h := sha256.New()
	_, err = io.Copy(h, io.NewSectionReader(f, 0, min(end, size)))
	if rest := min(end, size-end); err == nil && rest > 0 {
		_, err = io.Copy(h, io.NewSectionReader(f, size-rest, rest))
	}
	if err != nil {
		return "not readable"
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// settings are what two runs must have in common.
func (o *fitOptions) settings(be engine.Backend) ([]setting, error) {
	var out []setting
	o.seen = map[string]dataset.Stamp{}
	o.runs.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(unbinding, f.Name) {
			out = append(out, setting{"--" + f.Name, f.Value.String()})
		}
	})
	for _, name := range o.files() {
		known := slices.ContainsFunc(out, func(s setting) bool { return s.Name == name })
		info, err := os.Stat(name)
		if err != nil || known { // a column need not be a file
			continue
		}
		stamp := dataset.StampOf(info)
		out = append(out, setting{name, stamp.String()})
		if o.seen[name] = stamp; info.Mode().IsRegular() && (o.kept.name != "" || o.mpi) {
			out = append(out, setting{name + digested, digest(name, info.Size())})
		}
	}
	t, err := engine.DefaultTuning()
	if err != nil {
		return nil, &inputError{err}
	}
	c := be.Capabilities()
	machine := fmt.Sprintf("%s, %s, kc %d, %d rows per shrink, %d per block", be.Name(), c["kernel"], t.KC.Value, t.Shrink.Value, t.GradientRows(1))
	if be.Name() != "purego" { // which computes the same whatever the threads
		machine += fmt.Sprintf(", version %s, %s threads", c["version"], c["threads"])
	}
	return append(out, setting{"the backend", machine}), nil
}
