package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/store"
)

// lastReads are the last reads of an Engine.
type lastReads struct{ e *Engine }

// Evidence returns the evidence about the finding in the last reads of its source and declaration.
func (r lastReads) Evidence(f *model.Finding) reconcile.Evidence {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	var v reconcile.Evidence
	source, ok := r.e.collected[f.Source]
	switch covered, why := source.snapshot.Covers(f.Kind, f.Place); {
	case !ok:
		v.Unread = fmt.Sprintf("source %s was not read yet", f.Source)
	case source.err != nil:
		v.Unread = fmt.Sprintf("source %s could not be read: %v", f.Source, source.err)
	case source.held:
		v.Unread = fmt.Sprintf("source %s lost many resources at once, and the next scan has to confirm that", f.Source)
	case !covered:
		v.Unread = fmt.Sprintf("%s in %s was not fully read: %s", f.Kind, f.Source, why)
	case source.snapshot.StaleIn(f.Kind, f.Place) != "":
		v.Unread = fmt.Sprintf("%s in %s may come from an old copy: %s", f.Kind, f.Source, source.snapshot.StaleIn(f.Kind, f.Place))
	case r.e.unsaved[f.Source]:
		v.Unread = fmt.Sprintf("the last scan of source %s could not be saved", f.Source)
	}
	for _, name := range r.declarationsOf(f) {
		r.declared(name, f, &v)
	}
	return v
}

// declarationsOf returns the declaration of a finding, or those that govern the source of a resource that none declares.
func (r lastReads) declarationsOf(f *model.Finding) (names []string) {
	if f.Declaration != "" {
		return []string{f.Declaration}
	}
	for _, d := range r.e.estate.Declarations {
		if slices.Contains(d.Governs, f.Source) {
			names = append(names, d.Name)
		}
	}
	return names
}

// declared adds to v the evidence about the finding in the last read of a declaration. The caller
// holds mu.
func (r lastReads) declared(name string, f *model.Finding, v *reconcile.Evidence) {
	l, ok := r.e.loaded[name]
	v.Revision = cmp.Or(l.declaration.Revision, v.Revision)
	switch {
	case v.Unread != "":
	case !ok:
		v.Unread = fmt.Sprintf("declaration %s was not read yet", name)
	case l.err != nil:
		v.Unread = fmt.Sprintf("declaration %s could not be read: %v", name, l.err)
	case len(l.declaration.Problems) > 0:
		v.Unread = fmt.Sprintf("a part of declaration %s could not be read: %s", name, l.declaration.Problems[0].Reason)
	case l.declaration.Revision == "":
		r.withoutCommit(name, f, v)
	}
	v.Nondeterministic = cmp.Or(v.Nondeterministic, nondeterministic(name, &l.declaration))
	if f.Declaration == "" && l.declaration.Inventory {
		return // that an inventory does not have it is no reason to delete it
	}
	for i := range l.declaration.Claims {
		if l.declaration.Claims[i].Kind == f.Kind {
			v.Declared++
		}
	}
}

// nondeterministic returns the reason why a declaration differs between equal inputs; "" if there
// is no evidence of that.
func nondeterministic(name string, d *model.Declaration) string {
	why := func(address string, v *model.Violation) string {
		if v.Verdict != model.Nondeterministic {
			return ""
		}
		return fmt.Sprintf("declaration %s is not deterministic, so that nothing is put back to it: %s: %s", name, address, v.Reason)
	}
	for i := range d.Claims {
		c := &d.Claims[i]
		for k := range c.Violations {
			if found := why(c.Address, &c.Violations[k]); found != "" {
				return found
			}
		}
	}
	for i := range d.Violations {
		if found := why(d.Violations[i].Address, &d.Violations[i].Violation); found != "" {
			return found
		}
	}
	return ""
}

// withoutCommit enters what proves a declaration that is not read from a commit. The caller holds mu.
func (r lastReads) withoutCommit(name string, f *model.Finding, v *reconcile.Evidence) {
	if f.Declaration == "" && r.e.loaded[name].declaration.Inventory {
		return
	}
	if v.Logged = r.isLogged(f); !v.Logged {
		v.Uncommitted = fmt.Sprintf("declaration %s is not read from a commit: use git, so that what is put back was reviewed", name)
	}
}

// isLogged reports whether the declaration of a finding keeps a log of its own that has who declared the resource.
func (r lastReads) isLogged(f *model.Finding) bool {
	at := r.claim(f)
	if at < 0 || !r.e.loaded[f.Declaration].declaration.Inventory {
		return false
	}
	events := r.e.loaded[f.Declaration].declaration.Claims[at].AuditEvents
	return len(events) > 0 && events[len(events)-1].Actor.Confidence == model.Exact
}

// Refresh reads the declarations of the finding again and runs a scan with them.
func (r lastReads) Refresh(ctx context.Context, f *model.Finding) error {
	_, err := r.e.Cycle(ctx, Due{Declarations: r.declarationsOf(f)})
	return err
}

// Reread reads the source again and runs a scan with it. It does nothing for a source that is the
// plan of a declaration, because the applier of that declaration makes a plan itself.
func (r lastReads) Reread(ctx context.Context, source string) error {
	if !slices.ContainsFunc(r.e.estate.Sources, func(s Source) bool { return s.Name == source }) {
		return nil
	}
	_, err := r.e.Cycle(ctx, Due{Sources: []string{source}})
	return err
}

// Subject returns the declared and live values of the resource of the finding. If the declaration
// no longer contains the resource, the error is a *reconcile.Refusal.
func (r lastReads) Subject(f *model.Finding) (reconcile.Subject, error) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	resources := r.e.collected[f.Source].snapshot.Resources
	live := resourceOf(resources, f.Key).Value
	if f.Declaration == "" {
		return reconcile.Subject{Finding: f, Live: live, UID: uids(resources)}, nil
	}
	l, i := r.e.loaded[f.Declaration], r.claim(f)
	if i < 0 {
		return reconcile.Subject{}, &reconcile.Refusal{Guard: "still-so", Why: fmt.Sprintf("declaration %s no longer declares it", f.Declaration)}
	}
	c := &l.declaration.Claims[i]
	stored := c.Value
	if claims := l.canonical[f.Source]; i < len(claims) { // the finding has its values
		stored = claims[i].Value
	}
	return reconcile.Subject{Finding: f, Lens: c.Lens, Declared: stored, Written: c.Value, Live: live, Revision: l.declaration.Revision, Opposed: r.opposed(f, live), UID: uids(resources), Plain: r.plain(f, c)}, nil
}

// opposed returns the other declarations that claim a different value than the live one for a field
// of the finding, sorted. It includes declarations whose claim was removed. The caller holds mu.
func (r lastReads) opposed(f *model.Finding, live model.Value) (names []string) {
	for i := range f.Changes {
		for _, claimed := range f.Changes[i].Claims {
			if claimed.Declaration == f.Declaration || slices.Contains(names, claimed.Declaration) {
				continue
			}
			claims := r.e.loaded[claimed.Declaration].declaration.Claims
			at := slices.IndexFunc(claims, func(c model.Claim) bool { return c.Address == claimed.Address })
			if at < 0 || r.deviates(&claims[at], f, live, cmp.Or(claimed.Path, f.Changes[i].Path)) {
				names = append(names, claimed.Declaration)
			}
		}
	}
	slices.Sort(names)
	return names
}

// deviates reports whether a live value differs from a claim at a path of the claim.
func (r lastReads) deviates(c *model.Claim, f *model.Finding, live model.Value, path string) bool {
	schema := r.schema(f)
	if c.Lens != nil {
		schema, live = c.Lens.Schema(), c.Lens.View(live)
	}
	return diff.Touches(diff.Deviations(schema, c.Value, live), path)
}

// uids returns the function that returns the UID of one of some resources, which are sorted by key.
func uids(resources []model.Resource) func(model.Ref) string {
	return func(ref model.Ref) string {
		if len(resources) == 0 {
			return ""
		}
		return resourceOf(resources, model.Key{Source: resources[0].Source, Kind: ref.Kind, ID: ref.ID}).Origin.UID
	}
}

// resourceOf returns one of some resources, which are sorted by key; the zero Resource if it is not among them.
func resourceOf(resources []model.Resource, key model.Key) model.Resource {
	at, ok := slices.BinarySearchFunc(resources, key, func(r model.Resource, k model.Key) int { return r.Compare(k) })
	if !ok {
		return model.Resource{}
	}
	return resources[at]
}

// plain returns a function that reads the declaration of a claim again without sealing secrets.
func (r lastReads) plain(f *model.Finding, sealed *model.Claim) func(context.Context) (plain, same model.Value, err error) {
	return func(ctx context.Context) (plain, same model.Value, err error) {
		at := slices.IndexFunc(r.e.estate.Declarations, func(d Declaration) bool { return d.Name == f.Declaration })
		if at < 0 || r.e.estate.Declarations[at].Loader == nil {
			return plain, same, &reconcile.Refusal{Guard: "still-so", Why: fmt.Sprintf("declaration %s is gone", f.Declaration)}
		}
		loader := r.e.estate.Declarations[at].Loader
		read := loader.Load
		if p, ok := loader.(declared.PlainLoader); ok {
			read = p.LoadPlain
		}
		open, err := read(ctx)
		if err != nil {
			return plain, same, r.e.estate.Secrets.Error(err)
		}
		closed, err := loader.Load(ctx)
		if err != nil {
			return plain, same, r.e.estate.Secrets.Error(err)
		}
		was, is := claimLike(&open, sealed), claimLike(&closed, sealed)
		if was == nil || is == nil || open.Revision != closed.Revision {
			return plain, same, &reconcile.Refusal{Guard: "still-so", Why: fmt.Sprintf("declaration %s changed meanwhile: look again", f.Declaration)}
		}
		again := r.e.estate.Secrets.Declaration(model.Declaration{Name: closed.Name, Claims: []model.Claim{*is}})
		return was.Value, again.Claims[0].Value, nil
	}
}

// claimLike returns the claim of a declaration on the resource of another claim; nil if there is none.
func claimLike(d *model.Declaration, o *model.Claim) *model.Claim {
	i := slices.IndexFunc(d.Claims, func(c model.Claim) bool {
		return c.Kind == o.Kind && c.Address == o.Address && c.Name == o.Name && c.Place == o.Place
	})
	if i < 0 {
		return nil
	}
	return &d.Claims[i]
}

// Acting configures actions.
type Acting struct {
	// Store stores actions. It is the store of the engine; nil disables actions.
	Store reconcile.Store
	Rules []reconcile.Rule
	// Windows lists the freezes in the configuration.
	Windows []reconcile.Window
	reconcile.Writers
	// Digest returns a keyed digest of a text.
	Digest func(text string) string
	// Identities returns the identities of a configured person in the systems, in the form
	// "kind:ID".
	Identities func(person string) []string
	// Current reports whether the configuration is still in use. If it is nil, it always is.
	Current func() bool
	// Lock is the lock that all engines of one store share.
	Lock reconcile.Lock
	// Stopping is closed when driftd stops; nil if it never does.
	Stopping <-chan struct{}
}

// recoverEvery is the interval at which actions with an unknown result are looked at again.
const recoverEvery = 15 * time.Second

// act proposes actions after scans and continues those that were interrupted.
func (e *Engine) act(ctx context.Context) {
	ticker := time.NewTicker(recoverEvery)
	defer ticker.Stop()
	for {
		if err := e.reconciler.Recover(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("an action is not over", "err", err)
		}
		e.observeActions()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			continue
		case source := <-e.changed:
			e.cycleAndLog(ctx, Due{Sources: []string{source}})
			continue
		case <-e.scanned:
		}
		open, err := e.store.OpenFindings()
		if err == nil {
			err = e.reconciler.Observe(ctx, open)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Error("propose actions", "err", err)
		}
	}
}

// Announcer returns a function that creates the messages about an action. It returns nil if policy
// is nil.
func Announcer(policy *notify.Policy, rules []reconcile.Rule, now func() time.Time) store.Announcer {
	if policy == nil {
		return nil
	}
	return func(a *reconcile.Action, f *model.Finding, threads []model.Thread) []model.Message {
		n, ok := a.Notice(needed(rules, a))
		if !ok {
			return nil
		}
		return policy.ActionMessages(&n, f, threads, now())
	}
}

// needed returns the number of approvals that an action needs; 1 if its rule is gone.
func needed(rules []reconcile.Rule, a *reconcile.Action) int {
	at := slices.IndexFunc(rules, func(r reconcile.Rule) bool { return r.Name == a.Rule })
	if at < 0 {
		return 1
	}
	return reconcile.Needed(&rules[at], a)
}

// Action returns the notice of the action with the ID. It returns an error if there is no such
// action.
func (e *Engine) Action(id string) (model.ActionNotice, error) {
	o, err := e.reconciler.Overview()
	if err != nil {
		return model.ActionNotice{}, err
	}
	a, err := reconcile.FindAction(o.Actions, id)
	if err != nil {
		return model.ActionNotice{}, err
	}
	n, _ := a.Notice(needed(e.reconciler.Rules, &a))
	return n, nil
}

// observeActions notifies the observer, and wakes the dispatcher: an action that changed may have queued
// messages.
func (e *Engine) observeActions() {
	if e.notifications.Policy != nil {
		e.notifications.Dispatcher.Wake()
	}
	o, err := e.Actions()
	if err != nil {
		e.log.Error("read actions", "err", err)
		return
	}
	e.observer.ObserveActions(o)
}

// acted makes act read the source of an action that is over.
func (e *Engine) acted(a reconcile.Action) {
	select {
	case e.changed <- e.reconciler.Reads(&a):
	default: // it is read on its schedule
	}
}

// PreviewAction returns the changes that an action for the finding would make, without making them.
// by is the person who asks.
func (e *Engine) PreviewAction(ctx context.Context, f *model.Finding, by string) (reconcile.Proposal, error) {
	return e.reconciler.Preview(ctx, f, by)
}

// Act proposes an action for the finding and returns it. It notifies the observer.
func (e *Engine) Act(ctx context.Context, f *model.Finding, q reconcile.Request) (reconcile.Action, error) {
	defer e.observeActions()
	return e.reconciler.Propose(ctx, f, q)
}

// AnswerAction approves, declines, cancels or settles the action with the ID, and returns its new
// state. It notifies the observer.
func (e *Engine) AnswerAction(ctx context.Context, id string, answer reconcile.Answer, q reconcile.Request) (reconcile.Action, error) {
	defer e.observeActions()
	return e.reconciler.Answer(ctx, id, answer, q)
}

// Control adds a control, which freezes actions, ends a freeze or resumes a rule. It notifies the
// observer.
func (e *Engine) Control(c reconcile.Control) (reconcile.Control, error) {
	defer e.observeActions()
	return e.reconciler.AddControl(c)
}

// Actions returns an overview of all actions, freezes and rules.
func (e *Engine) Actions() (reconcile.Overview, error) { return e.reconciler.Overview() }
