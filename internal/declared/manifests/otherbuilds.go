package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// otherBuilds has what Kustomizations of Flux build from repositories other than that of the declaration. A clone is locked
// while it is read, and two declarations may read each other's repository. So no two are read at the same time: a reader
// requests a build, and the declaration is read again after the build. Each ref names one commit in all readings.
// The methods for readers can be called on nil.
type otherBuilds struct {
	loader *loader
	box    *box.Box
	// head is the commit of the declaration's repository, and isRef whether refs named it in the first reading.
	head  string
	isRef map[string]bool
	// commits are those that refs named.
	commits map[checkout]string
	// made are the builds. Those of the declaration's repository are among them, so that they are made once.
	made   map[string]content
	wanted []otherBuild
	// rounds counts the readings.
	rounds  int
	outages outages
	// changes are the last changes of files. unclear are files that were read at two refs.
	changes map[string]gitrepo.Touch
	unclear map[string]bool
	revised time.Time
}

// An otherBuild is a build that is wanted.
type otherBuild struct {
	key   string
	at    checkout
	build func(*tree) (content, error)
	// fail returns the content of a build whose repository is not read.
	fail func(reason string) content
}

// maxOtherRounds bounds the repositories that lead from one to the other.
const maxOtherRounds = 20

// withOthers calls read until everything that it needs from other repositories was read.
func (l *loader) withOthers(ctx context.Context, read func(context.Context, *otherBuilds) error) (err error) {
	if len(l.others) == 0 || l.flux == nil {
		return read(ctx, nil)
	}
	b := l.openBox(l.config.AllowNetwork)
	defer func() { err = errors.Join(err, b.Close()) }()
	o := &otherBuilds{loader: l, box: b, isRef: map[string]bool{}, commits: map[checkout]string{}, made: map[string]content{}, changes: map[string]gitrepo.Touch{}, unclear: map[string]bool{}}
	for {
		o.rounds++
		if err := read(ctx, o); err != nil || !o.isWaiting() {
			return err
		}
		if err := o.read(ctx); err != nil {
			return err
		}
	}
}

// isWaiting reports whether a build is wanted.
func (o *otherBuilds) isWaiting() bool { return o != nil && len(o.wanted) > 0 }

// ref returns the ref to read the declaration's repository at.
func (o *otherBuilds) ref(configured string) string {
	if o == nil || o.head == "" {
		return configured
	}
	return o.head
}

// at records the commit of the declaration, and returns whether a ref names it as of the first reading.
func (o *otherBuilds) at(head string, is func(string) bool) func(string) bool {
	if o == nil {
		return is
	}
	o.head = head
	return func(ref string) bool {
		answer, known := o.isRef[ref]
		if !known {
			answer = is(ref)
			o.isRef[ref] = answer
		}
		return answer
	}
}

// get returns a build. If it is not there yet, it is made before the next reading.
func (o *otherBuilds) get(b otherBuild) content {
	if made, ok := o.made[b.key]; ok {
		return made.clone()
	}
	if o.rounds > maxOtherRounds {
		return b.fail(fmt.Sprintf("more than %d repositories lead from one to the other", maxOtherRounds))
	}
	if !slices.ContainsFunc(o.wanted, func(w otherBuild) bool { return w.key == b.key }) {
		o.wanted = append(o.wanted, b)
	}
	return content{}
}

// own makes a build of the declaration's repository, unless an earlier reading did.
func (o *otherBuilds) own(key string, build func() (content, error)) (content, error) {
	if o == nil {
		return build()
	}
	if made, ok := o.made[key]; ok {
		return made.clone(), nil
	}
	made, err := build()
	if err == nil && !made.passing {
		o.made[key] = made.clone()
	}
	return made, err
}

// read makes the wanted builds.
func (o *otherBuilds) read(ctx context.Context) error {
	for len(o.wanted) > 0 {
		now, later := takeFirst(o.wanted, func(b otherBuild) checkout { return b.at })
		o.wanted = later
		if err := o.checkout(ctx, now[0].at, now); err != nil {
			return err
		}
	}
	return nil
}

// checkout makes builds at one checkout. If it cannot be read, the builds fail, and there is no error.
func (o *otherBuilds) checkout(ctx context.Context, at checkout, builds []otherBuild) error {
	ref, again := o.commits[at]
	if !again {
		ref = at.ref
	}
	if !again && len(o.commits) >= maxCheckouts {
		o.fail(builds, fmt.Sprintf("driftd reads %d refs of other repositories at most", maxCheckouts))
		return nil
	}
	var failed error
	err := o.outages.read(ctx, at, at.repository.Repository, ref, func(reading context.Context, c gitrepo.Commit) error {
		failed = nil // a second call follows damage
		t := o.loader.otherTree(reading, at.repository, c)
		t.others = o
		var files []string
		for _, b := range builds {
			made, err := b.build(t)
			if err != nil {
				failed = err
				return err
			}
			files = append(files, made.files()...)
			o.made[b.key] = made
		}
		o.addChanges(t.lastChanges(reading, files))
		o.commits[at] = c.Hash
		if c.When.After(o.revised) {
			o.revised = c.When
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("read %s: %w", at.repository.URL(), ctx.Err())
	case failed != nil && errors.Is(err, failed):
		return err
	case err != nil:
		o.fail(builds, shown(err.Error()))
	}
	return nil
}

// fail records that builds cannot be made.
func (o *otherBuilds) fail(builds []otherBuild, reason string) {
	for _, b := range builds {
		o.made[b.key] = b.fail(reason)
	}
}

func (o *otherBuilds) addChanges(changes map[string]gitrepo.Touch) {
	for name, change := range changes {
		if other, twice := o.changes[name]; twice && other.Commit != change.Commit {
			o.unclear[name] = true
		}
		o.changes[name] = change
	}
	maps.DeleteFunc(o.changes, func(name string, _ gitrepo.Touch) bool { return o.unclear[name] })
}

// lastChanges returns the last commits that changed files of other repositories.
func (o *otherBuilds) lastChanges() map[string]gitrepo.Touch {
	if o == nil {
		return nil
	}
	return o.changes
}

// lastRevised returns the time of the last commit that was read; own is that of the declaration.
func (o *otherBuilds) lastRevised(own time.Time) time.Time {
	if o == nil || own.IsZero() || own.After(o.revised) {
		return own
	}
	return o.revised
}

// otherKey returns the key of a build of a Kustomization at a checkout.
func otherKey(at checkout, b fluxBuild, source object) (string, error) {
	key, err := json.Marshal([]any{at.repository.URL(), at.ref, b.address, string(b.by.value.AppendJSON(nil)), string(source.value.AppendJSON(nil)), b.variables})
	if err != nil {
		return "", fmt.Errorf("encode a build: %w", err)
	}
	return string(key), nil
}

// openBox returns a box for builds, and closeBox closes it after a reading. That of otherBuilds is open for all readings.
func (o *otherBuilds) openBox(l *loader) *box.Box {
	if o == nil {
		return l.openBox(l.config.AllowNetwork)
	}
	return o.box
}

func (o *otherBuilds) closeBox(b *box.Box) error {
	if o == nil {
		return b.Close()
	}
	return nil
}
