package bus

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// written returns the path of a file with the text.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bus-url")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for reason, test := range map[string]struct{ text, want string }{
		"with TLS":                 {"amqps://driftd:hunter2@rabbit.example.org/cloud\n", "amqps://driftd:hunter2@rabbit.example.org/cloud"},
		"in oslo.messaging's form": {"rabbit://driftd:hunter2@rabbit.example.org:5672//", "amqp://driftd:hunter2@rabbit.example.org/%2F"},
		"with several hosts":       {"rabbit://driftd:hunter2@one:5673,driftd:hunter2@two:5673/cloud", "amqp://driftd:hunter2@one:5673/cloud"},
		"with a comma in it":       {"amqps://driftd:hunter,2@rabbit.example.org/cloud", "amqps://driftd:hunter,2@rabbit.example.org/cloud"},
		"of another kind":          {"https://driftd:hunter2@rabbit.example.org", ""},
		"an invalid port":          {"amqp://driftd:hunter2@rabbit:port/", ""},
		"with a space":             {"amqp://driftd:hunter2@rabbit host/", ""},
		"with a bad escape":        {"amqp://driftd:hunter2%zz@rabbit/", ""},
		"without a host":           {"hunter2", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			uri, err := Options{URLFile: written(t, test.text)}.address()
			switch {
			case test.want == "" && (err == nil || strings.Contains(err.Error(), "hunter2")):
				t.Errorf("error %v, want one without the password", err)
			case test.want != "" && (err != nil || !strings.HasPrefix(uri.String(), strings.TrimSuffix(test.want, "/%2F"))):
				t.Errorf("address %q, error %v; want %s", uri, err, test.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for reason, test := range map[string]struct {
		ctx  context.Context
		err  error
		want string
	}{
		"a wrong password":  {t.Context(), amqp.ErrCredentials, "rejects the user and password"},
		"a virtual host":    {t.Context(), amqp.ErrVhost, "may not use this virtual host"},
		"no right":          {t.Context(), &amqp.Error{Code: amqp.AccessRefused, Reason: "access to queue refused"}, `rabbitmqctl set_permissions -p cloud driftd "^driftd$" "^driftd$" "^(driftd|neutron|nova)$"`},
		"nothing listens":   {t.Context(), &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "nothing listens there"},
		"a queue of others": {t.Context(), errShared, "its queue has another consumer; give each driftd and each source its own queue"},
		"it took too long":  {gone, amqp.ErrClosed, "did not answer in time"},
		"another error":     {t.Context(), &amqp.Error{Code: amqp.ResourceLocked, Reason: "cannot obtain exclusive access"}, "cannot obtain exclusive access"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBus("")
			b.options.URLFile = written(t, "amqp://driftd:hunter2@rabbit.example.org:5672/cloud")
			got := b.explain(test.ctx, test.err)
			if !strings.Contains(got, test.want) || !strings.HasPrefix(got, "the notification bus at rabbit.example.org:5672") || strings.Contains(got, "hunter2") {
				t.Errorf("reason %q, want one with %q", got, test.want)
			}
		})
	}
}

func TestDrainOfUnreachableBus(t *testing.T) {
	t.Parallel()
	b := newBus("")
	b.options.URLFile = written(t, "amqp://driftd:hunter2@127.0.0.1:1/")
	if got := b.Drain(t.Context(), now()); !strings.Contains(got.Fault, "nothing listens there") || strings.Contains(got.Fault, "hunter2") {
		t.Errorf("fault %q, want one with the next step", got.Fault)
	}
	b.options.URLFile = written(t, "amqp://driftd:hunter2@rabbit.invalid/")
	if got := b.Drain(t.Context(), now()); !strings.Contains(got.Fault, "notifications.cleartext") || strings.Contains(got.Fault, "hunter2") {
		t.Errorf("fault %q, want one that names what allows it", got.Fault)
	}
	b.options.Cleartext = true
	if got := b.Drain(t.Context(), now()); got.Fault == "" || strings.Contains(got.Fault, "notifications.cleartext") {
		t.Errorf("fault %q, want one of a host that is not there", got.Fault)
	}
	b.options.URLFile = filepath.Join(t.TempDir(), "none")
	if got := b.Drain(t.Context(), now()); !strings.Contains(got.Fault, "url_file") {
		t.Errorf("fault %q, want one that names url_file", got.Fault)
	}
}
