// Package netbox writes journal entries about findings to NetBox. A finding about an object of NetBox, or
// about a guest that NetBox declares, has one entry when it opens and one when it ends. docs/netbox.md
// describes the entries.
package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/post"
)

// Config configures a netbox receiver. At least one of Sources and Declarations must be set.
type Config struct {
	// Address of NetBox, with its path if it has one.
	URL string `mapstructure:"url"`
	// File with the API token that writes. It needs the permissions to view and to add journal entries, and no other.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// File with the CA certificates to trust. If it is not set, the system's are trusted.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Names of the sources of type netbox that read this NetBox. Entries about a finding of such a source
	// are added to its object.
	Sources []string `mapstructure:"sources"`
	// Names of the declarations of type netbox that read this NetBox. Entries about a finding on a declared
	// guest are added to the virtual machine or the device.
	Declarations []string `mapstructure:"declarations"`
	// Maximum duration of a request.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Definition returns the definition of the receiver type "netbox".
func Definition() notify.Definition {
	return notify.Define("netbox", Config{Timeout: 30 * time.Second}, open)
}

func open(env notify.Env, config Config) (notify.Receiver, error) {
	switch {
	case config.URL == "":
		return notify.Receiver{}, errors.New("setting url is missing: set it to the address of NetBox")
	case config.TokenFile == "":
		return notify.Receiver{}, errors.New("setting token_file is missing: name the file with a token that may add journal entries")
	case len(config.Sources)+len(config.Declarations) == 0:
		return notify.Receiver{}, errors.New("set sources or declarations: they are those of type netbox that read this NetBox")
	}
	if err := errors.Join(checkNames("sources", config.Sources, env.Sources), checkNames("declarations", config.Declarations, env.Declarations)); err != nil {
		return notify.Receiver{}, err
	}
	base, err := post.Address(strings.TrimSuffix(config.URL, "/"))
	if err != nil {
		return notify.Receiver{}, fmt.Errorf("url: the address %w", err)
	}
	if _, err := credential.Read(config.TokenFile); err != nil {
		return notify.Receiver{}, fmt.Errorf("token_file: %w", err)
	}
	client, err := post.New(post.Options{Server: "NetBox", Timeout: config.Timeout, CAFile: config.CAFile, Now: env.Now})
	if err != nil {
		return notify.Receiver{}, err
	}
	j := &journal{config: config, client: client, to: base.JoinPath(netboxapi.Path, entriesPath), env: env,
		access: netboxapi.Access{URL: base.String(), TokenFile: config.TokenFile, CAFile: config.CAFile}}
	return notify.Receiver{Notifier: j, Each: true, Concerns: func(f *model.Finding) bool { return config.object(f) != object{} }}, nil
}

// checkNames returns an error for the first name that is not known: its findings would silently have no entries.
func checkNames(setting string, names, known []string) error {
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s: none of type netbox is named %q: want one of [%s]", setting, name, strings.Join(known, ", "))
		}
	}
	return nil
}

// entriesPath is the path of the list of journal entries in the API.
const entriesPath = "extras/journal-entries/"

// A journal writes journal entries into one NetBox.
type journal struct {
	config Config
	client *post.Client
	to     *url.URL
	env    notify.Env
	access netboxapi.Access
}

// Notify implements notify.Notifier. It writes at most one entry. The receipt identifies the object with
// the entry, so that the entry about the end of a finding is added to the same object.
func (j *journal) Notify(ctx context.Context, entry model.OutboxEntry) (string, error) {
	m := &entry.Message
	if m.Kind == model.TestMessage {
		return "", j.test(ctx)
	}
	if len(m.News) != 1 {
		return entry.Receipt, nil
	}
	it := &m.News[0]
	at := parseObject(entry.Receipt)
	if at == (object{}) {
		at = j.config.object(&it.Finding)
	}
	written := newEntry(m, it, at)
	if at == (object{}) || written.Comments == "" {
		return entry.Receipt, nil
	}
	if entry.Begun {
		arrived, err := j.has(ctx, at, m.Key)
		if err != nil || arrived {
			return at.String(), err
		}
	}
	return at.String(), j.write(ctx, &written)
}

// write adds an entry.
func (j *journal) write(ctx context.Context, e *journalEntry) error {
	body, err := json.Marshal(e)
	if err != nil {
		return notify.Refused(fmt.Errorf("write journal entry as JSON: %w", err))
	}
	session, err := j.connect()
	if err != nil {
		return err
	}
	defer session.Close()
	header := session.Header()
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "driftd/"+j.env.Version)
	return explain(j.client.Send(ctx, j.to, header, body))
}

// connect returns a session with the token as it is in its file now.
func (j *journal) connect() (*netboxapi.Session, error) {
	const maxAnswer, maxPause = 4 << 20, time.Second
	session, err := netboxapi.Connect(j.access, httpclient.Limits{Concurrency: 1, Attempts: 1, Timeout: j.config.Timeout, MaxBody: maxAnswer, Backoff: maxPause})
	if err != nil {
		return nil, notify.Permanent(j.access.Explain(err))
	}
	return session, nil
}

// mayAdd is the next step for a token that NetBox refuses.
const mayAdd = "give the token the permission to add journal entries, and enable writing for it (NetBox: Admin > API Tokens)"

// explain adds the next step to the error of writing an entry.
func explain(err error) error {
	if errors.Is(err, notify.ErrPermanent) {
		return fmt.Errorf("%w; %s", err, mayAdd)
	}
	return err
}

// has reports whether the newest entries of an object include the one of a message.
func (j *journal) has(ctx context.Context, at object, key string) (bool, error) {
	session, err := j.connect()
	if err != nil {
		return false, err
	}
	defer session.Close()
	answer, _, err := session.Object(ctx, entriesPath, url.Values{"assigned_object_type": {at.typ}, "assigned_object_id": {at.id},
		"ordering": {"-created"}, "limit": {"100"}})
	if err != nil {
		return false, j.readError(err)
	}
	return slices.ContainsFunc(answer.At("results").Items(), func(row model.Value) bool {
		return row.At("assigned_object_id").Text() == at.id && strings.HasSuffix(strings.TrimSpace(row.At("comments").Str()), marker(key))
	}), nil
}

// test reads one entry: a test message is about no object.
func (j *journal) test(ctx context.Context) error {
	session, err := j.connect()
	if err != nil {
		return err
	}
	defer session.Close()
	if _, _, err = session.Object(ctx, entriesPath, url.Values{"limit": {"1"}}); err != nil {
		return j.readError(err)
	}
	return nil
}

// readError returns the error of reading entries. Without the permission to view them, a repeated message cannot be found.
func (j *journal) readError(err error) error {
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden && !netboxapi.TokenRejected(err):
		return notify.Permanent(fmt.Errorf("read journal entries: %w; give the token the permissions to view and to add them", err))
	case code == http.StatusForbidden, code == http.StatusUnauthorized:
		return notify.Permanent(j.access.Explain(err))
	}
	return j.access.Explain(err)
}
