package openstackapi

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// An Access contains the settings for connecting to a cloud. Its errors refer to them by the names
// of the settings of a source.
type Access struct {
	Entry

	// Region is the region; "" means the region of the entry.
	Region string
}

// An Entry selects an entry of a clouds.yaml, which contains the login.
type Entry struct {
	// CloudsFile is a clouds.yaml, in the format of the openstack command. A secure.yaml in the
	// same folder is read with it.
	CloudsFile string `mapstructure:"clouds_file" path:"true"`
	// Cloud is the entry of clouds_file to use.
	Cloud string `mapstructure:"cloud"`
}

// Check returns an error if a setting is missing.
func (e Entry) Check() error {
	switch {
	case e.CloudsFile == "":
		return errors.New("setting clouds_file is missing: set the clouds.yaml with the login; see docs/openstack.md")
	case e.Cloud == "":
		return errors.New("setting cloud is missing: set the name of the entry of clouds_file that is to be used")
	}
	return nil
}

// A Login is the content of an entry of a clouds.yaml. The zero Login has no server.
type Login struct {
	auth   gophercloud.AuthOptions
	region string
	// iface is the interface of the catalogue: public, internal or admin.
	iface string
	trust *tls.Config
	// Unverified reports whether the certificates of the servers are not verified.
	Unverified bool
}

// An entryError is the error of an invalid entry of a clouds.yaml.
type entryError struct{ cloud, what string }

func (e *entryError) Error() string {
	return fmt.Sprintf("cloud %s of clouds_file %s", e.cloud, e.what)
}

// Server returns the address of Keystone; "" for the zero Login.
func (l Login) Server() string { return l.auth.IdentityEndpoint }

// Login reads the login from clouds_file and secure.yaml. It is called for each session, so that a
// renewed password takes effect. It returns an error if a file cannot be read or the entry is
// missing or not valid.
func (a Access) Login() (Login, error) {
	file, _ := credential.Find(a.CloudsFile)
	entry, err := readEntry(a.CloudsFile, a.Cloud)
	if err != nil {
		return Login{}, err
	}
	secure, err := readEntry(filepath.Join(filepath.Dir(file), "secure.yaml"), a.Cloud)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Login{}, err
	}
	r := &entryReader{cloud: a.Cloud, dir: filepath.Dir(file), entry: overlay(entry, secure)}
	if r.entry.IsNull() {
		return Login{}, &entryError{a.Cloud, "does not exist: " + known(a.CloudsFile)}
	}
	l := r.login(a.Region)
	return l, r.err
}

// readEntry returns an entry of a file; null if the file does not have it.
func readEntry(file, cloud string) (model.Value, error) {
	clouds, err := readClouds(file)
	if err != nil {
		return model.Value{}, &localError{err}
	}
	return clouds.At(cloud), nil
}

func readClouds(file string) (model.Value, error) {
	text, err := credential.Read(file)
	if err != nil {
		return model.Value{}, err
	}
	docs, err := decode.YAML(strings.NewReader(text))
	if err != nil {
		return model.Value{}, fmt.Errorf("read %s: %w", filepath.Base(file), err)
	}
	if len(docs) == 0 {
		return model.Value{}, nil
	}
	return docs[0].Value.At("clouds"), nil
}

// CloudNames returns the names of the entries in a clouds.yaml.
func CloudNames(file string) ([]string, error) {
	clouds, err := readClouds(file)
	var names []string
	for _, f := range clouds.Fields() {
		names = append(names, f.Name)
	}
	return names, err
}

// known returns a text with the names of the entries of a file.
func known(file string) string {
	names, err := CloudNames(file)
	if err != nil || len(names) == 0 {
		return "the file has no clouds"
	}
	return "the file has " + strings.Join(names, ", ")
}

// overlay returns the map under with the values of over, which take precedence.
func overlay(under, over model.Value) model.Value {
	if under.Kind() != model.Map || over.Kind() != model.Map {
		if over.IsNull() {
			return under
		}
		return over
	}
	for _, f := range over.Fields() {
		under = under.With(f.Name, overlay(under.At(f.Name), f.Value))
	}
	return under
}

// An entryReader reads the fields of an entry, and keeps the first error.
type entryReader struct {
	cloud, dir string
	entry      model.Value
	err        error
}

func (r *entryReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &entryError{r.cloud, fmt.Sprintf(format, args...)}
	}
}

// text returns the text of the first of the fields that is set.
func (r *entryReader) text(section string, names ...string) string {
	from := r.entry
	if section != "" {
		from = from.At(section)
	}
	for _, name := range names {
		switch v, ok := from.Get(name); {
		case !ok || v.IsNull():
		case v.Kind() != model.String:
			// A number without quotes loses its leading zeros.
			r.fail("has a %s that is not a text: put it in quotes", name)
		case v.Str() != "":
			return v.Str()
		}
	}
	return ""
}

func (r *entryReader) auth(names ...string) string { return r.text("auth", names...) }

func (r *entryReader) login(region string) Login {
	l := Login{auth: r.options(), region: cmp.Or(region, r.text("", "region_name"))}
	l.iface = strings.TrimSuffix(cmp.Or(r.text("", "endpoint_type", "interface"), "public"), "URL")
	if !slices.Contains([]string{"public", "internal", "admin"}, l.iface) {
		r.fail("has an invalid interface: want public, internal or admin")
	}
	l.Unverified = r.entry.At("verify").Text() == "false"
	l.trust = r.trust(l.Unverified)
	return l
}

// options returns the options of the login.
func (r *entryReader) options() gophercloud.AuthOptions {
	common, commonName := r.auth("domain_id", "default_domain"), r.auth("domain_name")
	o := gophercloud.AuthOptions{
		IdentityEndpoint:            r.auth("auth_url"),
		TokenID:                     r.auth("token"),
		Username:                    r.auth("username"),
		UserID:                      r.auth("user_id"),
		Password:                    r.auth("password"),
		ApplicationCredentialID:     r.auth("application_credential_id"),
		ApplicationCredentialName:   r.auth("application_credential_name"),
		ApplicationCredentialSecret: r.auth("application_credential_secret"),
	}
	if o.Username != "" {
		o.DomainID, o.DomainName = domain(r.auth("user_domain_id"), r.auth("user_domain_name"), common, commonName)
	}
	r.checkAddress(o.IdentityEndpoint)
	r.checkMethod()
	r.checkSecret(&o)
	if o.ApplicationCredentialSecret == "" {
		o.Scope = r.scope(common, commonName)
	}
	// A token cannot be renewed.
	o.AllowReauth = o.TokenID == ""
	return o
}

// domain returns the domain's own id or name, or the common ones.
func domain(id, name, commonID, commonName string) (domainID, domainName string) {
	if id != "" || name != "" {
		if id != "" {
			return id, ""
		}
		return "", name
	}
	if commonName != "" {
		return "", commonName
	}
	return commonID, ""
}

func (r *entryReader) scope(common, commonName string) *gophercloud.AuthScope {
	if id := r.auth("project_id", "tenant_id"); id != "" {
		return &gophercloud.AuthScope{ProjectID: id}
	}
	name := r.auth("project_name", "tenant_name")
	if name == "" {
		if r.auth("token") == "" {
			r.fail("names no project: write project_id or project_name below auth")
		}
		return nil
	}
	s := &gophercloud.AuthScope{ProjectName: name}
	s.DomainID, s.DomainName = domain(r.auth("project_domain_id"), r.auth("project_domain_name"), common, commonName)
	if s.DomainID == "" && s.DomainName == "" {
		r.fail("has a project without its domain: write project_domain_name below auth")
	}
	return s
}

func (r *entryReader) checkAddress(address string) {
	u, err := url.Parse(address)
	switch {
	case address == "" && r.text("", "profile", "cloud") != "":
		r.fail("uses a profile, which is not supported: write auth_url below auth")
	case address == "":
		r.fail("has no auth_url: write that of the identity service below auth")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil:
		r.fail("has an auth_url that is not an address: want one such as https://openstack.example.org:5000/v3")
	case isCleartext(u):
		r.fail("has an auth_url that does not begin with https://: a password must not cross the network without encryption")
	}
}

// isCleartext reports whether the connection to an address is not encrypted.
func isCleartext(u *url.URL) bool { return u.Scheme != "https" && !httpclient.Loopback(u.Hostname()) }

// methods returns the supported values of auth_type.
func methods() []string {
	return []string{"", "password", "v3password", "token", "v3token", "v3applicationcredential"}
}

func (r *entryReader) checkMethod() {
	if method := r.text("", "auth_type"); !slices.Contains(methods(), method) {
		r.fail("has auth_type %s, which is not supported: use an application credential (v3applicationcredential)", printable.Text(method))
	}
}

// checkSecret checks that exactly one kind of credentials is set.
func (r *entryReader) checkSecret(o *gophercloud.AuthOptions) {
	ways := map[string]bool{
		"application_credential_secret": o.ApplicationCredentialSecret != "",
		"password":                      o.Password != "",
		"token":                         o.TokenID != "",
	}
	maps.DeleteFunc(ways, func(_ string, given bool) bool { return !given })
	switch {
	case len(ways) == 0:
		r.failWithoutSecret(o)
	case len(ways) > 1:
		r.fail("has several kinds of credentials (%s): keep one", strings.Join(slices.Sorted(maps.Keys(ways)), ", "))
	case o.Password != "" && o.UserID == "" && (o.Username == "" || o.DomainID == "" && o.DomainName == ""):
		r.fail("has a password without its user: write username and user_domain_name, or user_id, below auth")
	case o.ApplicationCredentialSecret != "" && o.ApplicationCredentialID == "" && (o.ApplicationCredentialName == "" || o.UserID == "" && o.Username == ""):
		r.fail("has the secret of an application credential without its id: write application_credential_id below auth")
	}
}

func (r *entryReader) failWithoutSecret(o *gophercloud.AuthOptions) {
	if o.ApplicationCredentialID != "" || o.ApplicationCredentialName != "" {
		r.fail("has an application credential without its secret: write application_credential_secret below auth, here or in secure.yaml")
		return
	}
	r.fail("has no credentials: write an application credential, a password or a token below auth")
}

// trust returns the TLS configuration, with the client certificate if there is one.
func (r *entryReader) trust(unverified bool) *tls.Config {
	trust, err := httpclient.Trust(r.path("cacert"))
	if err != nil {
		r.fail("names a cacert that cannot be used: %v", err)
		return nil
	}
	trust.InsecureSkipVerify = unverified
	cert, key := r.path("cert"), r.path("key")
	if cert == "" && key == "" {
		return trust
	}
	pair, err := tls.LoadX509KeyPair(cert, cmp.Or(key, cert))
	if err != nil {
		r.fail("names a cert and a key that cannot be used: %v", err)
	}
	trust.Certificates = []tls.Certificate{pair}
	return trust
}

// path returns the path of a file in the entry; relative paths are relative to the folder of
// clouds_file.
func (r *entryReader) path(name string) string {
	file := r.text("", name)
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.dir, file)
}
