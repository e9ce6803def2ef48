package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestPendingSubscriptions checks that subscriptions that are not confirmed, which AWS lists without their ARNs, make those of their
// topic unread that it does not list with their ARNs.
func TestPendingSubscriptions(t *testing.T) {
	t.Parallel()
	const topic = "arn:aws:sns:eu-central-1:" + account + ":"
	subscription := func(of, arn string) model.Value {
		return textMap("TopicArn", topic+of, "SubscriptionArn", arn, "Protocol", "email")
	}
	pages := []Page{
		listed(t, "ListSubscriptions", subscription("t", topic+"t:1"), subscription("t", "PendingConfirmation"), subscription("t", "PendingConfirmation"), subscription("deleted", "Deleted")),
		listed(t, "ListSubscriptions", subscription("t", "PendingConfirmation"), subscription("other", "PendingConfirmation")),
	}
	resources, unread := Join(pages, nil, func(string, string) string { return "" })
	var got []string
	for i := range resources {
		got = append(got, resources[i].ID)
	}
	for _, u := range unread {
		got = append(got, fmt.Sprintf("%s* in %s %q %q", u.ID, u.Place, u.Name, u.SystemOwned))
	}
	want := []string{topic + "t:1", topic + `t:* in eu-central-1 "t email" "` + withoutID + `"`, topic + `other:* in eu-central-1 "other email" "` + withoutID + `"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	for id, want := range map[string]bool{"t:2": true, "other:1": true, "t-2:1": false, "deleted:1": false} {
		if got := slices.ContainsFunc(unread, func(u model.Unread) bool {
			return u.Includes(model.Ref{Kind: prefix + "SNS::Subscription", ID: topic + id}) && strings.Contains(u.Reason, "not confirmed")
		}); got != want {
			t.Errorf("%s is unread: %t, want %t", id, got, want)
		}
	}
	var page Page
	if err := page.Add(listOfAction(t, "ListSubscriptions").Kinds[0], textMap("SubscriptionArn", "PendingConfirmation"), attachedEnv(), nil); err == nil {
		t.Error("a subscription without a topic is accepted")
	}
}
