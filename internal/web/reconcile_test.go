package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// An actor has one action for finding c0ff11c7, which carol asked for.
type actor struct {
	state    reconcile.State
	by       string
	asked    []reconcile.Request
	answered []reconcile.Answer
	controls []reconcile.Control
}

func (a *actor) action() reconcile.Action {
	old, fresh := model.StringOf(`<b>"evil"`), model.StringOf("web:1")
	hidden := model.NewSealer([]byte("key")).Seal("hunter2")
	made := reconcile.Action{ID: "ac7100", Finding: "c0ff11c7", Subject: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/<web>"},
		Rule: "shop", By: "carol", Reason: "wrong image", Drift: model.Actor{Name: "mallory"}, Revision: "c0ffee", At: earlier(time.Hour), Digest: "d19e57",
		Plan: reconcile.Plan{Also: []reconcile.Covered{{Finding: "0ther", Subject: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/db<b>"}}}, Endpoint: "https://10.0.0.1", Identity: "writer", Restarts: "2 pods", Unseen: true, Records: true, Requests: []string{"add, disabled: <b>rule</b>", "move it to position 1"},
			Changes: []reconcile.FieldChange{{Path: "spec.image", Old: &old, New: &fresh}, {Path: "spec.password", Old: &hidden, New: &hidden}}}}
	made.Enter(reconcile.Proposed, earlier(time.Hour), "")
	if a.state != reconcile.Proposed {
		made.EnterBy(a.state, earlier(time.Minute), a.by, "something else writes it")
	}
	return made
}

func (a *actor) PreviewAction(context.Context, *model.Finding, string) (reconcile.Proposal, error) {
	return reconcile.Proposal{}, nil
}

func (a *actor) Act(_ context.Context, _ *model.Finding, q reconcile.Request) (reconcile.Action, error) {
	a.asked = append(a.asked, q)
	return a.action(), nil
}

func (a *actor) AnswerAction(_ context.Context, _ string, answer reconcile.Answer, q reconcile.Request) (reconcile.Action, error) {
	a.asked, a.answered = append(a.asked, q), append(a.answered, answer)
	if q.By == "carol" {
		return reconcile.Action{}, &reconcile.Refusal{Guard: "person", Why: "carol asked for it"}
	}
	made := a.action()
	made.Enter(reconcile.Converged, now(), "")
	return made, nil
}

func (a *actor) Control(c reconcile.Control) (reconcile.Control, error) {
	a.controls = append(a.controls, c)
	return c, nil
}

func (a *actor) Actions() (reconcile.Overview, error) {
	return reconcile.Overview{Actions: []reconcile.Action{a.action()}, Rules: []reconcile.RuleStatus{{Name: "shop", Stopped: "action ac7100 is not-converged", Fights: 2}},
		Held: []reconcile.Held{{Finding: "c0ff11c7", Rule: "shop", Guard: "age", Why: "it <b>changed</b> 20s ago"}, {Finding: "c0ff11c8", Rule: "shop", Guard: "age", Why: "it changed 30s ago"}},
		Freezes: []reconcile.Control{{By: "mara", Until: now().Add(time.Hour), Reason: "sale"},
			{ID: "reconcile.freezes[0]", Source: "prod", Until: now().Add(time.Hour), Reason: "weekend"}}}, nil
}

func actingHouse(t *testing.T, state reconcile.State) (*fakeSite, *actor) {
	t.Helper()
	a := &actor{state: state}
	return newHouse(t, filled(t), func(o *Options) { o.API.Acting = a }), a
}

func TestActionPages(t *testing.T) {
	t.Parallel()
	h, _ := actingHouse(t, reconcile.NotConverged)
	golden(t, "actions", h.page(t, "/actions"))
	proposed, _ := actingHouse(t, reconcile.Proposed)
	golden(t, "action", proposed.page(t, "/findings/c0ff11c7"))
	for _, page := range []string{h.page(t, "/actions"), proposed.page(t, "/findings/c0ff11c7")} {
		if strings.Contains(page, "<b>") || strings.Contains(page, "hunter2") {
			t.Error("a value is not escaped, or a secret is shown")
		}
	}
}

func TestAnswerOnThePage(t *testing.T) {
	t.Parallel()
	person := func(name string, role access.Role) access.Visitor {
		return access.Visitor{Name: name, Person: name, Role: role, Via: access.Session}
	}
	send := url.Values{"csrf": {"t0ken"}, "digest": {"d19e57"}, "reason": {"yes"}}
	for name, c := range map[string]struct {
		who    access.Visitor
		target string
		form   url.Values
		status int
		want   string
		asked  int
	}{
		"approve":           {person("mara", access.Approver), "/actions/ac71/approve", send, http.StatusSeeOther, "/findings/c0ff11c7?notice=converged", 1},
		"by the requester":  {person("carol", access.Approver), "/actions/ac71/approve", send, http.StatusConflict, "carol asked for it", 1},
		"by an operator":    {person("mara", access.Operator), "/actions/ac71/approve", send, http.StatusForbidden, "approver", 0},
		"without a digest":  {person("mara", access.Approver), "/actions/ac71/approve", url.Values{"csrf": {"t0ken"}}, http.StatusBadRequest, "digest", 0},
		"from another page": {person("mara", access.Approver), "/actions/ac71/approve", url.Values{"digest": {"d19e57"}}, http.StatusForbidden, "not sent by one of our pages", 0},
		"decline":           {person("mara", access.Operator), "/actions/ac71/decline", send, http.StatusSeeOther, "notice=", 1},
		"by a viewer":       {person("mara", access.Viewer), "/actions/ac71/decline", send, http.StatusForbidden, "operator", 0},
		"propose":           {person("mara", access.Operator), "/findings/c0ff11c7/reconcile", send, http.StatusSeeOther, "/findings/c0ff11c7?notice=proposed", 1},
		"by no person":      {access.Visitor{Name: "root", Unmapped: "unix:root", Role: access.Operator, Via: access.Session}, "/findings/c0ff11c7/reconcile", send, http.StatusConflict, "must be a person", 0},
		"without a reason":  {person("mara", access.Operator), "/findings/c0ff11c7/reconcile", url.Values{"csrf": {"t0ken"}}, http.StatusBadRequest, "reason", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, a := actingHouse(t, reconcile.Proposed)
			answer := h.askAs(t, c.who, http.MethodPost, c.target, c.form, nil)
			said := answer.Body + answer.Header.Get("Location")
			if answer.StatusCode != c.status || !strings.Contains(said, c.want) || len(a.asked) != c.asked {
				t.Errorf("%s, asked %d times, want %d, %d and %q:\n%.600s", answer.Status, len(a.asked), c.status, c.asked, c.want, said)
			}
		})
	}
}

// TestControlOnThePage checks the forms of the page of actions.
func TestControlOnThePage(t *testing.T) {
	t.Parallel()
	visitor := func(role access.Role) access.Visitor {
		return access.Visitor{Name: "mara", Person: "mara", Role: role, Via: access.Session}
	}
	form := func(pairs ...string) url.Values {
		v := url.Values{"csrf": {"t0ken"}, "reason": {"a sale"}}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v
	}
	for name, c := range map[string]struct {
		role   access.Role
		form   url.Values
		status int
		want   string
		made   int
	}{
		"freeze":              {access.Operator, form("kind", "freeze", "until", "2h", "source", " prod "), http.StatusSeeOther, "/actions?notice=controlled", 1},
		"freeze by a viewer":  {access.Viewer, form("kind", "freeze", "until", "2h"), http.StatusForbidden, "operator", 0},
		"freeze without end":  {access.Operator, form("kind", "freeze"), http.StatusBadRequest, "a freeze needs an end", 0},
		"without a reason":    {access.Operator, form("kind", "freeze", "until", "2h", "reason", " "), http.StatusBadRequest, "a reason is missing", 0},
		"thaw":                {access.Approver, form("kind", "thaw"), http.StatusSeeOther, "/actions?notice=controlled", 1},
		"thaw by an operator": {access.Operator, form("kind", "thaw"), http.StatusForbidden, "approver", 0},
		"resume":              {access.Approver, form("kind", "resume", "rule", "shop"), http.StatusSeeOther, "/actions?notice=controlled", 1},
		"resume nothing":      {access.Approver, form("kind", "resume"), http.StatusBadRequest, "no rule is named", 0},
		"from another page":   {access.Approver, form("kind", "thaw", "csrf", "other"), http.StatusForbidden, "not sent by one of our pages", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, a := actingHouse(t, reconcile.NotConverged)
			answer := h.askAs(t, visitor(c.role), http.MethodPost, "/controls", c.form, nil)
			said := answer.Body + answer.Header.Get("Location")
			if answer.StatusCode != c.status || !strings.Contains(said, c.want) || len(a.controls) != c.made {
				t.Errorf("%s, %d controls, want %d, %d and %q:\n%.600s", answer.Status, len(a.controls), c.status, c.made, c.want, said)
			}
			if c.made > 0 && (a.controls[0].By != "mara" || strings.Contains(a.controls[0].Source, " ")) {
				t.Errorf("it is %+v", a.controls[0])
			}
		})
	}
	h, _ := actingHouse(t, reconcile.NotConverged)
	page := h.askAs(t, visitor(access.Approver), http.MethodGet, "/actions", nil, nil).Body
	for _, kind := range []string{"freeze", "thaw", "resume"} {
		if n := strings.Count(page, `name="kind" value="`+kind+`"`); n != 1 {
			t.Errorf("an approver has %d forms to %s", n, kind)
		}
	}
	page = h.askAs(t, visitor(access.Viewer), http.MethodGet, "/actions", nil, nil).Body
	if strings.Contains(page, `action="/controls"`) {
		t.Error("a viewer has a form")
	}
}

// TestSettleOnThePage checks that an approver who is a person may enter what came of an action that may have written, and
// that the page names who did.
func TestSettleOnThePage(t *testing.T) {
	t.Parallel()
	mara := access.Visitor{Name: "mara", Person: "mara", Role: access.Approver, Via: access.Session}
	root := access.Visitor{Name: "root", Unmapped: "unix:root", Role: access.Approver, Via: access.Session}
	carol := access.Visitor{Name: "carol", Person: "carol", Role: access.Operator, Via: access.Session}
	const form = `action="/actions/ac7100/settle"`
	for name, c := range map[string]struct {
		who   access.Visitor
		state reconcile.State
		want  bool
	}{
		"unknown":      {mara, reconcile.Unknown, true},
		"armed":        {mara, reconcile.Armed, true},
		"proposed":     {mara, reconcile.Proposed, false},
		"over":         {mara, reconcile.Failed, false},
		"no person":    {root, reconcile.Unknown, false},
		"the operator": {carol, reconcile.Unknown, false},
	} {
		h, _ := actingHouse(t, c.state)
		answer := h.askAs(t, c.who, http.MethodGet, "/findings/c0ff11c7", nil, nil)
		if got := strings.Contains(answer.Body, form); got != c.want {
			t.Errorf("%s: the form is there: %t", name, got)
		}
	}
	h, a := actingHouse(t, reconcile.Unknown)
	send := url.Values{"csrf": {"t0ken"}, "as": {"failed"}, "reason": {"gone"}}
	if answer := h.askAs(t, carol, http.MethodPost, "/actions/ac71/settle", send, nil); answer.StatusCode != http.StatusForbidden {
		t.Errorf("an operator: %s", answer.Status)
	}
	answer := h.askAs(t, mara, http.MethodPost, "/actions/ac71/settle", send, nil)
	if answer.StatusCode != http.StatusSeeOther || len(a.asked) != 1 || a.asked[0].As != reconcile.Failed || a.asked[0].Reason != "gone" || a.answered[0] != reconcile.SettleAnswer {
		t.Errorf("%s: asked %+v", answer.Status, a.asked)
	}
	h, a = actingHouse(t, reconcile.Failed)
	a.by = "mara<"
	if page := h.page(t, "/findings/c0ff11c7"); !strings.Contains(page, "failed by <bdi>mara&lt;</bdi>") {
		t.Errorf("the page does not name who settled it: %s", page)
	}
}
