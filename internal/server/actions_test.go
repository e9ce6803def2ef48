package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// An actorStub has one action, ac7100, in which every field is set. It has err as the error of each
// method, if that is set.
type actorStub struct{ err error }

func fullAction() reconcile.Action {
	old, fresh, hidden := model.StringOf("web:evil"), model.StringOf("web:1"), sealer().Seal("hunter2")
	at := begin()
	a := reconcile.Action{ID: "ac7100", Finding: "0c0000", Basis: "basis of 0c0000", Verdict: model.Changed, Subject: model.Key{Source: "edge", Kind: "kubernetes/ConfigMap", ID: "shop/web"},
		Name: "web", Place: "shop", Declaration: "shop", Revision: "c0ffee", Drift: fullActor(at), Rule: "shop", RuleDigest: "0123", Mode: reconcile.Approve,
		By: "bob", Via: "web", Reason: "wrong image", At: at, Expires: at.Add(time.Hour), Digest: "d19e57",
		Plan: reconcile.Plan{UID: "u1", Changes: []reconcile.FieldChange{{Path: "data.a", Old: &old, New: &fresh}, {Path: "data.password", Old: &hidden, New: &hidden}},
			Creates: true, Deletes: true, Records: true, Asks: "Kustomization flux-system/apps of Flux", Endpoint: "https://10.0.0.1", Identity: "driftd-writer", HandBack: "git", Restarts: "2 pods", AfterRestart: "cores", Requests: []string{"add", "move it to position 1"}, Person: "a change of the cluster's firewall", Unseen: true},
		Approvals: []reconcile.Approval{{By: "mara", Via: "web", At: at, Digest: "d19e57", Reason: "yes"}},
		Receipt:   reconcile.Receipt{Status: 200, Request: "r1", At: at}}
	a.Enter(reconcile.Proposed, at, "")
	a.EnterBy(reconcile.Refused, at, "mara", "frozen")
	a.Steps[1].Seq = 2
	a.Guard = "frozen"
	return a
}

func (s actorStub) find(id string) (reconcile.Action, error) {
	if s.err != nil {
		return reconcile.Action{}, s.err
	}
	return reconcile.FindAction([]reconcile.Action{fullAction(), {ID: "ac7201"}}, id)
}

func (s actorStub) PreviewAction(context.Context, *model.Finding, string) (reconcile.Proposal, error) {
	a := fullAction()
	return reconcile.Proposal{Rule: "shop", Mode: reconcile.Approve, Guards: []reconcile.Judgement{{Guard: "off"}, {Guard: "frozen", Why: "a sale"}}, Plan: &a.Plan, Digest: a.Digest}, s.err
}

func (s actorStub) Act(_ context.Context, f *model.Finding, _ reconcile.Request) (reconcile.Action, error) {
	if s.err != nil || f.ID == "0c0000" {
		return fullAction(), s.err
	}
	return reconcile.Action{}, &reconcile.Refusal{Guard: "off", Why: "no rule"}
}

func (s actorStub) AnswerAction(_ context.Context, id string, _ reconcile.Answer, q reconcile.Request) (reconcile.Action, error) {
	a, err := s.find(id)
	if err == nil && q.Reason == "late" {
		err = &reconcile.StateError{Text: "action ac7100 is converged"}
	}
	if err == nil && q.Reason == "rejected" {
		err = &reconcile.NotWrittenError{Err: errors.New("403 Forbidden")}
	}
	return a, err
}

func (s actorStub) Control(c reconcile.Control) (reconcile.Control, error) {
	c.ID, c.At = "c0", begin()
	return c, s.err
}

func (s actorStub) Actions() (reconcile.Overview, error) {
	other := fullAction()
	other.ID = "ac7201"
	return reconcile.Overview{Actions: []reconcile.Action{fullAction(), other},
		Freezes: []reconcile.Control{{ID: "c0", Kind: reconcile.Freeze, Source: "edge", Rule: "shop", Until: begin(), By: "mara", Via: "web", At: begin(), Reason: "sale", Seq: 3}},
		Rules:   []reconcile.RuleStatus{{Name: "shop", Mode: reconcile.Approve, Stopped: "2 actions failed", Fights: 1}},
		Held:    []reconcile.Held{{Finding: "0c0000", Rule: "shop", Guard: "age", Why: "it changed 20s ago"}}}, s.err
}

// actionAsks returns requests for the operations about actions. Handler person serves a person of the table.
func actionAsks(full, person, idle http.Handler) []exchange {
	const get, post, actions, findings, controls = http.MethodGet, http.MethodPost, "/api/v1/actions", "/api/v1/findings/", "/api/v1/controls"
	long := `{"reason":"` + strings.Repeat("x", maxBody) + `"}`
	list := []exchange{
		{"all", full, get, actions, "", 200, "", false},
		{"no daemon runs", idle, get, actions, "", 503, "", false},
		{"one", full, get, actions + "/ac71", "", 200, "", false},
		{"an ID may be wrong", full, get, actions + "/dead", "", 404, "", false},
		{"an ID may be too short", full, get, actions + "/ac7", "", 409, "", false},
		{"no daemon runs", idle, get, actions + "/ac71", "", 503, "", false},
		{"what would be done", full, post, findings + "0c0000/reconcile", `{"dry_run":true}`, 200, "", false},
		{"who asks must be a person", full, post, findings + "0c0000/reconcile", `{"reason":"wrong image"}`, 409, "", false},
		{"an action", person, post, findings + "0c0000/reconcile", `{"reason":"wrong image"}`, 200, "", false},
		{"a reason is needed", full, post, findings + "0c0000/reconcile", `{}`, 400, "", false},
		{"an unknown field", full, post, findings + "0c0000/reconcile", `{"why":"x"}`, 400, "", true},
		{"a guard refuses", person, post, findings + "0d0000/reconcile", `{"reason":"x"}`, 409, "", false},
		{"an ID may be wrong", full, post, findings + "dead/reconcile", `{"reason":"x"}`, 404, "", false},
		{"a body is bounded", full, post, findings + "0c0000/reconcile", long, 413, "", true},
		{"no daemon runs", idle, post, findings + "0c0000/reconcile", `{"reason":"x"}`, 503, "", false},
		{"a freeze", full, post, controls, `{"kind":"freeze","until":"2h","source":"edge","reason":"sale"}`, 200, "", false},
		{"a resumption", full, post, controls, `{"kind":"resume","rule":"shop","reason":"mended"}`, 200, "", false},
		{"a freeze has an end", full, post, controls, `{"kind":"freeze","until":"forever","reason":"sale"}`, 400, "", false},
		{"a resumption is of a rule", full, post, controls, `{"kind":"resume","reason":"mended"}`, 400, "", false},
		{"a kind is one of three", full, post, controls, `{"kind":"stop","reason":"x"}`, 400, "", true},
		{"a body is bounded", full, post, controls, long, 413, "", true},
		{"no daemon runs", idle, post, controls, `{"kind":"thaw","reason":"x"}`, 503, "", false},
	}
	settle := actions + "/ac71/settle"
	list = append(list,
		exchange{"settled", full, post, settle, `{"as":"failed","reason":"the cluster is gone"}`, 200, "", false},
		exchange{"a settlement has a reason", full, post, settle, `{"as":"failed"}`, 400, "", false},
		exchange{"a settlement has a result", full, post, settle, `{"reason":"the cluster is gone"}`, 400, "", false},
		exchange{"of three", full, post, settle, `{"as":"refused","reason":"x"}`, 400, "", true},
		exchange{"too late", full, post, settle, `{"as":"failed","reason":"late"}`, 409, "", false},
		exchange{"an ID may be wrong", full, post, actions + "/dead/settle", `{"as":"failed","reason":"x"}`, 404, "", false},
		exchange{"a body is bounded", full, post, settle, long, 413, "", true},
		exchange{"an operator may not", person, post, settle, `{"as":"failed","reason":"x"}`, 403, "", false},
		exchange{"no daemon runs", idle, post, settle, `{"as":"failed","reason":"x"}`, 503, "", false})
	for _, answer := range []string{"approve", "decline", "cancel"} {
		path := actions + "/ac71/" + answer
		list = append(list,
			exchange{"done", full, post, path, `{"digest":"d19e57"}`, 200, "", false},
			exchange{"too late", full, post, path, `{"digest":"d19e57","reason":"late"}`, 409, "", false},
			exchange{"the system rejects it", full, post, path, `{"digest":"d19e57","reason":"rejected"}`, 409, "", false},
			exchange{"an ID may be wrong", full, post, actions + "/dead/" + answer, `{"digest":"d19e57"}`, 404, "", false},
			exchange{"a slip may be unique", full, post, actions + "/ac7/" + answer, `{}`, 400, "", true},
			exchange{"a body is bounded", full, post, path, long, 413, "", true},
			exchange{"no daemon runs", idle, post, path, `{}`, 503, "", false})
	}
	return list
}

// An approval needs the digest of the plan, and is, like a settlement, made in the name of a person of the configuration, or of
// none, which package reconcile refuses.
func TestApprovalIsOfAPerson(t *testing.T) {
	t.Parallel()
	var by []string
	a := API{Acting: recordingStub{by: &by}}
	for _, v := range []access.Visitor{{Name: "root", Unmapped: "unix:root"}, {Name: "mara", Person: "Mara B"}} {
		if _, err := a.AnswerAction(access.With(t.Context(), v), "ac71", reconcile.ApproveAnswer, reconcile.Request{By: v.Author(), Digest: "d19e57"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []access.Visitor{{Name: "root", Unmapped: "unix:root"}, {Name: "mara", Person: "Mara B"}} {
		q := reconcile.Request{By: v.Author(), As: reconcile.Failed, Reason: "gone"}
		if _, err := a.AnswerAction(access.With(t.Context(), v), "ac71", reconcile.SettleAnswer, q); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(by, []string{"", "Mara B", "", "Mara B"}) {
		t.Errorf("approved and settled by %q", by)
	}
	_, err := a.AnswerAction(t.Context(), "ac71", reconcile.ApproveAnswer, reconcile.Request{})
	if want := (*Error)(nil); !errors.As(err, &want) || want.Status != http.StatusBadRequest {
		t.Errorf("without a digest: %v", err)
	}
}

// A recordingStub records who answers.
type recordingStub struct {
	actorStub

	by *[]string
}

func (s recordingStub) AnswerAction(_ context.Context, _ string, _ reconcile.Answer, q reconcile.Request) (reconcile.Action, error) {
	*s.by = append(*s.by, q.By)
	return fullAction(), nil
}
