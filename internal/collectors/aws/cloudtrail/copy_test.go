package cloudtrail

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

const (
	testTrail  = "s3://audit/prod/AWSLogs"
	testQueue  = "arn:aws:sqs:eu-central-1:123456789012:driftd"
	testFolder = "prod/AWSLogs/123456789012/CloudTrail/eu-central-1/"
)

// made returns an event, as in a copy, that a person made a user.
func made(minute int, who, name string) string {
	entry, err := decode.JSON([]byte(event(minute, who, "iam", "CreateUser", fmt.Sprintf(`{"userName":%q}`, name), "null", `,"readOnly":false`)))
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(entry.At("CloudTrailEvent").Str(), "CreateUser-", name+"-")
}

// entry returns an event of a copy as one of LookupEvents.
func entry(minute int, text string) string {
	return fmt.Sprintf(`{"EventTime":%d,"CloudTrailEvent":%q}`, at(minute).Unix(), text)
}

// message returns an event in the envelope of EventBridge.
func message(text string) string {
	return fmt.Sprintf(`{"version":"0","detail-type":"AWS API Call via CloudTrail","source":"aws.iam","account":"123456789012","region":"eu-central-1","detail":%s}`, text)
}

func zipped(texts ...string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(`{"Records":[` + strings.Join(texts, ",") + `]}`))
	_ = w.Close()
	return b.Bytes()
}

// key returns the key of a log file of a minute.
func key(minute int, unique string) string {
	return testFolder + at(minute).Format("2006/01/02/") + "123456789012_CloudTrail_eu-central-1_" + at(minute).Format(minutes) + "_" + unique + ".json.gz"
}

// A fakeStore has objects by key. An error stands for an object that cannot be had.
type fakeStore struct {
	objects map[string]any
	page    int
	refused error

	mu  sync.Mutex
	got []string
}

func (f *fakeStore) List(_ context.Context, bucket, owner, prefix, after string) (keys []string, more bool, err error) {
	switch {
	case f.refused != nil:
		return nil, false, f.refused
	case bucket != "audit" || owner == "":
		return nil, false, errors.New("another bucket")
	}
	for key := range f.objects {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if f.page > 0 && len(keys) > f.page {
		return keys[:f.page], true, nil
	}
	return keys, false, nil
}

func (f *fakeStore) Get(_ context.Context, _, _, key string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, key[strings.LastIndexByte(key, '_')+1:])
	switch v := f.objects[key].(type) {
	case error:
		return nil, v
	case []byte:
		return v, nil
	}
	return nil, &awsapi.Error{Status: 404, Code: "NoSuchKey"}
}

// A fakeQueue is a queue before a history. Received messages are hidden.
type fakeQueue struct {
	fakeClient

	messages []string
	hidden   map[string]bool
	refused  map[string]error
	// stuck is a message that is not deleted.
	stuck string
	// sent is the time at which the messages were sent; zero if the server does not return it.
	sent time.Time
	wait time.Duration
}

func (f *fakeQueue) Do(_ context.Context, region string, call *awsapi.Call) (v model.Value, err error) {
	if region != "eu-central-1" || call.Input["QueueUrl"] != "https://sqs.example.org/123456789012/driftd" {
		return model.Value{}, fmt.Errorf("another queue: %s %v", region, call.Input)
	}
	if err := f.refused[call.Action]; err != nil {
		return model.Value{}, err
	}
	if entries, ok := call.Input["Entries"].([]map[string]string); ok {
		for i, e := range entries {
			if f.stuck == e["ReceiptHandle"] {
				defer func() { v, err = decode.JSON(fmt.Appendf(nil, `{"Failed":[{"Id":"%d","Code":"InternalError"}]}`, i)) }()
				continue
			}
			f.messages = slices.DeleteFunc(f.messages, func(m string) bool { return m == e["ReceiptHandle"] })
		}
		return decode.JSON([]byte(`{"Successful":[]}`))
	}
	time.Sleep(f.wait)
	number, _ := call.Input["MaxNumberOfMessages"].(int)
	var found []string
	attributes := "{}"
	if names, _ := call.Input["AttributeNames"].([]string); !f.sent.IsZero() && slices.Contains(names, "SentTimestamp") {
		attributes = fmt.Sprintf(`{"SentTimestamp":"%d"}`, f.sent.UnixMilli())
	}
	for _, m := range f.messages {
		if !f.hidden[m] && len(found) < number {
			f.hidden[m] = true
			found = append(found, fmt.Sprintf(`{"MessageId":"m-1","ReceiptHandle":%q,"Body":%q,"Attributes":%s}`, m, m, attributes))
		}
	}
	text := `{"Messages":[` + strings.Join(found, ",") + `]}`
	if len(text) > 1<<20 {
		return model.Value{}, &httpclient.TooLarge{Limit: 1 << 20}
	}
	return decode.JSON([]byte(text))
}

// A copies reads copies again and again.
type copies struct {
	t      *testing.T
	config Config
	folder string
	store  *fakeStore
	queue  *fakeQueue
	logged bytes.Buffer
}

func newCopies(t *testing.T, config Config) *copies {
	t.Helper()
	return &copies{t: t, config: config, folder: t.TempDir(), store: &fakeStore{objects: map[string]any{}}, queue: &fakeQueue{hidden: map[string]bool{}, refused: map[string]error{}}}
}

// read reads with a new reader, as after a restart.
func (c *copies) read(now time.Time, history ...string) *Log {
	c.t.Helper()
	env := testEnv(c.folder)
	env.Log = slog.New(slog.NewTextHandler(&c.logged, nil))
	c.queue.pages = map[string][]any{"eu-central-1": {strings.Join(history, ",")}}
	c.queue.hidden = map[string]bool{}
	return New(c.config, env, &Pace{}).Read(c.t.Context(), Server{Client: c.queue, Objects: c.store}, Account{"123456789012", "aws"}, []string{"eu-central-1"}, now)
}

func (c *copies) want(log *Log, reason string, want ...string) {
	c.t.Helper()
	if diff := cmp.Diff(want, describe(log.Events)); diff != "" {
		c.t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Pages: 4, Queue: testQueue})
	foreign := strings.ReplaceAll(message(made(5, "eve", "f")), "123456789012", "999999999999")
	c.queue.messages = []string{message(made(28, "alice", "a")), `{"order":1}`, foreign, `no JSON`}
	log := c.read(at(30))
	c.want(log, "an event that the history does not have yet", "created IAM::User a alice likely")
	if e := log.Events[0].Actor.Evidence; !strings.HasSuffix(e, "as in the queue "+testQueue) {
		t.Errorf("evidence %q", e)
	}
	if len(c.queue.messages) != 3 || !strings.Contains(c.logged.String(), "messages=2 message=m-1") {
		t.Errorf("messages of others: %d are left; logged %s", len(c.queue.messages), &c.logged)
	}
	if got := log.Unknown("eu-central-1"); got != "CloudTrail's log in eu-central-1 since 2026-11-28 03:30 UTC and the queue "+testQueue+
		" for eu-central-1 since 2026-11-29 03:30 UTC have no event whose effect on it is known; events are up to 15 minutes late" {
		t.Errorf("Unknown() = %q", got)
	}
	c.queue.messages = []string{message(made(29, "mallory", "b"))}
	c.want(c.read(at(31)), "another one", "created IAM::User a alice likely", "created IAM::User b mallory likely")
	log = c.read(at(45), entry(28, made(28, "alice", "a")))
	c.want(log, "an event that the history has, and one that it may still get", "created IAM::User a alice exact", "created IAM::User b mallory likely")
	if e := log.Events[0].Actor.Evidence; strings.Contains(e, "queue") {
		t.Errorf("evidence of the history %q", e)
	}
	c.queue.messages = []string{message(made(2, "mallory", "c")), message(made(28, "mallory", "a"))}
	c.want(c.read(at(55)), "events that the history lacks, and another form of one that it has", "created IAM::User a alice exact")
	if !strings.Contains(c.logged.String(), "event history lacks") {
		t.Errorf("logged %s", &c.logged)
	}
	c.queue.messages = []string{message(made(54, "alice", "d"))}
	c.read(at(56))
	c.config.Queue = ""
	c.want(c.read(at(57)), "events of a queue that is no longer configured", "created IAM::User a alice exact")
}

// TestQueueLarge receives the messages after others that are too large together.
func TestQueueLarge(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Queue: testQueue})
	for i := range 10 {
		c.queue.messages = append(c.queue.messages, fmt.Sprint(i, strings.Repeat("x", 100_000)))
	}
	c.queue.messages = append(c.queue.messages, message(made(28, "alice", "a")), message(made(28, "alice", "b")))
	log := c.read(at(30))
	c.want(log, "after large messages", "created IAM::User a alice likely", "created IAM::User b alice likely")
	if log.Unread() != "" || len(c.queue.messages) != 10 {
		t.Errorf("%d messages are left, unread %q", len(c.queue.messages), log.Unread())
	}
}

func TestQueueFailures(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Queue: testQueue})
	c.queue.messages = []string{message(made(28, "alice", "a"))}
	c.queue.refused["DeleteMessageBatch"] = &awsapi.Error{Status: 400, Code: "AccessDeniedException"}
	log := c.read(at(30))
	c.want(log, "without the right to delete", "created IAM::User a alice likely")
	if got := log.Unknown("eu-central-1"); !strings.Contains(got, "its messages could not be deleted: 400 AccessDeniedException; grant sqs:DeleteMessage") {
		t.Errorf("Unknown() = %q", got)
	}
	c.want(c.read(at(31)), "the same message again", "created IAM::User a alice likely")
	c.queue.refused = map[string]error{"ReceiveMessage": &awsapi.Error{Status: 400, Code: "AccessDeniedException"}}
	log = c.read(at(32))
	c.want(log, "without the right to receive", "created IAM::User a alice likely")
	if got := log.Unread(); !strings.HasPrefix(got, "the queue "+testQueue+" for eu-central-1, us-east-1 could not be read: 400 AccessDeniedException; grant sqs:ReceiveMessage") {
		t.Errorf("Unread() = %q", got)
	}
	c.queue.refused = nil
	if err := os.RemoveAll(c.folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(c.read(at(33)), "without a folder", "created IAM::User a alice likely")
	if len(c.queue.messages) != 1 {
		t.Error("a message is deleted although its event is not kept")
	}
	c.folder = ""
	c.want(c.read(at(34)), "without any folder", "created IAM::User a alice likely")
	if len(c.queue.messages) != 1 {
		t.Error("a message is deleted although its event is not kept")
	}
}

// TestQueueBounds receives more messages than a scan may in several scans, and deletes what it can.
func TestQueueBounds(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Queue: testQueue})
	for i := range 10*maxReceives + 5 {
		c.queue.messages = append(c.queue.messages, message(made(i%30, "alice", fmt.Sprint("u", i))))
	}
	c.queue.stuck = c.queue.messages[3]
	log := c.read(at(30))
	if got := log.Unknown("eu-central-1"); len(log.Events) != 10*maxReceives || len(c.queue.messages) != 6 || !strings.Contains(got, "its messages could not be deleted: InternalError") {
		t.Errorf("%d events, %d messages are left, %q", len(log.Events), len(c.queue.messages), got)
	}
	c.queue.stuck = ""
	log = c.read(at(31))
	if got := log.Unknown("eu-central-1"); len(log.Events) != 10*maxReceives+5 || len(c.queue.messages) > 0 || strings.Contains(got, "messages") {
		t.Errorf("%d events, %d messages are left, %q", len(log.Events), len(c.queue.messages), got)
	}
	if got := c.read(at(32)).Unknown("eu-central-1"); !strings.Contains(got, "since 2026-11-29 03:30 UTC has") {
		t.Errorf("Unknown() = %q", got)
	}
	if got := c.read(at(32).Add(retention + time.Minute)).Unknown("eu-central-1"); !strings.Contains(got, "since 2026-12-03 03:33 UTC has") {
		t.Errorf("after a long pause, Unknown() = %q", got)
	}
}

func TestTrail(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Trail: testTrail, TrailOwner: "222222222222", Lookback: time.Hour})
	c.store.page = 2
	other := func(text string) string { return strings.ReplaceAll(text, "eu-central-1", "us-east-1") }
	c.store.objects = map[string]any{
		key(10, "one"): zipped(made(8, "alice", "a"), made(9, "bob", "b")),
		key(20, "two"): zipped(made(19, "carol", "c"), other(made(19, "eve", "x")), strings.ReplaceAll(made(19, "eve", "y"), "123456789012", "999999999999"),
			strings.Replace(made(19, "eve", "z"), "{", `{"eventCategory":"Data",`, 1), made(70, "eve", "later"),
			strings.Replace(made(19, "eve", "r"), `"readOnly":false`, `"readOnly":true`, 1)),
		key(-90, "old"):                    zipped(made(5, "eve", "old")),
		key(20, "x-y"):                     zipped(made(19, "eve", "named")),
		key(99, "new"):                     zipped(made(19, "eve", "future")),
		testFolder + "2026/11/29/note.txt": []byte("x"),
	}
	log := c.read(at(30))
	users := []string{"created IAM::User a alice likely", "created IAM::User b bob likely", "created IAM::User c carol likely"}
	c.want(log, "the files of the last hour", users...)
	if e := log.Events[2].Actor.Evidence; !strings.HasSuffix(e, "as in s3://audit/"+key(20, "two")) {
		t.Errorf("evidence %q", e)
	}
	if got := log.Unknown("eu-central-1"); !strings.HasPrefix(got, "the trail s3://audit/prod/AWSLogs for eu-central-1 since 2026-11-29 02:30 UTC has no event") {
		t.Errorf("Unknown() = %q", got)
	}
	c.store.got = nil
	c.store.objects[key(15, "late")] = zipped(made(14, "dave", "d"))
	c.want(c.read(at(40)), "a file that is late", append(users, "created IAM::User d dave likely")...)
	if diff := cmp.Diff([]string{"late.json.gz"}, c.store.got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	c.store.refused = &awsapi.Error{Status: 403, Code: "AccessDenied"}
	log = c.read(at(50))
	c.want(log, "without the right", append(users, "created IAM::User d dave likely")...)
	if got := log.Unread(); got != "the trail s3://audit/prod/AWSLogs for eu-central-1, us-east-1 could not be read: 403 AccessDenied; "+
		"grant s3:ListBucket and s3:GetObject on the bucket, also in its policy if it is of another account, and set audit.trail_owner to that account" {
		t.Errorf("Unread() = %q", got)
	}
}

// TestCopyMentions makes an edit likely by a later event with an unknown effect that names the resource by its ARN.
func TestCopyMentions(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Pages: 4, Queue: testQueue})
	c.queue.messages = []string{message(strings.Replace(made(29, "bob", "x"), `"CreateUser"`, `"Unknown","resources":[{"ARN":"arn:aws:iam::123456789012:role/admin/r"}]`, 1))}
	edit := event(28, "alice", "iam", "UpdateAssumeRolePolicy", `{"roleName":"r"}`, "null", "")
	c.want(c.read(at(30), edit), "named later", "edited IAM::Role r assume_role_policy,public alice likely")
}

func TestTrailFailures(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Trail: testTrail})
	denied := &awsapi.Error{Status: 403, Code: "AccessDenied", Message: "kms:Decrypt"}
	c.store.objects = map[string]any{key(10, "one"): denied, key(11, "two"): denied}
	for range maxAttempts + 1 {
		if log := c.read(at(30)); !strings.Contains(log.Unread(), "grant kms:Decrypt") {
			t.Fatalf("Unread() = %q", log.Unread())
		}
	}
	c.store.objects[key(10, "one")], c.store.objects[key(11, "two")] = zipped(made(9, "alice", "a")), []byte("\x1f\x8bno")
	c.store.objects[key(12, "large")] = &httpclient.TooLarge{Limit: 1}
	log := c.read(at(31))
	c.want(log, "a file that is no gzip does not stop the others", "created IAM::User a alice likely")
	if got := log.Unknown("eu-central-1"); !strings.Contains(got, "2 files could not be read, such as 2026/11/29/123456789012_CloudTrail_eu-central-1_20261129T0312Z_large.json.gz: the answer is larger than 1 bytes: raise max_body, and is tried again") || log.Unread() != "" {
		t.Errorf("Unknown() = %q, Unread() = %q", got, log.Unread())
	}
	delete(c.store.objects, key(12, "large"))
	c.store.got = nil
	for range maxAttempts + 2 {
		log = c.read(at(32))
	}
	if got := log.Unknown("eu-central-1"); !strings.Contains(got, "T0311Z_two.json.gz could not be read: gzip: invalid header, and is not tried again") && !strings.Contains(got, "and is not tried again") {
		t.Errorf("Unknown() = %q", got)
	}
	if got := slices.DeleteFunc(c.store.got, func(name string) bool { return name != "two.json.gz" }); len(got) != maxAttempts-1 {
		t.Errorf("a broken file was read %d times more, want %d", len(got), maxAttempts-1)
	}
}

// TestTrailBounds reads more files than a scan may in several scans, and none twice.
func TestTrailBounds(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Trail: testTrail})
	for i := range maxObjects + 20 {
		c.store.objects[key(i%30, fmt.Sprint("f", i))] = zipped(made(1, "alice", fmt.Sprint("u", i)))
	}
	log := c.read(at(40))
	if got := log.Unknown("eu-central-1"); len(log.Events) != maxObjects || !strings.Contains(got, "files since 2026-11-29 03:2") || !strings.Contains(got, "are read in the next scans") {
		t.Errorf("%d events, %q", len(log.Events), got)
	}
	log = c.read(at(41))
	if got := log.Unknown("eu-central-1"); len(log.Events) != maxObjects+20 || strings.Contains(got, "next scans") || len(c.store.got) != maxObjects+20 {
		t.Errorf("%d events of %d files, %q", len(log.Events), len(c.store.got), got)
	}
}

func TestEachEvent(t *testing.T) {
	t.Parallel()
	whole := zipped(`{"a":1}`, `{"b":2}`)
	large := fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", 2*maxEvent))
	many := zipped(strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"a":%q},`, strings.Repeat("x", maxEvent/2)), 2*(maxUnpacked/maxEvent)+1), ","))
	for _, test := range []struct {
		reason  string
		content []byte
		want    string
	}{
		{"gzip", whole, "2 events"},
		{"plain", []byte(`{"x":[1],"Records":[{"a":1}],"y":{}}`), "1 events"},
		{"an event that cannot be decoded hides none of the others", zipped(`{"a":1,"a":2}`, `{"b":2}`), "1 events"},
		{"no events", []byte(`{"Records":[]}`), "0 events"},
		{"another document", []byte(`{"awsAccountId":"1"}`), "it has no Records"},
		{"a list", []byte(`[]`), "it is no log file of CloudTrail"},
		{"a list of another form", []byte(`{"Records":{}}`), "it is no log file of CloudTrail"},
		{"nothing", nil, "EOF"},
		{"a part", whole[:len(whole)-12], "unexpected EOF"},
		{"another checksum", append(slices.Clone(whole[:len(whole)-8]), 1, 2, 3, 4, 5, 6, 7, 8), "gzip: invalid checksum"},
		{"a large event", zipped(large), "it has an event of more than 1 MiB"},
		{"a bomb", many, "it has more than 128 MiB unpacked"},
	} {
		n := 0
		err := eachEvent(test.content, func(model.Value) error { n++; return nil })
		got := fmt.Sprint(n, " events")
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}

func FuzzEachEvent(f *testing.F) {
	f.Add(zipped(`{"a":1}`))
	f.Add([]byte(`{"Records":[{"a":1}]}`))
	f.Fuzz(func(_ *testing.T, content []byte) {
		_ = eachEvent(content, func(model.Value) error { return nil })
	})
}

func FuzzTake(f *testing.F) {
	f.Add(message(made(1, "alice", "a")))
	f.Add(message(made(1, "alice", "a"))[1:])
	f.Add(message(strings.ReplaceAll(made(1, "alice", "a"), "123456789012", "999999999999")))
	operations := table()
	f.Fuzz(func(t *testing.T, body string) {
		d := &drain{copied: copied{account: Account{"123456789012", "aws"}, operations: operations, from: testQueue, now: at(30)}}
		d.take(model.MapOf(model.Field{Name: "Body", Value: model.StringOf(body)}, model.Field{Name: "ReceiptHandle", Value: model.StringOf("r")}))
		if len(d.found) > len(d.handled) || d.strange+len(d.handled) > 1 {
			t.Errorf("%d events, %d messages to delete, %d strange ones", len(d.found), len(d.handled), d.strange)
		}
		for _, r := range d.found {
			if r.From == "" || r.Actor.Confidence == model.Exact || r.At.After(at(50)) {
				t.Errorf("record %+v", r)
			}
		}
	})
}

func TestCopySettings(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]Config{
		"a bucket alone":           {Trail: "s3://audit"},
		"the folder of an account": {Trail: "s3://audit/AWSLogs/123456789012"},
		"another bucket":           {Trail: "s3://arn:aws:s3:::audit/AWSLogs"},
		"a path that leaves":       {Trail: "https://audit/AWSLogs"},
		"an owner without a trail": {TrailOwner: "123456789012"},
		"an owner by name":         {Trail: testTrail, TrailOwner: "logs"},
		"the URL of a queue":       {Queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/driftd"},
		"a queue in order":         {Queue: testQueue + ".fifo"},
	} {
		if c.Check() == nil {
			t.Errorf("%s is accepted", reason)
		}
	}
	for _, c := range []Config{{Trail: testTrail, Queue: testQueue}, {Trail: "s3://a-b.c/AWSLogs/o-a1b2c3d4e5", TrailOwner: "123456789012"}} {
		if err := c.Check(); err != nil || !c.Reads(true) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
