package kubernetes_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

const (
	dbPath     = "/api/v1/namespaces/shop/secrets/db"
	dbLive     = `{"apiVersion":"v1","kind":"Secret","type":"Opaque","metadata":{"name":"db","namespace":"shop","uid":"u2","managedFields":[{"manager":"driftd","operation":"Update","apiVersion":"v1","fieldsV1":{"f:data":{"f:password":{}}}}]},"data":{"password":"aGFuZC1tYWRlLXBhc3N3b3Jk","user":"YXBw"}}`
	dbDeclared = `{"type":"Opaque","metadata":{},"data":{"password":"ZGVjbGFyZWQtcGFzc3dvcmQ=","user":"YXBw"}}`
	// quote is a text of a webhook or a policy with the secrets in all their forms.
	quote = "password declared-password (ZGVjbGFyZWQtcGFzc3dvcmQ=) replaces hand-made-password (aGFuZC1tYWRlLXBhc3N3b3Jk), reversed drowssap"
)

// dbSubject returns a Secret whose password differs, or that is missing.
func dbSubject(verdict model.Verdict) reconcile.Subject {
	sealed := func(text string) model.Value { return room().Sealer().Seal(text) }
	declared := value(dbDeclared).With("data", model.MapOf(model.Field{Name: "password", Value: sealed("declared-password")}, model.Field{Name: "user", Value: sealed("app")}))
	d, l := sealed("declared-password"), sealed("hand-made-password")
	s := reconcile.Subject{Finding: finding("Secret", "shop/db"), Declared: declared, Written: declared, UID: lastRead,
		Plain: func(context.Context) (model.Value, model.Value, error) { return value(dbDeclared), declared, nil }}
	if s.Finding.Verdict = verdict; verdict == model.Changed {
		s.Finding.Changes = []model.Change{{Path: "data.password", Declared: &d, Live: &l, Secret: true}}
	}
	return s
}

// answerWrites answers all writes with a status.
func (f *fake) answerWrites(code int, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "/selfsubject") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// TestRejectionsHaveNoSecrets verifies that no error of an object with a secret has the text of an answer.
func TestRejectionsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	denials := map[string]struct{ message, want string }{
		"webhook":       {`admission webhook "pw.example.org" denied the request: ` + quote, `admission webhook "pw.example.org" denied the request`},
		"policy":        {`secrets "db" is forbidden: ValidatingAdmissionPolicy 'pw' with binding 'pw-all' denied request: ` + quote, "ValidatingAdmissionPolicy 'pw' denied the request"},
		"any text":      {quote, ""},
		"a false name":  {`text: admission webhook "drowssap" denied the request: ` + quote, ""},
		"a wide name":   {`admission webhook "drowssap and more" denied the request`, ""},
		"a false cause": {``, ""},
	}
	for name, denial := range denials {
		for _, code := range []int{400, 401, 403, 404, 409, 413, 422, 429, 499, 500, 503} {
			t.Run(fmt.Sprintf("%s %d", name, code), func(t *testing.T) {
				t.Parallel()
				body := `{"kind":"Status","reason":` + strconv.Quote(quote) + `,"message":` + strconv.Quote(denial.message) + `,"details":{"causes":[{"field":` + strconv.Quote(quote) + `,"reason":` + strconv.Quote(quote) + `}]}}`
				for what, err := range rejections(t, code, body) {
					if err == nil {
						t.Errorf("%s: no error", what)
						continue
					}
					for _, word := range []string{"declared-password", "hand-made", "ZGVjbGFyZWQ", "aGFuZC1tYWRl", "drowssap"} {
						if strings.Contains(err.Error(), word) {
							t.Errorf("%s: %v", what, err)
						}
					}
					if !strings.Contains(err.Error(), denial.want) && !strings.Contains(err.Error(), "look again") {
						t.Errorf("%s: got %v, want %q", what, err, denial.want)
					}
				}
			})
		}
	}
}

// rejections returns the errors of all writes that are answered with a status.
func rejections(t *testing.T, code int, body string) map[string]error {
	t.Helper()
	errs := map[string]error{}
	f := newFake(t)
	f.objects[dbPath] = dbLive
	a := f.actuator(t)
	c := mustPlan(t, a, dbSubject(model.Changed))
	f.answerWrites(code, body)
	errs["dry run of the patch"] = c.Rehearse(t.Context())
	_, errs["patch"] = c.Write(t.Context())
	errs["hand-back"] = a.HandBack(t.Context(), dbSubject(model.Changed).Finding.Key, reconcile.Plan{UID: "u2", HandBack: "git"})

	f = newFake(t)
	c = mustPlan(t, f.actuator(t), dbSubject(model.Missing))
	f.answerWrites(code, body)
	errs["dry run of the creation"] = c.Rehearse(t.Context())
	_, errs["creation"] = c.Write(t.Context())
	return errs
}

// TestRejectionTexts verifies that the text of an answer is kept if the object has no secret.
func TestRejectionTexts(t *testing.T) {
	t.Parallel()
	const policy = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few' denied request: too many replicas`
	causes := func(causes string) string {
		return `{"kind":"Status","message":` + strconv.Quote(policy) + `,"details":{"causes":[` + causes + `]}}`
	}
	tests := map[string]struct {
		code       int
		body, want string
	}{
		"403":                   {403, statusText(policy), "rejects the change: " + policy},
		"413":                   {413, statusText(policy), "rejects the change: " + policy},
		"429 of a policy":       {429, statusText(policy), "rejects the change: " + policy},
		"422 of a policy":       {422, causes(`{"message":"too many replicas"}`), "rejects the change: " + policy},
		"422 of the validation": {422, `{"kind":"Status","message":"spec.x: Invalid value: 7","details":{"causes":[{"field":"spec.x","reason":"FieldValueInvalid","message":"Invalid value: 7"},{}]}}`, "rejects the change: spec.x: FieldValueInvalid"},
		"422 without causes":    {422, `{"kind":"Status","message":"it is wrong","details":{"causes":[{}]}}`, "rejects the change: it is wrong"},
		"403 without a text":    {403, `{"kind":"Status"}`, "rejects the change: 403 Forbidden"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = web
			c := mustPlan(t, f.actuator(t), webSubject())
			f.answerWrites(tt.code, tt.body)
			checkRefusal(t, c.Rehearse(t.Context()), "rehearsal", tt.want)
			if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Write() = %v, want %s", err, tt.want)
			}
		})
	}
}

// TestAdmissionChoosesNames verifies that a name that admission adds to an object with a secret is not shown.
func TestAdmissionChoosesNames(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[dbPath] = dbLive
	f.admit = func(o map[string]any) { o["data"].(map[string]any)["drowssap"] = "eA==" }
	c := mustPlan(t, f.actuator(t), dbSubject(model.Changed))
	err := c.Rehearse(t.Context())
	checkRefusal(t, err, "rehearsal", "would change more: data")
	receipt, _ := c.Write(t.Context())
	if text := err.Error() + strings.Join(receipt.Unexpected, ", "); strings.Contains(text, "drowssap") || len(receipt.Unexpected) != 1 {
		t.Errorf("got %s", text)
	}
}

// TestScrub verifies that the forms of a secret are removed from texts.
func TestScrub(t *testing.T) {
	t.Parallel()
	plain := value(`{"a":"first-line\nsecond-line","b":"ZGVjbGFyZWQtcGFzc3dvcmQ=","c":"public-text","d":[{"e":"in-a-list"}],"f":"abc"}`)
	seal := func(text string) model.Value { return room().Sealer().Seal(text) }
	sealed := plain.With("a", seal("x")).With("b", seal("x")).With("d", seal("x")).With("f", seal("x"))
	got := kubernetes.Scrub(plain, sealed, "first-line, second-line, ZGVjbGFyZWQtcGFzc3dvcmQ=, declared-password, public-text, in-a-list, aW4tYS1saXN0, abc")
	want := strings.ReplaceAll("S, S, S, S, public-text, S, S, abc", "S", model.SecretText)
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
