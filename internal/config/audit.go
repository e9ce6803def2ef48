package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/notify/post"
)

// Audit configures the audit log.
type Audit struct {
	// KeyFile is the file of the private key that signs the heads of the log.
	KeyFile string `mapstructure:"key_file" path:"true"`
	// PublicKey is the required public key of the log, as driftd audit key prints it. A log with another
	// key, such as a new log, is in doubt.
	PublicKey string `mapstructure:"public_key"`
	// Witness are the places outside of the database that keep the heads of the log. Each has exactly one
	// of file, webhook, webhook_file and git.
	Witness []Witness `mapstructure:"witness"`
}

// A Witness is a place outside of the database that keeps the heads of the audit log.
type Witness struct {
	// File is a file to which heads are appended, preferably on the file system of another machine.
	File string `mapstructure:"file" path:"true"`
	// Webhook is the URL to which heads are posted.
	Webhook string `mapstructure:"webhook"`
	// WebhookFile is a file with the URL to which heads are posted, if the URL is secret.
	WebhookFile string `mapstructure:"webhook_file" path:"true"`
	// Git is the URL of a repository to which heads are pushed, or the absolute path of a local
	// one.
	Git string `mapstructure:"git"`
	// Branch is the branch of the repository. driftd creates it, and never rewrites it.
	Branch string `mapstructure:"branch"`
	// Username is the user name for git over https.
	Username string `mapstructure:"username"`
	// TokenFile is a file with the token, which is sent to a webhook as Authorization: Bearer, and to git
	// over https as the password.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile is a file with the certificate authorities to trust. The default are those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// SSHKeyFile is a file with the private key for git over ssh. The default is the ssh agent.
	SSHKeyFile string `mapstructure:"ssh_key_file" path:"true"`
	// KnownHostsFile is a file with the hosts to trust over ssh. The default are the files of the user and
	// of the system.
	KnownHostsFile string `mapstructure:"known_hosts_file" path:"true"`
	// SharedWith are the origins of other logs that use the same file or branch. Heads of any other origin
	// must belong to this log.
	SharedWith []string `mapstructure:"shared_with"`
}

// DefaultWitnessBranch is the default of Witness.Branch for a git witness.
const DefaultWitnessBranch = "driftd-audit"

// adopt fills in the defaults of a git witness.
func (w *Witness) adopt() {
	if w.Git != "" {
		w.Branch, w.Username = cmp.Or(w.Branch, DefaultWitnessBranch), cmp.Or(w.Username, "git")
	}
}

// places returns the keys that are set of those that name the place.
func (w *Witness) places() (set []string) {
	for _, p := range []struct{ key, value string }{{"file", w.File}, {"webhook", w.Webhook}, {"webhook_file", w.WebhookFile}, {"git", w.Git}} {
		if p.value != "" {
			set = append(set, p.key)
		}
	}
	return set
}

// target returns a text that is the same for two witnesses of one place.
func (w *Witness) target() string {
	switch {
	case w.File != "":
		return "file " + w.File
	case w.Webhook != "":
		return "webhook " + strings.TrimSuffix(w.Webhook, "/")
	case w.WebhookFile != "":
		return "webhook_file " + w.WebhookFile
	case strings.HasPrefix(w.Git, "/"):
		return "git " + path.Clean(w.Git) + " " + w.Branch
	}
	return "git " + strings.TrimSuffix(strings.TrimSuffix(w.Git, "/"), ".git") + " " + w.Branch
}

func (d *document) checkAudit(a *Audit) {
	first := map[string]int{}
	for i := range a.Witness {
		w, at := &a.Witness[i], fmt.Sprintf("audit.witness[%d]", i)
		switch set := w.places(); {
		case len(set) == 0:
			d.addUnlessMeant(at, []string{"file", "webhook", "webhook_file", "git"}, "a witness without a place: set file, webhook, webhook_file or git")
			continue
		case len(set) > 1:
			d.add(at, "a witness with %s: keep one, and write each other one as a witness of its own", strings.Join(set, " and "))
			continue
		}
		d.checkPlace(at, w)
		d.checkOnlyWith(at, w)
		if w.File != "" && w.File == a.KeyFile {
			d.add(at+".file", "the file of the witness is the one of audit.key_file: name another")
		}
		target := w.target()
		if before, ok := first[target]; ok {
			d.add(at, "a second witness of the same place: %s has it already", d.line(fmt.Sprintf("audit.witness[%d]", before), at))
			continue
		}
		first[target] = i
	}
}

// addUnlessMeant adds a problem, unless a misspelt key was meant for one of the keys.
func (d *document) addUnlessMeant(at string, keys []string, text string) {
	for _, key := range keys {
		if d.meant[child(at, key)] {
			return
		}
	}
	d.add(at, "%s", text)
}

// checkPlace checks the URL of a witness. A problem does not show it.
func (d *document) checkPlace(at string, w *Witness) {
	switch {
	case w.Webhook != "":
		to, err := post.Address(w.Webhook)
		if err == nil && to.Scheme == "http" && w.TokenFile != "" && !httpclient.Loopback(to.Hostname()) {
			err = errors.New("would send the token in clear text: use https")
		}
		if err != nil {
			d.add(at+".webhook", "webhook: the address %v", err)
		}
	case w.Git != "":
		if err := checkGitURL(w.Git); err != nil {
			d.add(at+".git", "git: %v", err)
		}
		if !validBranch(w.Branch) {
			d.add(at+".branch", "branch %q: want the name of a branch, such as %s", w.Branch, DefaultWitnessBranch)
		}
	}
}

// checkGitURL checks the form of a repository's URL. The opened witness checks the rest.
func checkGitURL(text string) error {
	if !strings.Contains(text, "://") {
		if strings.HasPrefix(text, "/") || strings.Contains(text, ":") {
			return nil
		}
		return fmt.Errorf("%s is neither a URL nor an absolute path", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("the address is not a valid URL")
	}
	_, password := u.User.Password()
	switch {
	case password, u.User != nil && u.Scheme != "ssh":
		return errors.New("the address must not contain a user or a password: use username and token_file")
	case u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" && u.Scheme != "file":
		return errors.New("the address must begin with https://, ssh:// or file://, or be an absolute path or git@host:path")
	case u.Scheme == "http" && !httpclient.Loopback(u.Hostname()):
		return errors.New("http would send the token in clear text, and anyone in between could drop heads: use https or ssh")
	}
	return nil
}

// validBranch reports whether a branch can have the name (git-check-ref-format(1)).
func validBranch(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return len(name) <= 200 && name != "@" && name != "HEAD" && !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, ".") &&
		!strings.HasPrefix(name, "refs/") && !strings.Contains(name, "..") && !strings.Contains(name, "@{") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) })
}

// checkOnlyWith adds a problem for each setting that the kind of the witness does not have.
func (d *document) checkOnlyWith(at string, w *Witness) {
	isWeb := w.Webhook != "" || w.WebhookFile != ""
	for _, s := range []struct {
		key, value, only string
		ok               bool
	}{
		{"branch", w.Branch, "git", w.Git != ""},
		{"username", w.Username, "git", w.Git != ""},
		{"ssh_key_file", w.SSHKeyFile, "git", w.Git != ""},
		{"known_hosts_file", w.KnownHostsFile, "git", w.Git != ""},
		{"token_file", w.TokenFile, "webhook and git", w.Git != "" || isWeb},
		{"ca_file", w.CAFile, "webhook and git", w.Git != "" || isWeb},
	} {
		if s.value != "" && !s.ok {
			d.add(at+"."+s.key, "%s applies only to %s: remove it", s.key, s.only)
		}
	}
	if len(w.SharedWith) > 0 && w.File == "" && w.Git == "" {
		d.add(at+".shared_with", "shared_with applies only to file and git: remove it")
	}
	if slices.Contains(w.SharedWith, "") {
		d.add(at+".shared_with", "an origin is empty: want the names of logs, which driftd audit key prints before the first +")
	}
	if w.TokenFile != "" && w.SSHKeyFile != "" {
		d.add(at+".ssh_key_file", "token_file and ssh_key_file are both set: https uses the first, ssh the second; remove one")
	}
}
