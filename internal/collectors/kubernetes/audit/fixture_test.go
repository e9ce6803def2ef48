package audit

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// noon returns the time of most events of the tests.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// at returns a time after noon in the API server's notation.
func at(after time.Duration) string { return noon().Add(after).Format("2006-01-02T15:04:05.000000Z") }

// A jsonObject is a JSON object.
type jsonObject = map[string]any

// edit returns the event of a kubectl edit of a Deployment by alice, as kube-apiserver 1.36
// logs it at level Metadata, with changed fields.
func edit(changes ...jsonObject) string {
	e := jsonObject{
		"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "6b1e-1", "stage": "ResponseComplete",
		"requestURI": "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-edit&fieldValidation=Strict", "verb": "patch",
		"user":      jsonObject{"username": "alice", "groups": []string{"ops", "system:authenticated"}},
		"sourceIPs": []string{"10.1.2.3"}, "userAgent": "kubectl/v1.36.3 (linux/amd64) kubernetes/abcdef0",
		"objectRef":                jsonObject{"resource": "deployments", "namespace": "shop", "name": "web", "apiGroup": "apps", "apiVersion": "v1"},
		"responseStatus":           jsonObject{"metadata": jsonObject{}, "code": 200},
		"requestReceivedTimestamp": at(0), "stageTimestamp": at(4 * time.Millisecond),
		"annotations": jsonObject{"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
	}
	for _, c := range changes {
		maps.Copy(e, c)
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// editAs returns the event of an edit by a user, at a time after noon.
func editAs(id, user string, after time.Duration) string {
	return edit(jsonObject{"auditID": id, "user": jsonObject{"username": user},
		"requestReceivedTimestamp": at(after), "stageTimestamp": at(after + 4*time.Millisecond)})
}

func web() Object { return Object{Resource{"apps", "deployments"}, "shop", "web"} }

// edited returns the write of edit.
func edited() Write {
	return Write{Object: web(), ID: "6b1e-1", User: "alice", Account: "alice", Manager: "kubectl-edit", Patch: true,
		Began: noon(), Ended: noon().Add(4 * time.Millisecond)}
}

// newLog returns a log of a file and the text of its logger.
func newLog(t *testing.T, path string) (*Log, *strings.Builder) {
	t.Helper()
	var logged strings.Builder
	return New(Options{Path: path, Keep: 24 * time.Hour, Wanted: func(Resource) bool { return true },
		Token: func() (string, error) { return "hunter2", nil },
		Now:   func() time.Time { return noon().Add(time.Hour) }, Log: slog.New(slog.NewTextHandler(&logged, nil))}), &logged
}

// recorded returns the IDs of the writes that a log keeps of the Deployment.
func recorded(l *Log) string {
	var ids []string
	l.Each(func(o Object, h History) {
		for _, w := range h.Writes {
			if o == web() {
				ids = append(ids, w.ID)
			}
		}
	})
	return strings.Join(ids, " ")
}

func ref() model.Ref { return model.Ref{Kind: "kubernetes/Deployment.apps", ID: "shop/web"} }

// format returns an audit event on one line.
func format(t model.AuditEvent) string {
	action := map[model.Action]string{model.Edited: "edited", model.Created: "created", model.Deleted: "deleted"}[t.Action]
	id, _, _ := strings.Cut(strings.TrimPrefix(t.Actor.Evidence, "audit "), ",")
	return fmt.Sprint(action, " ", t.Actor.Name, " ", id, " ", t.Actor.Confidence, " ", t.Fields)
}
