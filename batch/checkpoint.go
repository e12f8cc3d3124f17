package batch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/ridge"
)

// open locks the checkpoint of this rank and reads it. If there is none, open writes a checkpoint without results.
func (j *Job) open() error {
	ranks := 0
	j.name = j.opts.Checkpoint
	if t := j.opts.Transport; t != nil {
		ranks = t.Size()
		j.name = fmt.Sprintf("%s.rank%d-of-%d", j.name, t.Rank(), ranks)
	}
	if err := refuseOthers(j.opts.Checkpoint, ranks); err != nil {
		return &CheckpointError{err}
	}
	file, err := safefile.OpenCheckpoint(j.name)
	if err != nil {
		return &CheckpointError{err}
	}
	j.file = file
	if err := j.load(); err != nil {
		err = errors.Join(err, j.close(), file.Close())
		j.file = nil
		return &CheckpointError{err}
	}
	return nil
}

// load reads the last state in the checkpoint. It returns an error if the checkpoint belongs to another job.
func (j *Job) load() error {
	last, err := j.file.Load()
	if err != nil {
		return errtext.BadInput("%w; there is nothing to resume from, %s", err, beginAnew(j.name))
	}
	if last != nil {
		j.last = last
		if last.Damage != nil {
			j.notify(Damaged, last.Damage)
		}
		if err := j.read(j.opts.Backend); err != nil {
			return errtext.BadInput("%s: %w", last.Name(), err)
		}
	}
	now := j.opts.Settings
	if j.header.empty() {
		j.header = header{Version: version, Run: now}
		return j.save()
	}
	if d := differences(j.header.Run, now); len(d) > 0 {
		return errtext.BadInput("%s is of another run: %s; %s", last.Name(), strings.Join(d, "; "), beginAnew(j.name))
	}
	j.saved, j.useful = j.header.At, true
	j.postpone(0)
	j.notify(Resumed, nil)
	return nil
}

// beginAnew returns the advice to remove all files of the checkpoint. If only the newest file were removed, the job
// would resume from the state before it.
func beginAnew(name string) string {
	return fmt.Sprintf("remove %s to begin anew", strings.Join(safefile.KeptNames(name), " and "))
}

var rankSuffix = regexp.MustCompile(`^\.rank\d+-of-(\d+)(\.previous)?$`)

// refuseOthers returns an error if there is a checkpoint with this name of a job with another number of ranks.
func refuseOthers(name string, ranks int) error {
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), base)
		if !ok {
			continue
		}
		if ranks > 0 && (rest == "" || rest == ".previous") {
			return errtext.BadInput(
				"%s belongs to a run of one process, this is a run of %d ranks; %s",
				filepath.Join(dir, e.Name()),
				ranks,
				beginAnew(filepath.Join(dir, base)),
			)
		}
		if m := rankSuffix.FindStringSubmatch(rest); m != nil && m[1] != fmt.Sprint(ranks) {
			return errtext.BadInput(
				"%s belongs to a run of %s ranks, this one has %d; use as many ranks, or remove %s.rank*-of-%s* to begin anew",
				filepath.Join(dir, e.Name()),
				m[1],
				max(ranks, 1),
				filepath.Join(dir, base),
				m[1],
			)
		}
	}
	return nil
}

// follow returns a function that calls progress and also stores the position in the passes of the solver. The
// position is written to the checkpoint.
func (j *Job) follow(progress func(fdridge.Stage, ridge.Progress)) func(fdridge.Stage, ridge.Progress) {
	return func(s fdridge.Stage, p ridge.Progress) {
		if progress != nil {
			progress(s, p)
		}
		if s == fdridge.Refining {
			j.header.At = Position{p.Pass, p.Rows}
		}
	}
}

// A journal stores the state of each solver pass.
type journal struct{ *Job }

var _ ridge.Journal = journal{}

func (j journal) Due() bool { return j.due() }

func (j journal) Recorded(pass int) ([]byte, error) {
	if pass > len(j.passes) {
		return nil, nil
	}
	p := j.passes[pass-1]
	return io.ReadAll(io.NewSectionReader(p, 0, p.Size()))
}

func (j journal) Record(pass int, found []byte) error {
	j.passes = append(j.passes[:pass-1], io.NewSectionReader(bytes.NewReader(found), 0, int64(len(found))))
	j.saveIfDue()
	return nil
}

func (j *Job) due() bool {
	return j.file != nil && !time.Now().Before(j.next)
}

// postpone delays the next write by at least 10·took.
func (j *Job) postpone(took time.Duration) {
	j.next = time.Now().Add(max(j.opts.Every, 10*took))
}

func (j *Job) saveIfDue() {
	j.dirty = true
	if j.due() {
		j.trySave()
	}
}

// trySave saves the state. If this fails, it only calls Notify, and the job continues.
func (j *Job) trySave() {
	if err := j.save(); err != nil {
		j.notify(Unsaved, err)
	}
}

// save writes the current state.
func (j *Job) save() error {
	if j.file == nil {
		return nil
	}
	begin := time.Now()
	if j.count != nil {
		j.header.Nonzeros = j.count.countBefore(j.header.At.Rows)
	}
	err := j.state.save(j.file)
	j.postpone(time.Since(begin))
	if err != nil {
		return err
	}
	j.dirty = false
	j.saved = j.header.At
	j.useful = !j.header.empty()
	j.notify(Saved, nil)
	return nil
}

func (j *Job) notify(kind EventKind, err error) {
	if j.opts.Notify != nil {
		j.opts.Notify(Event{kind, j.name, j.saved, err})
	}
}

// end closes the checkpoint after the job has ended with the error err. It removes the checkpoint if err is nil, or
// if the checkpoint contains nothing to resume from.
func (j *Job) end(err error) error {
	if j.file == nil {
		return err
	}
	if err == nil {
		if err := errors.Join(j.close(), j.file.Remove()); err != nil {
			return &CheckpointError{fmt.Errorf("the run is done, but %w", err)}
		}
		return nil
	}
	var unsaved error
	// If the pass that computes the sketch has failed, only a part of the last block may be in the sketch. Such a
	// sketch is not saved.
	if j.dirty && (isInterruption(err) || j.header.Sketched) {
		unsaved = j.save()
	}
	switch {
	case !j.useful && unsaved == nil:
		return errors.Join(err, j.close(), j.file.Remove())
	case isInterruption(err):
		return &InterruptedError{j.name, j.saved, errors.Join(unsaved, j.close(), j.file.Close()), err}
	case unsaved != nil:
		err = fmt.Errorf("%w; a later checkpoint could not be written: %w", err, unsaved)
	}
	return errors.Join(err, j.close(), j.file.Close())
}
