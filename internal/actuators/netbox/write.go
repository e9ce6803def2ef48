package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/reconcile"
)

// A change is a change of a NetBox that is planned and not made.
type change struct {
	actuator *Actuator
	targets  []target
	// note is the text for the changelog; "" for none.
	note  string
	again func(ctx context.Context, also []reconcile.Covered) error
	plan  reconcile.Plan
}

// Plan implements reconcile.Change.
func (c *change) Plan() reconcile.Plan { return c.plan }

// Rehearse implements reconcile.Change. It does nothing, because NetBox has no dry run.
func (c *change) Rehearse(context.Context) error { return nil }

// Write implements reconcile.Change. It reads the live resource again, and then changes the objects one
// after another.
func (c *change) Write(ctx context.Context) (reconcile.Receipt, error) {
	if err := c.again(ctx, nil); err != nil {
		return reconcile.Receipt{}, err
	}
	receipt := reconcile.Receipt{Status: http.StatusOK, At: c.actuator.options.Now()}
	var err error
	connected := c.actuator.with(func(s *netboxapi.Session) error {
		err = c.send(ctx, s, &receipt)
		return nil
	})
	if connected != nil {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: connected}
	}
	return receipt, err
}

// send changes the objects, each with one request. After an error, nothing more is sent.
func (c *change) send(ctx context.Context, s *netboxapi.Session, receipt *reconcile.Receipt) error {
	a := c.actuator
	for i := range c.targets {
		if holder := c.targets[i].holder; holder != nil {
			if err := a.untouched(ctx, s, holder); err != nil {
				return &reconcile.NotWrittenError{Err: a.explain(err, holder)}
			}
		}
	}
	for i, group := range c.objects() {
		o := &group[0].object
		err := a.unchanged(ctx, s, o)
		refused := err != nil
		var after model.Value
		if err == nil {
			after, err = s.Patch(ctx, o.path, o.tag, c.fields(group))
			receipt.Status = max(http.StatusOK, httpclient.Code(err))
			refused = isRefused(err)
		}
		switch {
		case err != nil && refused && i == 0:
			return &reconcile.NotWrittenError{Err: a.explain(err, o)}
		case err != nil && refused:
			receipt.Unexpected = []string{fmt.Sprintf("%s was not changed: %v: what was changed before is left", o.path, err)}
			return nil
		case err != nil:
			return a.explain(err, o)
		}
		receipt.Unexpected = append(receipt.Unexpected, more(o, after, group)...)
	}
	return nil
}

// objects returns the targets of each object, in the order of the plan.
func (c *change) objects() (groups [][]target) {
	for _, t := range c.targets {
		at := slices.IndexFunc(groups, func(g []target) bool { return g[0].object.path == t.object.path })
		if at < 0 {
			groups = append(groups, []target{t})
			continue
		}
		groups[at] = append(groups[at], t)
	}
	return groups
}

// fields returns the body of the request for an object.
func (c *change) fields(targets []target) model.Value {
	body := model.MapOf()
	for i := range targets {
		body = body.With(targets[i].name, targets[i].value)
	}
	if c.note != "" {
		body = body.With("changelog_message", model.StringOf(c.note))
	}
	return body
}

// errChanged is the error of an object that is not as it was planned for.
var errChanged = errors.New("it was changed in NetBox since it was read")

// unchanged returns an error if an object without an entity tag was changed since it was read.
func (a *Actuator) unchanged(ctx context.Context, s *netboxapi.Session, o *object) error {
	if o.tag != "" {
		return nil
	}
	return a.untouched(ctx, s, o)
}

// untouched reads an object again, and compares the time of its last change.
func (a *Actuator) untouched(ctx context.Context, s *netboxapi.Session, o *object) error {
	now, _, err := a.read(ctx, s, o.path)
	if err == nil && !now.value.At("last_updated").Equal(o.value.At("last_updated")) {
		return errChanged
	}
	return err
}

// isRefused reports whether an error is an answer of NetBox itself after which nothing was changed, and not of a proxy.
func isRefused(err error) bool {
	status := httpclient.StatusOf(err)
	return status != nil && status.Own && slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusConflict, http.StatusPreconditionFailed}, status.Code)
}

// explain adds the next step to the error of a write of an object.
func (a *Actuator) explain(err error, o *object) error {
	var hint string
	switch code := httpclient.Code(err); {
	case errors.Is(err, errChanged), code == http.StatusPreconditionFailed, code == http.StatusNotFound && isRefused(err):
		hint = "look again"
	case code == http.StatusForbidden && !netboxapi.TokenRejected(err):
		_, kind, _ := strings.Cut(strings.TrimSuffix(o.list(), "/"), "/")
		hint = "give the token the permission to change " + strings.ReplaceAll(kind, "-", " ") + ", and enable writing for it (NetBox: Admin > API Tokens)"
	case code == http.StatusBadRequest:
		hint = "NetBox does not take the value: look at the object there"
	default:
		return a.options.Access.Explain(err)
	}
	return &httpclient.Error{Server: a.options.Access.URL, Err: err, Hint: hint, Writing: true}
}

// derived are fields that NetBox itself changes with others.
const derived = " last_updated display display_url url config_context "

// more returns the fields that an answer has changed besides those that were sent, in words.
func more(before *object, after model.Value, sent []target) (words []string) {
	for _, f := range after.Fields() {
		// An interface also has the address of its primary MAC address.
		ours := slices.ContainsFunc(sent, func(t target) bool { return t.name == f.Name || t.name == primaryField && f.Name == macField })
		if !ours && !strings.Contains(derived, " "+f.Name+" ") && !same(before.value.At(f.Name), f.Value) {
			words = append(words, before.path+" "+f.Name)
		}
	}
	return words
}
