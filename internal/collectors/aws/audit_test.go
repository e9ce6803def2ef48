package aws

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/model"
)

// withTrail answers STS and CloudTrail, and lets next answer the rest. code is an error of
// CloudTrail; "" for none.
func withTrail(next http.Handler, code string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".LookupEvents") && code != "":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"no"}`, code)
		case strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".LookupEvents"):
			at := time.Now().UTC().Truncate(time.Second)
			event := fmt.Sprintf(`{"eventID":"e-1","eventTime":%q,"eventSource":"s3.amazonaws.com","eventName":"PutBucketPolicy","awsRegion":"us-east-1","recipientAccountId":"123456789012",`+
				`"userIdentity":{"type":"IAMUser","userName":"alice"},"requestParameters":{"bucketName":"logs"}}`, at.Format(time.RFC3339))
			_, _ = fmt.Fprintf(w, `{"Events":[{"EventId":"e-1","EventTime":%d,"CloudTrailEvent":%q}]}`, at.Unix(), event)
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/driftd</Arn><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	withLog := func(c *Config) { c.Audit.Lookback = time.Hour }
	s, err := collect(t, withTrail(newStore("logs"), ""), withLog)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.AuditEvents) != 2 || s.AuditEvents[1].Ref != (model.Ref{Kind: normalize.BucketPolicy, ID: "logs"}) || s.AuditEvents[1].Actor.Name != "alice" || s.LogUnread != "" {
		t.Errorf("events %+v, unread %q", s.AuditEvents, s.LogUnread)
	}
	for _, r := range s.Resources {
		if !strings.Contains(r.WriterUnknown, "CloudTrail's log in us-east-1 since ") {
			t.Errorf("%s: %q", r.Kind, r.WriterUnknown)
		}
	}
	s, err = collect(t, withTrail(newStore("logs"), "AccessDeniedException"), withLog)
	if err != nil || len(s.Resources) == 0 {
		t.Fatalf("without the right: %d resources, %v", len(s.Resources), err)
	}
	for _, text := range []string{s.LogUnread, s.Resources[0].WriterUnknown, s.Kinds[normalize.BucketPolicy].WriterUnknown} {
		if !strings.Contains(text, "grant cloudtrail:LookupEvents") {
			t.Errorf("the reason without the right is %q", text)
		}
	}
	s, err = collect(t, newStore("logs"), nil)
	if err != nil || s.LogUnread != "" || !strings.Contains(s.Resources[0].WriterUnknown, "see the setting audit") {
		t.Errorf("a compatible server: %q, %q, %v", s.LogUnread, s.Resources[0].WriterUnknown, err)
	}
}
