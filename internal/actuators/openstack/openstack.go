// Package openstack puts descriptions, tags, metadata and the port security of an OpenStack cloud back to
// their declared values, and deletes security group rules that no declaration declares.
//
// Neutron checks the revision of an object that is changed or deleted. Nova, Cinder and Glance have no such
// check: driftd reads the object again immediately before, and changes tags and metadata entries one by
// one, so that it does not overwrite others. It makes no other changes to servers, volumes and images, and
// creates no objects.
package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// Options configure an Actuator.
type Options struct {
	// Reading is the access of the source, which reads objects. Writing is the entry of a clouds.yaml with
	// the credentials that write to the same region.
	Reading openstackapi.Access
	Writing openstackapi.Entry
	// Timeout is the maximum duration of each request; 0 means 30 seconds.
	Timeout time.Duration
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// An Actuator implements reconcile.Deleter for a cloud. It is safe for concurrent use.
type Actuator struct {
	options Options
	kinds   map[string]*model.Kind
}

var _ reconcile.Deleter = (*Actuator)(nil)

// New returns an Actuator. It returns an error if the options are invalid. It does not use the network.
func New(o Options) (*Actuator, error) {
	if err := errors.Join(o.Reading.Check(), o.Writing.Check()); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Actuator{options: o, kinds: normalize.Schemas()}, nil
}

// Limit implements reconcile.Actuator. The limit includes another read of the source, which a deletion
// requires.
func (a *Actuator) Limit() time.Duration { return 2*a.options.Timeout + time.Minute }

// Deletes implements reconcile.Deleter. It returns true for security group rules.
func (a *Actuator) Deletes(kind string) bool { return kind == normalize.SecurityGroupRule }

// HandBack implements reconcile.Actuator. It does nothing, because fields in OpenStack have no owners.
func (a *Actuator) HandBack(context.Context, model.Key, reconcile.Plan) error { return nil }

const (
	maxBody = 16 << 20
	backoff = 500 * time.Millisecond
)

// writing returns the access that writes.
func (a *Actuator) writing() openstackapi.Access {
	return openstackapi.Access{Entry: a.options.Writing, Region: a.options.Reading.Region}
}

// with calls do with a session that sends each request up to a number of times; 0 for the default.
func (a *Actuator) with(ctx context.Context, access openstackapi.Access, attempts int, do func(*openstackapi.Session) error) error {
	login, err := access.Login()
	if err != nil {
		return access.Explain(access.CloudsFile, err)
	}
	limits := httpclient.Limits{Concurrency: 1, Timeout: a.options.Timeout, MaxBody: maxBody, Backoff: backoff, Attempts: attempts}
	session, err := openstackapi.Connect(ctx, login, limits)
	if err != nil {
		return access.Explain(login.Server(), err)
	}
	defer session.Close()
	return do(session)
}

// The guards of this package.
const (
	guardKind    = "kind"
	guardStillSo = "still-so"
	guardRights  = "rights"
)

func refuse(guard, format string, args ...any) error {
	return &reconcile.Refusal{Guard: guard, Why: fmt.Sprintf(format, args...)}
}

// An object is an object of the cloud as it was read.
type object struct {
	kind *normalize.Kind
	// row is what the service answered, and Object the same in the form of the collector.
	row model.Value
	normalize.Object
}

// errGone is the error of an object that does not exist.
var errGone = errors.New("it does not exist any more")

// read reads an object.
func read(ctx context.Context, s *openstackapi.Session, key model.Key) (*object, error) {
	i := slices.IndexFunc(normalize.Kinds(), func(k *normalize.Kind) bool { return k.Name == key.Kind })
	if i < 0 {
		return nil, fmt.Errorf("unknown kind %s", key.Kind)
	}
	o := &object{kind: normalize.Kinds()[i]}
	answer, err := s.ObjectIn(ctx, o.kind.Service, o.kind.Microversion, o.pathOf(key.ID), nil)
	if status := httpclient.StatusOf(err); status != nil && status.Own && status.Code == http.StatusNotFound {
		return nil, errGone
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key.ID, err)
	}
	if o.row = answer; o.item() != "" {
		o.row = answer.At(o.item())
	}
	if o.Object, err = normalize.New().Object(o.kind, o.row); err != nil || o.ID != key.ID {
		return nil, fmt.Errorf("read %s: %w", key.ID, &httpclient.Unexpected{Reason: "the answer is not that object"})
	}
	return o, nil
}

// pathOf returns the path of an object of the same kind.
func (o *object) pathOf(id string) string {
	return strings.TrimSuffix(o.kind.Path, "/detail") + "/" + url.PathEscape(id)
}

// item returns the field of an answer that has the object; "" if the answer is the object itself.
func (o *object) item() string {
	if o.kind.Service == normalize.Imaging {
		return ""
	}
	return strings.TrimPrefix(o.kind.Name, normalize.Type+"/")
}

// identity describes the account of a session.
func identity(s *openstackapi.Session) string {
	g := &s.Grant
	text := "user " + g.User.Name
	if g.ApplicationCredential.Name != "" {
		text += ", application credential " + g.ApplicationCredential.Name
	}
	return text + ", project " + g.Project.Name
}

// roles returns the roles of a session, in lower case and sorted.
func roles(s *openstackapi.Session) []string {
	var names []string
	for _, role := range s.Grant.Roles {
		names = append(names, strings.ToLower(role.Name))
	}
	slices.Sort(names)
	return names
}

// lacking returns why the account of a session may change nothing; "" if it may, or that is not known.
func lacking(s *openstackapi.Session) string {
	for _, role := range roles(s) {
		if role != "reader" {
			return ""
		}
	}
	return fmt.Sprintf("%s has no role but reader: give it another one, such as member", identity(s))
}

// Rights implements reconcile.Actuator. OpenStack does not list the permissions of an account; its roles
// indicate some of them.
func (a *Actuator) Rights(ctx context.Context, _ []reconcile.Rule) (r reconcile.Rights, err error) {
	err = a.with(ctx, a.writing(), 0, func(s *openstackapi.Session) error {
		r = reconcile.Rights{Endpoint: s.Server(), Identity: identity(s),
			May: []string{"what the policies of the services allow the roles " + strings.Join(roles(s), ", ") + ": OpenStack does not list that"}}
		if why := lacking(s); why != "" {
			r.Missing = []string{why}
		}
		if slices.Contains(roles(s), "admin") {
			r.Excess = []string{"the role admin, which may change every project: member is enough"}
		}
		return nil
	})
	return r, err
}
