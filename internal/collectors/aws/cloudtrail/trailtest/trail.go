// Package trailtest is a stand-in for CloudTrail: a proxy before a server that simulates AWS.
// It notes which access key sent which write, and answers LookupEvents in the documented
// shape, with CloudTrail's limit of requests. It decodes forms and JSON, and some requests of S3,
// Lambda and Route 53.
package trailtest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Account is the account of the events.
const Account = "123456789012"

// A Trail is the proxy. Users are the names of users by access key.
type Trail struct {
	Users map[string]string
	Next  http.Handler

	mu     sync.Mutex
	events []event
	asked  map[string][]time.Time
	// Throttled is the number of requests beyond the limit.
	Throttled int
}

type event struct {
	at     time.Time
	region string
	text   []byte
}

// ServeHTTP answers LookupEvents, and passes all else on.
func (t *Trail) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	scope := append(strings.Split(r.Header.Get("Authorization"), "/"), "", "", "", "")
	_, key, _ := strings.Cut(scope[0], "Credential=")
	region, service := scope[2], scope[3]
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".LookupEvents") {
		t.lookUp(w, region, body)
		return
	}
	answer := httptest.NewRecorder()
	t.Next.ServeHTTP(answer, r)
	name, given := operationOf(r, service, body)
	if name != "" && !slices.ContainsFunc([]string{"Describe", "Get", "List", "Lookup"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
		t.note(region, service, key, name, given, answer)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (t *Trail) note(region, service, key, name string, given map[string]any, answer *httptest.ResponseRecorder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	user := t.Users[key]
	now := time.Now().UTC()
	record := map[string]any{
		"eventID": fmt.Sprintf("event-%d", len(t.events)), "eventTime": now.Format(time.RFC3339), "eventSource": service + ".amazonaws.com", "eventName": name,
		"awsRegion": region, "recipientAccountId": Account, "readOnly": false, "sourceIPAddress": "192.0.2.1", "userAgent": "test",
		"userIdentity":      map[string]any{"type": "IAMUser", "userName": user, "arn": "arn:aws:iam::" + Account + ":user/" + user, "accessKeyId": key},
		"requestParameters": given, "responseElements": elements(answer.Body.Bytes(), name, service),
	}
	if answer.Code/100 != 2 {
		record["errorCode"] = "Client.Error"
	}
	text, err := json.Marshal(record)
	if err == nil {
		t.events = append(t.events, event{now, region, text})
	}
}

// Events returns the events of a region so far, the oldest first.
func (t *Trail) Events(region string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, e := range t.events {
		if e.region == region {
			all = append(all, string(e.text))
		}
	}
	return all
}

// lists are the names of lists of EC2 in records, and of their elements.
func lists(name string) (list, element string) {
	switch name {
	case "ResourceId":
		return "resourcesSet", "resourceId"
	case "InstanceId":
		return "instancesSet", "instanceId"
	case "Tag":
		return "tagSet", ""
	}
	return lower(name), ""
}

func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// parameters turns a form into the parameters of a record.
func parameters(form url.Values) map[string]any {
	tree := map[string]any{}
	for name := range form {
		if name != "Action" && name != "Version" {
			at := tree
			parts := strings.Split(name, ".")
			for _, part := range parts[:len(parts)-1] {
				below, ok := at[part].(map[string]any)
				if !ok {
					below = map[string]any{}
					at[part] = below
				}
				at = below
			}
			at[parts[len(parts)-1]] = form.Get(name)
		}
	}
	named, _ := shape(tree).(map[string]any)
	return named
}

func shape(v any) any {
	tree, ok := v.(map[string]any)
	if !ok {
		return v
	}
	all := map[string]any{}
	for name, below := range tree {
		items, isList := numbered(below)
		list, element := lists(name)
		if !isList {
			all[lower(name)] = shape(below)
			continue
		}
		for i := range items {
			if items[i] = shape(items[i]); element != "" {
				items[i] = map[string]any{element: items[i]}
			}
		}
		all[list] = map[string]any{"items": items}
	}
	return all
}

func numbered(v any) (items []any, ok bool) {
	tree, _ := v.(map[string]any)
	for i := 1; ; i++ {
		item, ok := tree[strconv.Itoa(i)]
		if !ok {
			return items, len(items) > 0
		}
		items = append(items, item)
	}
}

type node struct {
	XMLName xml.Name
	Nodes   []node `xml:",any"`
	Text    string `xml:",chardata"`
}

// elements turns the XML of an answer into the answer of a record.
func elements(body []byte, action, service string) any {
	if len(body) > 0 && body[0] == '{' {
		return object(body)
	}
	var root node
	if xml.Unmarshal(body, &root) != nil {
		return nil
	}
	if service != "ec2" {
		for _, n := range root.Nodes {
			if n.XMLName.Local == action+"Result" {
				return n.value()
			}
		}
		return nil
	}
	return root.value()
}

func (n *node) value() any {
	if len(n.Nodes) == 0 {
		return strings.TrimSpace(n.Text)
	}
	var items []any
	all := map[string]any{}
	for i := range n.Nodes {
		below := &n.Nodes[i]
		if name := below.XMLName.Local; name == "item" || name == "member" {
			items = append(items, below.value())
		} else {
			all[lower(name)] = below.value()
		}
	}
	if items != nil {
		return map[string]any{"items": items}
	}
	return all
}

// lookUp answers a page, the newest events first.
func (t *Trail) lookUp(w http.ResponseWriter, region string, body []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.asked == nil {
		t.asked = map[string][]time.Time{}
	}
	recent := slices.DeleteFunc(t.asked[region], func(at time.Time) bool { return now.Sub(at) >= time.Second })
	if t.asked[region] = append(recent, now); len(recent) >= 2 {
		t.Throttled++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"ThrottlingException","message":"Rate exceeded"}`)
		return
	}
	var request struct {
		StartTime, EndTime int64
		MaxResults         int
		NextToken          string
	}
	_ = json.Unmarshal(body, &request)
	skip, _ := strconv.Atoi(request.NextToken)
	type found struct {
		EventTime       int64
		CloudTrailEvent string
	}
	page := struct {
		Events    []found
		NextToken string `json:",omitempty"`
	}{Events: []found{}}
	n := 0
	for _, e := range slices.Backward(t.events) {
		if at := e.at.Unix(); e.region != region || at < request.StartTime || at > request.EndTime {
			continue
		}
		if n++; n <= skip {
			continue
		}
		if len(page.Events) == request.MaxResults {
			page.NextToken = strconv.Itoa(n - 1)
			break
		}
		page.Events = append(page.Events, found{e.at.Unix(), string(e.text)})
	}
	if err := json.NewEncoder(w).Encode(page); err != nil {
		panic(http.ErrAbortHandler)
	}
}
