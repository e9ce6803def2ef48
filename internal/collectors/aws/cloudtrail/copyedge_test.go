package cloudtrail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/model"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	whole := message(made(1, "alice", "a"))
	for _, test := range []struct {
		reason, body            string
		found, handled, strange int
	}{
		{"an event", whole, 1, 1, 0},
		{"no JSON", whole[1:], 0, 0, 1},
		{"another type", strings.Replace(whole, "AWS API Call via CloudTrail", "Scheduled Event", 1), 0, 0, 1},
		{"a source that every user can have", strings.Replace(whole, "aws.iam", "my.iam", 1), 0, 0, 1},
		{"two regions", strings.Replace(whole, "eu-central-1", "eu-west-1", 1), 0, 0, 1},
		{"no event", strings.Replace(whole, "eventID", "id", 1), 0, 0, 1},
		{"another account", strings.ReplaceAll(whole, "123456789012", "999999999999"), 0, 0, 0},
		{"an event of another account in an envelope of this one", strings.Replace(whole, `"recipientAccountId":"123456789012"`, `"recipientAccountId":"999999999999"`, 1), 0, 1, 0},
		{"no account in the event, which is optional there", strings.Replace(whole, `"recipientAccountId":"123456789012"`, `"x":1`, 1), 1, 1, 0},
		{"another region", strings.ReplaceAll(whole, "eu-central-1", "eu-west-1"), 1, 1, 0},
		{"an operation without an effect", strings.Replace(whole, `"CreateUser"`, `"Unknown"`, 1), 0, 1, 0},
	} {
		d := &drain{copied: copied{account: Account{"123456789012", "aws"}, operations: table(), now: at(30)}}
		d.take(model.MapOf(model.Field{Name: "Body", Value: model.StringOf(test.body)}, model.Field{Name: "ReceiptHandle", Value: model.StringOf("r")}))
		if len(d.found) != test.found || len(d.handled) != test.handled || d.strange != test.strange {
			t.Errorf("%s: %d events, %d messages to delete, %d strange ones", test.reason, len(d.found), len(d.handled), d.strange)
		}
	}
}

func TestCopyReasons(t *testing.T) {
	t.Parallel()
	refused := func(status int, code, text string) error {
		return &awsapi.Error{Status: status, Code: code, Message: text}
	}
	for _, test := range []struct {
		err         error
		queue, file string
	}{
		{refused(400, "QueueDoesNotExist", ""), "400 QueueDoesNotExist; correct audit.queue", "400 QueueDoesNotExist"},
		{refused(400, "AWS.SimpleQueueService.NonExistentQueue", ""), "400 AWS.SimpleQueueService.NonExistentQueue; correct audit.queue", "400 AWS.SimpleQueueService.NonExistentQueue"},
		{refused(400, "AccessDeniedException", "KMS"), "400 AccessDeniedException: KMS; grant kms:Decrypt on the key of the queue", "400 AccessDeniedException: KMS"},
		{refused(404, "NoSuchBucket", ""), "404 NoSuchBucket", "404 NoSuchBucket; correct audit.trail"},
		{refused(403, "AccessDenied", "kms"), "403 AccessDenied: kms; grant kms:Decrypt on the key of the queue", "403 AccessDenied: kms; grant kms:Decrypt on the key of the trail"},
		{context.Canceled, "the scan ended before it was read", "the scan ended before it was read"},
		{errors.New("other"), "other", "other"},
	} {
		if got := queueReason(test.err, "x"); got != test.queue {
			t.Errorf("queueReason(%v) = %q", test.err, got)
		}
		if got := trailReason(test.err); got != test.file {
			t.Errorf("trailReason(%v) = %q", test.err, got)
		}
	}
}

// TestPartly reads a queue while the event history is denied.
func TestPartly(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Pages: 1, Queue: testQueue})
	c.queue.messages = []string{message(made(2, "alice", "a"))}
	c.queue.pages = map[string][]any{"eu-central-1": {&awsapi.Error{Status: 400, Code: "AccessDeniedException"}}}
	log := New(c.config, testEnv(c.folder), &Pace{}).Read(t.Context(), Server{Client: c.queue}, Account{"123456789012", "aws"}, []string{"eu-central-1"}, at(30))
	c.want(log, "an old event that the history may have", "created IAM::User a alice likely")
	want := "the queue " + testQueue + " for eu-central-1 since 2026-11-29 03:30 UTC has no event whose effect on it is known; events are up to 15 minutes late; " +
		"CloudTrail's log in eu-central-1 could not be read: 400 AccessDeniedException; grant cloudtrail:LookupEvents"
	if got := log.Unknown("eu-central-1"); got != want {
		t.Errorf("Unknown() = %q", got)
	}
	c.read(at(31))
	if strings.Contains(c.logged.String(), "messages that are no events") {
		t.Errorf("logged %s", &c.logged)
	}
}

// TestTrailEnds reads a trail whose files cannot be had from some point on.
func TestTrailEnds(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Trail: testTrail})
	c.store.objects[key(1, "first")] = zipped(made(1, "alice", "a"))
	for i := range maxFailed + 10 {
		c.store.objects[key(2, fmt.Sprintf("f%03d", i))] = errors.New("the server failed")
	}
	log := c.read(at(30))
	c.want(log, "before the others", "created IAM::User a alice likely")
	if got := log.Unread(); got != "the trail s3://audit/prod/AWSLogs for eu-central-1 could not be read: the server failed" {
		t.Errorf("Unread() = %q", got)
	}
	for i := range maxFailed + 10 {
		c.store.objects[key(2, fmt.Sprintf("f%03d", i))] = zipped(made(2, "bob", fmt.Sprint("b", i)))
	}
	if log = c.read(at(31)); len(log.Events) != maxFailed+11 || log.Unread() != "" || strings.Contains(log.Unknown("eu-central-1"), "could not") {
		t.Errorf("after the failure: %d events, %q, %q", len(log.Events), log.Unread(), log.Unknown("eu-central-1"))
	}
	if log = c.read(at(31).Add(maxAge + time.Hour)); !strings.Contains(log.Unknown("eu-central-1"), "since 2027-02-26 04:31 UTC has") {
		t.Errorf("after a long pause: %q", log.Unknown("eu-central-1"))
	}
}

// TestTrailGivesUp replaces a file that is given up by another failure.
func TestTrailGivesUp(t *testing.T) {
	t.Parallel()
	s := regionTrail{Failed: map[string]failure{}}
	for i := range maxFailed {
		s.Failed[fmt.Sprintf("%03d", i)] = failure{Attempts: maxAttempts - 1}
	}
	if s.note("new", errors.New("x")) || len(s.Failed) != maxFailed {
		t.Error("a failure is kept beyond the bound")
	}
	if !s.note("005", errors.New("x")) || !s.note("new", errors.New("x")) || len(s.Failed) != maxFailed || s.Failed["005"].Attempts != 0 || s.Failed["new"].Attempts != 1 {
		t.Errorf("failures are %v", s.Failed)
	}
}

// TestTrailSize ends a scan's reading of files with many events, and goes on in the next scan.
func TestTrailSize(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Trail: testTrail})
	for i := range 3 * atOnce {
		large := strings.Replace(made(1, "alice", fmt.Sprint("u", i)), `"eventID":"`, `"eventID":"`+strings.Repeat("x", maxEvent/2), 1)
		events := []string{large}
		for j := range 5 {
			events = append(events, strings.ReplaceAll(large, fmt.Sprint("u", i), fmt.Sprint("u", i, "-", j)))
		}
		c.store.objects[key(2+i, "f")] = zipped(events...)
	}
	log := c.read(at(30))
	if got := log.Unknown("eu-central-1"); !strings.Contains(got, "files since 2026-11-29 03:05 UTC are read in the next scans") || len(log.Events) != 6*atOnce {
		t.Errorf("%d events, %q", len(log.Events), got)
	}
	log = c.read(at(31))
	if !slices.ContainsFunc(log.Events, func(e model.AuditEvent) bool { return e.ID == "u4" }) {
		t.Error("the next scan does not go on")
	}
}
