package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
)

// Plan implements reconcile.Actuator. The guards are evaluated in this order: kind, declarer,
// still-so.
func (a *Actuator) Plan(ctx context.Context, s reconcile.Subject) (reconcile.Change, error) {
	writer, reader, err := a.clients()
	if err != nil {
		return nil, err
	}
	c, err := a.plan(ctx, writer, reader, s)
	if err != nil {
		a.drop(err)
		return nil, a.public(writer, err)
	}
	return c, nil
}

func (a *Actuator) plan(ctx context.Context, writer, reader *client, s reconcile.Subject) (reconcile.Change, error) {
	f := s.Finding
	if r := a.checkKind(&s); r != nil {
		return nil, r
	}
	if s.Lens != nil {
		return nil, refuse(guardDeclarer, "it is declared in another form than the cluster has, as by Terraform: apply declaration %s with its own tool", f.Declaration)
	}
	where, err := a.find(ctx, reader, f.Key)
	if err != nil {
		return nil, err
	}
	o, err := a.read(ctx, writer, where)
	if err != nil {
		return nil, err
	}
	b := &base{actuator: a, writer: writer, subject: where, finding: f, source: s}
	if b.plan, err = a.planned(ctx, writer); err != nil {
		return nil, err
	}
	switch {
	case f.Verdict == model.Missing && o != nil:
		return nil, refuse(guardStillSo, "it exists again: look again")
	case f.Verdict == model.Missing:
		return a.planCreation(ctx, reader, b)
	case o == nil:
		return nil, refuse(guardStillSo, "it does not exist any more: look again")
	}
	return a.planPatch(ctx, reader, b, o)
}

// planned returns a plan with the user that writes and the address of the server.
func (a *Actuator) planned(ctx context.Context, writer *client) (reconcile.Plan, error) {
	identity, err := a.who(ctx, writer)
	return reconcile.Plan{Endpoint: writer.server(), Identity: identity}, err
}

// A base is what changes of all kinds consist of.
type base struct {
	actuator *Actuator
	writer   *client
	subject  *subject
	finding  *model.Finding
	source   reconcile.Subject
	plan     reconcile.Plan
	// plain is the declared value without sealing, and sealed the same value; nil before they
	// were needed.
	plain, sealed *model.Value
	// redactor removes the secrets of the object and of the change from errors.
	redactor redactor
}

// Plan implements reconcile.Change.
func (b *base) Plan() reconcile.Plan { return b.plan }

func (a *Actuator) planPatch(ctx context.Context, reader *client, b *base, o *object) (reconcile.Change, error) {
	if r := checkObject(b.finding, o); r != nil {
		return nil, r
	}
	if r := a.checkReplicas(ctx, reader, b.subject, o, b.finding); r != nil {
		return nil, r
	}
	asked, r := a.checkDeclarer(ctx, reader, b.subject, o.raw)
	if r != nil {
		return nil, r
	}
	if err := a.checkCluster(ctx, reader, b, o); err != nil {
		return nil, err
	}
	if len(b.finding.Changes) == 0 {
		return nil, refuse(guardKind, "the finding names no field")
	}
	c := &patch{base: b, before: o}
	b.redactor.add(o.raw, o.sealed.Value)
	b.plan.UID = o.uid()
	b.plan.Restarts = restarts(b.subject, o, b.finding)
	changes := jsonpatch.Patch{Live: &o.raw, Declared: &b.source.Declared}
	changes.Test(o.raw.At("metadata", "uid"), "metadata", "uid")
	if generation, ok := o.raw.At("metadata").Get("generation"); ok {
		changes.Test(generation, "metadata", "generation")
	}
	if err := b.setAll(ctx, &changes, o); err != nil {
		return nil, err
	}
	b.redactor.sealed = b.redactor.sealed || hasSecret(b.plan.Changes)
	if asked != nil {
		return a.planRequest(ctx, reader, b, asked)
	}
	b.plan.HandBack = declarer(o, b.source.Declared, b.finding)
	c.expected = changes.Result()
	var err error
	if c.body, err = encoded(changes.Text()); err != nil {
		return nil, err
	}
	return c, nil
}

// checkCluster compares the object with the last read of the source, and with what the credentials for
// reading see: all must be those of one cluster.
func (a *Actuator) checkCluster(ctx context.Context, reader *client, b *base, o *object) error {
	switch b.source.UID(model.Ref{Kind: b.finding.Kind, ID: b.finding.Key.ID}) {
	case "":
		return refuse(guardStillSo, "the last read of source %s does not have it: look again", b.finding.Source)
	case o.uid():
	default:
		return refuse(guardStillSo, "it is not the object that the last read of source %s has: it was deleted and created again, or %s leads to another cluster: look again", b.finding.Source, b.writer.server())
	}
	if reader == b.writer {
		return nil
	}
	other, err := a.read(ctx, reader, b.subject)
	switch {
	case err != nil:
		return err
	case other == nil || other.uid() != o.uid():
		return refuse(guardStillSo, "the credentials for writing lead to another cluster than those for reading: %s and %s", b.writer.server(), reader.server())
	}
	return nil
}

// setAll adds all changes of the finding to the patch and to the plan.
func (b *base) setAll(ctx context.Context, p *jsonpatch.Patch, o *object) error {
	var lists []string
	for i := range b.finding.Changes {
		c := &b.finding.Changes[i]
		list, _, inList := cutIndex(c.Path)
		switch {
		case !inList:
			if err := b.set(ctx, p, o, c); err != nil {
				return err
			}
			b.plan.Changes = append(b.plan.Changes, reconcile.FieldChange{Path: c.Path, Old: c.Live, New: c.Declared})
		case !slices.Contains(lists, list):
			lists = append(lists, list)
			if err := b.setList(p, o, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// set adds one change of the finding to the patch.
func (b *base) set(ctx context.Context, p *jsonpatch.Patch, o *object, c *model.Change) error {
	held, why := jsonpatch.Find(o.sealed.Value, c.Path)
	if why != "" {
		return refuse(guardStillSo, "%s: %s", c.Path, why)
	}
	if !b.same(held, c.Live) {
		return refuse(guardStillSo, "%s changed since the scan: look again", c.Path)
	}
	raw, why := jsonpatch.Find(o.raw, c.Path)
	switch {
	case why != "":
		return refuse(guardStillSo, "%s: %s", c.Path, why)
	case (raw == nil) != (held == nil), raw != nil && !isSealed(held) && !raw.Equal(*held):
		return refuse(guardStillSo, "%s: the API server has the value in another form", c.Path)
	}
	wanted, err := b.wanted(ctx, c)
	if err != nil {
		return err
	}
	if why := p.Set(c.Path, raw, wanted); why != "" {
		return refuse(guardStillSo, "%s: %s", c.Path, why)
	}
	return nil
}

// same reports whether a sealed value is the one of a finding, which may be sealed because the
// declared one is.
func (b *base) same(held, found *model.Value) bool {
	return model.SameValue(held, found) || held != nil && found != nil && b.actuator.options.Room.Sealer().SealLike(*held, *found).Equal(*found)
}

// isSealed reports whether parts of a value are sealed.
func isSealed(v *model.Value) bool { return v != nil && (v.HasSecret() || secret.HasMark(*v)) }

// hasSecret reports whether a change has a sealed value.
func hasSecret(changes []reconcile.FieldChange) bool {
	return slices.ContainsFunc(changes, func(c reconcile.FieldChange) bool { return isSealed(c.Old) || isSealed(c.New) })
}

// wanted returns the value to write, without sealing; nil if the field is to be removed.
func (b *base) wanted(ctx context.Context, c *model.Change) (*model.Value, error) {
	declared, why := jsonpatch.FindDeclared(b.source.Declared, c.Path)
	if why != "" || !b.same(declared, c.Declared) {
		return nil, refuse(guardStillSo, "%s is not declared any more as the finding says: look again", c.Path)
	}
	if !isSealed(c.Declared) {
		return c.Declared, nil
	}
	if err := b.unseal(ctx); err != nil {
		return nil, err
	}
	sealed, _ := jsonpatch.FindDeclared(*b.sealed, c.Path)
	plain, _ := jsonpatch.FindDeclared(*b.plain, c.Path)
	if plain == nil || isSealed(plain) || !b.same(sealed, c.Declared) {
		return nil, refuse(guardStillSo, "the declared secret %s changed since the scan: look again", c.Path)
	}
	return plain, nil
}

// unseal reads the declaration again, once.
func (b *base) unseal(ctx context.Context) error {
	if b.plain != nil {
		return nil
	}
	if b.source.Plain == nil {
		return refuse(guardStillSo, "it has a secret, and its declaration cannot be read again")
	}
	plain, sealed, err := b.source.Plain(ctx)
	if err != nil {
		return fmt.Errorf("read the declaration again: %w", err)
	}
	b.plain, b.sealed = &plain, &sealed
	b.redactor.add(plain, sealed)
	return nil
}

// encoded returns JSON as Go's encoder writes it. The API server compares the text of a value that
// is tested with what that encoder makes of its own.
func encoded(text string) ([]byte, error) {
	var tree any
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return json.Marshal(tree)
}

// restarts returns what restarts if a template of pods changes; "" if none does. The number of
// replicas of what is scaled automatically is left out, since it may change until the plan is
// carried out.
func restarts(s *subject, o *object, f *model.Finding) string {
	template := false
	for i := range f.Changes {
		template = template || strings.HasPrefix(f.Changes[i].Path, "spec.template.")
	}
	if !template {
		return ""
	}
	text := fmt.Sprintf("the pods of %s %s", s.kind, s.name)
	replicas, ok := o.raw.At("spec").Get("replicas")
	if !ok || scaledBy(o, "spec.replicas") != "" {
		return text
	}
	return fmt.Sprintf("%s (%s replicas)", text, replicas.Text())
}
