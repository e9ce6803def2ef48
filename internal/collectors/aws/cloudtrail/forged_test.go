package cloudtrail

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// did returns an event, as in a copy, of an operation on a policy of a role.
func did(minute int, who, operation string) string {
	v, err := decode.JSON([]byte(event(minute, who, "iam", operation, `{"roleName":"r","policyName":"p"}`, "null", `,"readOnly":false`)))
	if err != nil {
		panic(err)
	}
	return v.At("CloudTrailEvent").Str()
}

// TestForgedDeletion checks that a forged deletion makes no editor the certain creator.
func TestForgedDeletion(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Pages: 4, Queue: testQueue})
	genuine := []string{entry(27, did(27, "alice", "PutRolePolicy")), entry(10, did(10, "mallory", "PutRolePolicy"))}
	c.queue.messages = []string{message(did(25, "bob", "DeleteRolePolicy"))}
	log := c.read(at(30), genuine...)
	found := strings.Join(describe(log.Events), "\n")
	if !strings.Contains(found, "deleted IAM::RolePolicy r:p bob likely") || strings.Contains(found, "created IAM::RolePolicy r:p alice exact") {
		t.Errorf("got\n%s", found)
	}
}

// TestOldCopies checks that an event that was copied long after it happened does not count: the event history may begin later,
// and would not refute it.
func TestOldCopies(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Pages: 4, Queue: testQueue, Trail: testTrail})
	c.read(at(0))
	day := 24 * 60
	c.queue.sent = at(day)
	c.queue.messages = []string{message(made(-1500, "alice", "a")), message(made(day-10, "alice", "b"))}
	c.store.objects[key(day, "one")] = zipped(made(-1501, "alice", "c"), made(day-11, "alice", "d"))
	c.want(c.read(at(day+5)), "events of the day", "created IAM::User b alice likely", "created IAM::User d alice likely")
	c.queue.sent = at(day + 90)
	c.queue.messages = []string{message(made(day+88, "alice", "e")), message(made(day+200, "alice", "f"))}
	c.want(c.read(at(day+6)), "events since the scan began, and of the future", "created IAM::User b alice likely", "created IAM::User d alice likely", "created IAM::User e alice likely")
	if len(c.queue.messages) != 0 {
		t.Errorf("%d messages are left", len(c.queue.messages))
	}
}

// TestRegionAdded checks that the events that a queue had of a region count as soon as the region is read, and not before.
func TestRegionAdded(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Queue: testQueue})
	c.queue.messages = []string{message(made(20, "alice", "a")), strings.ReplaceAll(message(made(21, "bob", "b")), "eu-central-1", "eu-west-1")}
	c.want(c.read(at(30)), "one region", "created IAM::User a alice likely")
	log := New(c.config, testEnv(c.folder), &Pace{}).Read(t.Context(), Server{Client: c.queue}, Account{"123456789012", "aws"}, []string{"eu-central-1", "eu-west-1"}, at(31))
	c.want(log, "two regions", "created IAM::User a alice likely", "created IAM::User b bob likely")
}

// TestRefusedFiles checks that files that cannot be had do not stop the reading of later ones.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	c := newCopies(t, Config{Trail: testTrail})
	for i := range 4 * atOnce {
		c.store.objects[key(1, fmt.Sprintf("f%03d", i))] = &awsapi.Error{Status: 403, Code: "AccessDenied", Message: "kms:Decrypt"}
	}
	c.store.objects[key(20, "last")] = zipped(made(19, "alice", "a"))
	log := c.read(at(30))
	c.want(log, "after files that are encrypted with another key", "created IAM::User a alice likely")
	if got := log.Unknown("eu-central-1"); log.Unread() != "" || !strings.Contains(got, "16 files could not be read, such as 2026/11/29/") {
		t.Errorf("Unknown() = %q, Unread() = %q", got, log.Unread())
	}
}

// endless has lists that never end.
type endless struct {
	fakeStore

	list func(after string) []string
	n    int
}

func (e *endless) List(_ context.Context, _, _, _, after string) ([]string, bool, error) {
	e.n++
	return e.list(after), true, nil
}

// TestEndlessLists checks that a list without an end is not taken for a whole one, and that objects behind the log files are not
// listed.
func TestEndlessLists(t *testing.T) {
	t.Parallel()
	read := func(list func(after string) []string) (regionTrail, int, error) {
		store := &endless{list: list}
		x := &fetch{copied: copied{account: Account{"123456789012", "aws"}, now: at(30)}, objects: store, folder: "prod/AWSLogs", region: "eu-central-1"}
		s, _, err := x.read(t.Context(), regionTrail{})
		return s, store.n, err
	}
	for reason, list := range map[string]func(string) []string{
		"no keys":      func(string) []string { return nil },
		"the same key": func(string) []string { return []string{key(1, "x")} },
	} {
		if s, _, err := read(list); err == nil || !strings.Contains(err.Error(), "does not end") || s.Until.Equal(at(30)) {
			t.Errorf("%s: until %s, error %v", reason, s.Until, err)
		}
	}
	_, n, err := read(func(after string) []string {
		if after < testFolder+"9999" {
			after = testFolder + "9999"
		}
		return []string{after + "9"}
	})
	if err != nil || n != 1 {
		t.Errorf("objects behind the log files: %d lists, error %v", n, err)
	}
}

// TestBusyQueue checks that a scan ends although messages come as fast as it receives them.
func TestBusyQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCopies(t, Config{Queue: testQueue})
		c.queue.wait = 9 * time.Second
		for i := range 10 * maxReceives {
			c.queue.messages = append(c.queue.messages, fmt.Sprint(i))
		}
		begun := time.Now()
		log := c.read(at(30))
		if took := time.Since(begun); took > time.Minute || !strings.Contains(log.Unknown("eu-central-1"), "the queue has more messages") {
			t.Errorf("%s, %q", took, log.Unknown("eu-central-1"))
		}
	})
}

// TestManyMentions checks that events that name one resource again and again do not keep a scan busy, and who of several
// named it last.
func TestManyMentions(t *testing.T) {
	t.Parallel()
	many := func(minute int, who string, r record) record {
		r.At, r.Actor = at(minute), model.Actor{Name: who, Confidence: model.Exact, At: at(minute)}
		return r
	}
	edits := record{Changes: slices.Repeat([]change{{Kind: "k", ID: "i-1"}}, 1000)}
	named := record{Mentions: slices.Repeat([]string{"i-1"}, 1000)}
	begun := time.Now()
	for _, test := range []struct {
		reason string
		who    []string
		want   model.Confidence
	}{
		{"the same person", []string{"alice"}, model.Exact},
		{"another one before", []string{"bob", "alice"}, model.Exact},
		{"another one last", []string{"alice", "bob"}, model.Likely},
		{"another one in between", []string{"alice", "bob", "alice"}, model.Likely},
		{"another one first and in between", []string{"bob", "bob", "bob", "alice"}, model.Likely},
	} {
		var records []record
		for i, who := range test.who {
			for range 100 {
				records = append(records, many(i, who, named))
			}
		}
		for range 20 {
			records = append(records, many(1, "alice", edits))
		}
		slices.SortStableFunc(records, func(a, b record) int { return a.At.Compare(b.At) })
		if got := auditEvents(records)[0].Actor.Confidence; got != test.want {
			t.Errorf("%s: %s", test.reason, got)
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
