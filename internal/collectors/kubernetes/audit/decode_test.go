package audit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func objectRef(resource, namespace, name string, more ...string) jsonObject {
	o := jsonObject{"resource": resource, "namespace": namespace, "name": name, "apiVersion": "v1"}
	for i := 0; i < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return jsonObject{"objectRef": o}
}

func verb(verb string, code int) jsonObject {
	return jsonObject{"verb": verb, "responseStatus": jsonObject{"code": code}}
}

func uri(uri string) jsonObject { return jsonObject{"requestURI": uri} }

func TestDecode(t *testing.T) {
	t.Parallel()
	with := func(change func(*Write)) []Write {
		w := edited()
		change(&w)
		return []Write{w}
	}
	configMap := func(name string) Object { return Object{Resource{"", "configmaps"}, "shop", name} }
	tests := map[string]struct {
		reason string
		event  string
		want   []Write
	}{
		"an edit": {"user, time, tool and object are decoded", edit(), []Write{edited()}},
		"an impersonated user": {"alice sent it with bob's permissions", edit(jsonObject{"impersonatedUser": jsonObject{"username": "bob"}}),
			with(func(w *Write) { w.User = "bob (by alice)" })},
		"a service account": {"its user name is its only name", edit(jsonObject{"user": jsonObject{"username": "system:serviceaccount:ci:deployer"}}),
			with(func(w *Write) {
				w.User, w.Account = "system:serviceaccount:ci:deployer", "system:serviceaccount:ci:deployer"
			})},
		"without a field manager": {"the API server uses the agent's name", edit(uri("/apis/apps/v1/namespaces/shop/deployments/web")),
			with(func(w *Write) { w.Manager = "kubectl" })},
		"an agent of several words": {"the name ends at the slash", edit(uri("/x"), jsonObject{"userAgent": "My \x01Tool 2/1.0 (x)"}),
			with(func(w *Write) { w.Manager = "My Tool 2" })},
		"no agent": {"the tool is unknown", edit(uri("/x"), jsonObject{"userAgent": ""}), with(func(w *Write) { w.Manager = "" })},
		"scaled": {"the subresource is kept", edit(objectRef("deployments", "shop", "web", "apiGroup", "apps", "subresource", "scale")),
			with(func(w *Write) { w.Subresource = "scale" })},
		"replaced": {"only a patch can apply", edit(verb("update", 200)), with(func(w *Write) { w.Patch = false })},
		"created": {"the verb is create", edit(verb("create", 201)),
			with(func(w *Write) { w.Action, w.Patch = model.Created, false })},
		"created by an apply": {"the status is 201", edit(verb("patch", 201)), with(func(w *Write) { w.Action = model.Created })},
		"deleted":             {"the verb is delete", edit(verb("delete", 200)), with(func(w *Write) { w.Action, w.Patch = model.Deleted, false })},
		"being deleted": {"the deletion was accepted and runs in the background", edit(verb("delete", 202)),
			with(func(w *Write) { w.Action, w.Patch = model.Deleted, false })},
		"evicted": {"an eviction deletes the pod", edit(verb("create", 201), objectRef("pods", "shop", "web-0", "subresource", "eviction")),
			with(func(w *Write) {
				w.Action, w.Patch, w.Subresource, w.Object = model.Deleted, false, "eviction", Object{Resource{"", "pods"}, "shop", "web-0"}
			})},
		"a namespace": {"the event names it as its own namespace", edit(verb("delete", 200), objectRef("namespaces", "shop", "shop")),
			with(func(w *Write) {
				w.Action, w.Patch, w.Object = model.Deleted, false, Object{Resource{"", "namespaces"}, "", "shop"}
			})},
		"a generated name": {"the name is in the answer",
			edit(verb("create", 201), objectRef("configmaps", "shop", ""), jsonObject{"responseObject": jsonObject{"metadata": jsonObject{"name": "gen-x1", "namespace": "shop"}, "items": "odd"}}),
			with(func(w *Write) { w.Action, w.Patch, w.Object = model.Created, false, configMap("gen-x1") })},
		"a collection": {"the answer lists the deleted objects",
			edit(verb("deletecollection", 200), objectRef("configmaps", "shop", ""), jsonObject{"responseObject": jsonObject{"metadata": jsonObject{}, "items": []any{
				jsonObject{"metadata": jsonObject{"name": "a", "namespace": "shop", "labels": jsonObject{"name": "no"}}, "data": jsonObject{"metadata": "x"}},
				jsonObject{"metadata": jsonObject{"name": "b", "namespace": "shop"}}, "odd", jsonObject{"metadata": []int{1}}}}}),
			[]Write{
				with(func(w *Write) { w.Action, w.Patch, w.Object = model.Deleted, false, configMap("a") })[0],
				with(func(w *Write) { w.Action, w.Patch, w.Object = model.Deleted, false, configMap("b") })[0],
			}},
		"a clock set back": {"a request does not end before it begins", edit(jsonObject{"stageTimestamp": at(-time.Second)}),
			with(func(w *Write) { w.Ended = w.Began })},

		"a collection without an answer": {"the deleted objects are unknown", edit(verb("deletecollection", 200), objectRef("configmaps", "shop", "")), nil},
		"a missing name":                 {"the object is unknown", edit(verb("create", 201), objectRef("configmaps", "shop", "")), nil},
		"another stage":                  {"the request may still fail", edit(jsonObject{"stage": "RequestReceived"}), nil},
		"forbidden":                      {"nothing was changed", edit(verb("patch", 403)), nil},
		"conflict":                       {"nothing was changed", edit(verb("update", 409)), nil},
		"no status":                      {"the result is unknown", edit(jsonObject{"responseStatus": nil}), nil},
		"read":                           {"a read changes nothing", edit(verb("get", 200)), nil},
		"dry run":                        {"a dry run changes nothing", edit(uri("/x?dryRun=All&fieldManager=kubectl-edit")), nil},
		"dry run of a deletion": {"dryRun is in the body", edit(verb("delete", 200),
			jsonObject{"requestObject": jsonObject{"kind": "DeleteOptions", "dryRun": []string{"All"}}}), nil},
		"dryRun in the query of a deletion": {"the API server ignores it if the request has a body", edit(verb("delete", 200), uri("/x?dryRun=All&fieldManager=kubectl-edit")),
			with(func(w *Write) { w.Action, w.Patch = model.Deleted, false })},
		"dry run of an eviction by the query": {"it holds beside a body", edit(verb("create", 201), objectRef("pods", "shop", "web-0", "subresource", "eviction"), uri("/x?dryRun=All")), nil},
		"dry run of an eviction": {"dryRun is in deleteOptions of the body", edit(verb("create", 201), objectRef("pods", "shop", "web-0", "subresource", "eviction"),
			jsonObject{"requestObject": jsonObject{"kind": "Eviction", "deleteOptions": jsonObject{"dryRun": []string{"All"}}}}), nil},
		"status":      {"declarations have no status", edit(objectRef("deployments", "shop", "web", "subresource", "status")), nil},
		"a proxy":     {"the request is forwarded to another server", edit(verb("delete", 200), objectRef("services", "shop", "web", "subresource", "proxy")), nil},
		"a binding":   {"the subresource is another object", edit(verb("create", 201), objectRef("pods", "shop", "web-0", "subresource", "binding")), nil},
		"no user":     {"a write without a user is useless", edit(jsonObject{"user": jsonObject{}}), nil},
		"no object":   {"the request is not for a resource", edit(jsonObject{"objectRef": nil}), nil},
		"long name":   {"no API server accepts such a name", edit(objectRef("configmaps", "shop", strings.Repeat("x", maxName+1))), nil},
		"other JSON":  {"it is not an event", `{"msg":"ResponseComplete"}`, nil},
		"a bad query": {"the request URI cannot be parsed", edit(uri("/x?fieldManager=%zz"), jsonObject{"requestURI": "://%"}), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Decode([]byte(tt.event))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestDecodeTakesAnyForm(t *testing.T) {
	t.Parallel()
	text := strings.Replace(edit(), `"verb"`, ` "verb" : "get", "verb"`, 1)
	text = strings.Replace(text, `"ops"`, "\"\xff\"", 1)
	got, err := Decode([]byte(text))
	if diff := cmp.Diff([]Write{edited()}, got); diff != "" || err != nil {
		t.Errorf("an event with spaces, a name twice and broken UTF-8 = %v (-want +got):\n%s", err, diff)
	}
}

func TestDecodeQuotesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"stage":"hunter2"`, `{"user":"hunter2"}`, `hunter2`, `{"stageTimestamp":"hunter2"}`} {
		if _, err := Decode([]byte(text)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Decode(%s) = %v, want an error that quotes nothing", text, err)
		}
	}
}

// secret returns the event of a request that creates a Secret, at a level with bodies.
func secret() string {
	body := jsonObject{"kind": "Secret", "metadata": jsonObject{"name": "web", "namespace": "shop"}, "data": jsonObject{"password": "aHVudGVyMg=="}}
	return edit(verb("create", 201), objectRef("secrets", "shop", "web"), jsonObject{"requestObject": body, "responseObject": body})
}

func TestDecodeKeepsNoBody(t *testing.T) {
	t.Parallel()
	writes, err := Decode([]byte(secret()))
	if err != nil || len(writes) != 1 {
		t.Fatalf("Decode() = %v, %v", writes, err)
	}
	if text := fmt.Sprintf("%+v", writes); strings.Contains(text, "aHVudGVyMg") {
		t.Errorf("a body is kept: %s", text)
	}
}

func eventList(events ...string) string {
	return `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[` + strings.Join(events, ",") + `]}`
}

func TestDecodeList(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		want   int
		broken int
		fails  string
	}{
		"two events":   {reason: "all events are decoded", text: eventList(edit(), edit()), want: 2},
		"no events":    {reason: "an empty list is valid", text: eventList()},
		"broken event": {reason: "the other events are decoded", text: eventList(edit(), `{"user":1}`, edit()), want: 2, broken: 1},
		"truncated":    {reason: "complete events are decoded", text: eventList(edit(), edit())[:len(eventList(edit()))+40], want: 1, fails: "unexpected EOF"},
		"not JSON":     {reason: "the error does not quote the text", text: "hunter2", fails: "not an EventList"},
		"one event":    {reason: "it is not a list", text: edit(), fails: "not an EventList"},
		"an array":     {reason: "it is not an EventList", text: "[]", fails: "not an EventList"},
		"no items":     {reason: "items is not an array", text: `{"items":3}`, fails: "not an EventList"},
		"empty body":   {reason: "an empty body is not a list", text: "", fails: "EOF"},
		"broken JSON":  {reason: "events after a syntax error cannot be found", text: eventList(edit(), `{"a":hunter2}`), want: 1, fails: "not an EventList"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := 0
			broken, err := DecodeList(strings.NewReader(tt.text), func(w []Write) { got += len(w) })
			if got != tt.want || broken != tt.broken {
				t.Errorf("%s: %d writes, %d broken; want %d and %d", tt.reason, got, broken, tt.want, tt.broken)
			}
			if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%s: %v, want %q", tt.reason, err, tt.fails)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(edit()))
	f.Add([]byte(secret()))
	f.Add([]byte(edit(verb("deletecollection", 200), jsonObject{"responseObject": jsonObject{"items": []any{jsonObject{"metadata": jsonObject{"name": "a"}}}}})))
	f.Add([]byte(`{"requestObject":{"deleteOptions":{"deleteOptions":[]}},"responseObject":{"items":[[{}]]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		writes, err := Decode(text)
		if err != nil && err.Error() != errBroken.Error() {
			t.Errorf("error %q, want errBroken", err)
		}
		for _, w := range writes {
			if w.Object.Name == "" || w.Resource.Name == "" || w.User == "" || w.ID == "" || w.Ended.Before(w.Began) {
				t.Errorf("a write without a user, an object or a time: %+v", w)
			}
			if len(w.User) > 3*4*maxShown || len(w.Object.Name) > maxName {
				t.Errorf("a write that exceeds the bounds: %+v", w)
			}
		}
		// In a list, a valid event is decoded to the same writes.
		n := 0
		broken, listErr := DecodeList(strings.NewReader(eventList(string(text))), func(w []Write) { n += len(w) })
		if err == nil && (listErr != nil || broken != 0 || n != len(writes)) {
			t.Errorf("in a list: %d writes, %d broken, %v; alone: %d", n, broken, listErr, len(writes))
		}
	})
}

// TestLongTexts checks that a long text is truncated before it is converted.
//
//nolint:paralleltest // memory is measured for the whole process
func TestLongTexts(t *testing.T) {
	for name, r := range map[string]string{"letters": "x", "wide letters": "ä", "emoji": "\U0001f600", "not UTF-8": "\xff"} {
		want := shown(strings.Repeat(r, maxShown+1))
		long := strings.Repeat(r, 1<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := shown(long)
		runtime.ReadMemStats(&after)
		if got != want {
			t.Errorf("%s: %d bytes are shown, want %d", name, len(got), len(want))
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 256<<10 {
			t.Errorf("%s: %d bytes are allocated for a text of %d", name, made, len(long))
		}
	}
	if got := shown(strings.Repeat("x", maxShown)); len(got) != maxShown {
		t.Errorf("%d letters become %d", maxShown, len(got))
	}
}
