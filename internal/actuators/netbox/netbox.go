// Package netbox writes live values into a NetBox that declares them, so that NetBox follows reality.
//
// It changes fields that people maintain on virtual machines and on their disks, interfaces, MAC addresses
// and primary addresses, with one request for each object. Since NetBox 4.6, the request contains the
// entity tag of the object; for older versions, driftd compares the time of the last change immediately
// before. The changelog message contains the finding, and the persons who requested and approved the
// action. The package never creates or deletes objects.
package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/reconcile"
)

// Options configure an Actuator.
type Options struct {
	// Access is the access to NetBox, with a token that can write.
	Access netboxapi.Access
	// Timeout is the maximum duration of each request; 0 means 30 seconds.
	Timeout time.Duration
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// An Actuator implements reconcile.Actuator for a NetBox. It is safe for concurrent use.
type Actuator struct{ options Options }

var _ reconcile.Actuator = (*Actuator)(nil)

// New returns an Actuator. It returns an error if the options are invalid. It does not use the network.
func New(o Options) (*Actuator, error) {
	switch {
	case o.Access.TokenFile == "":
		return nil, errors.New("setting token_file is missing: name the file with the token that writes")
	case o.Timeout <= 0:
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Actuator{o}, nil
}

// Limit implements reconcile.Actuator. The limit includes another read of the finding's source.
func (a *Actuator) Limit() time.Duration { return 2*a.options.Timeout + time.Minute }

const (
	maxBody = 16 << 20
	backoff = 500 * time.Millisecond
)

// with calls do with a session. The error has the next step, unless it is a *reconcile.Refusal or errGone.
func (a *Actuator) with(do func(*netboxapi.Session) error) error {
	err := a.over(do)
	if refusal := (*reconcile.Refusal)(nil); err == nil || errors.Is(err, errGone) || errors.As(err, &refusal) {
		return err
	}
	if status := httpclient.StatusOf(err); status != nil && status.Own && !netboxapi.TokenRejected(err) && (status.Code == http.StatusForbidden || status.Code == http.StatusNotFound) {
		return &httpclient.Error{Server: a.options.Access.URL, Err: err, Hint: "give the token the permission to view all virtual machines, virtual disks, interfaces, IP addresses and MAC addresses"}
	}
	return a.options.Access.Explain(err)
}

func (a *Actuator) over(do func(*netboxapi.Session) error) error {
	limits := httpclient.Limits{Concurrency: 1, Timeout: a.options.Timeout, MaxBody: maxBody, Backoff: backoff}
	session, err := netboxapi.Connect(a.options.Access, limits)
	if err != nil {
		return err
	}
	defer session.Close()
	return do(session)
}

// The guards of this package.
const (
	guardKind    = "kind"
	guardStillSo = "still-so"
	guardScope   = "scope"
)

func refuse(guard, format string, args ...any) error {
	return &reconcile.Refusal{Guard: guard, Why: fmt.Sprintf(format, args...)}
}

// The paths of the API.
const (
	machinesPath   = "virtualization/virtual-machines/"
	disksPath      = "virtualization/virtual-disks/"
	interfacesPath = "virtualization/interfaces/"
	addressesPath  = "ipam/ip-addresses/"
	macsPath       = "dcim/mac-addresses/"
)

// vmInterface is the type of an interface of a virtual machine.
const vmInterface = "virtualization.vminterface"

// An object is an object of NetBox as it was read.
type object struct {
	// path is its path in the API.
	path  string
	value model.Value
	// tag is its entity tag; "" if this version of NetBox has none.
	tag string
}

// list returns the path of the list that has the object.
func (o *object) list() string { return path.Dir(strings.TrimSuffix(o.path, "/")) + "/" }

func (a *Actuator) read(ctx context.Context, s *netboxapi.Session, at string) (object, http.Header, error) {
	v, header, err := s.Object(ctx, at, nil)
	if err != nil {
		return object{}, nil, err
	}
	return object{at, v, header.Get("ETag")}, header, nil
}

// errGone is the error of an object that does not exist.
var errGone = errors.New("NetBox has it no more")

// machine reads the virtual machine with an address: the path of its page below that of NetBox's lists.
func (a *Actuator) machine(ctx context.Context, s *netboxapi.Session, address string) (object, http.Header, error) {
	id, ok := strings.CutPrefix(address, "virtual-machines/")
	if _, err := strconv.ParseUint(id, 10, 63); !ok || err != nil {
		return object{}, nil, refuse(guardKind, "%s: driftd writes into virtual machines of NetBox", address)
	}
	o, header, err := a.read(ctx, s, machinesPath+id+"/")
	if httpclient.Code(err) == http.StatusNotFound {
		err = errGone
	}
	return o, header, err
}

// part reads the disk or the interface of a machine with a name.
func (a *Actuator) part(ctx context.Context, s *netboxapi.Session, vm *object, list, name string) (object, error) {
	answer, _, err := s.Object(ctx, list, url.Values{"virtual_machine_id": {vm.value.At("id").Text()}, "limit": {"0"}})
	if err != nil {
		return object{}, err
	}
	rows := slices.DeleteFunc(slices.Clone(answer.At("results").Items()), func(row model.Value) bool {
		return row.At("name").Str() != name || row.At("virtual_machine", "id").Text() != vm.value.At("id").Text()
	})
	if len(rows) != 1 {
		return object{}, refuse(guardKind, "NetBox has %d objects %q for it, and not one: look at %s", len(rows), name, strings.TrimSuffix(list, "/"))
	}
	o, _, err := a.read(ctx, s, list+rows[0].At("id").Text()+"/")
	return o, err
}

// HandBack implements reconcile.Actuator. It does nothing, because fields in NetBox have no owners.
func (a *Actuator) HandBack(context.Context, model.Key, reconcile.Plan) error { return nil }

// Rights implements reconcile.Actuator. NetBox does not report whether a token may write, only whether it
// may read.
func (a *Actuator) Rights(ctx context.Context, _ []reconcile.Rule) (reconcile.Rights, error) {
	r := reconcile.Rights{Endpoint: a.options.Access.URL}
	err := a.with(func(s *netboxapi.Session) error {
		r.Identity = s.Token()
		_, _, err := s.Object(ctx, machinesPath, url.Values{"limit": {"1"}})
		return err
	})
	r.May = []string{"read virtual machines; whether it may change them shows with the first action"}
	return r, err
}
