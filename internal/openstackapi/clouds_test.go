package openstackapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogins(t *testing.T) {
	t.Parallel()
	auth := `auth_url: "https://k:5000/v3", `
	for name, tc := range map[string]struct {
		entry, secure, want string
	}{
		"another entry":      {`x: {}`, "", "cloud web of clouds_file does not exist: the file has x"},
		"no auth":            {`web: {}`, "", "has no auth_url"},
		"profile":            {`web: {profile: vexxhost}`, "", "uses a profile"},
		"without encryption": {`web: {auth: {auth_url: "http://k:5000"}}`, "", "without encryption"},
		"no address":         {`web: {auth: {auth_url: "k:5000"}}`, "", "is not an address"},
		"a number":           {`web: {auth: {` + auth + `username: u, user_domain_name: d, project_id: p, password: 0123}}`, "", "password that is not a text: put it in quotes"},
		"no secret":          {`web: {auth: {` + auth + `project_id: p}}`, "", "has no credentials"},
		"two secrets":        {`web: {auth: {` + auth + `project_id: p, password: a, token: b}}`, "", "several kinds of credentials (password, token)"},
		"no user":            {`web: {auth: {` + auth + `project_id: p, password: a}}`, "", "a password without its user"},
		"half a credential":  {`web: {auth: {` + auth + `application_credential_id: c}}`, "", "without its secret: write application_credential_secret"},
		"no project":         {`web: {auth: {` + auth + `username: u, user_domain_name: d, password: a}}`, "", "names no project"},
		"no domain":          {`web: {auth: {` + auth + `user_id: u, project_name: p, password: a}}`, "", "a project without its domain"},
		"no credential":      {`web: {auth: {` + auth + `application_credential_secret: a}}`, "", "without its id"},
		"method":             {`web: {auth_type: v3oidcpassword, auth: {` + auth + `password: a}}`, "", "auth_type v3oidcpassword"},
		"interface":          {`web: {interface: secret, auth: {` + auth + `user_id: u, project_id: p, password: a}}`, "", "want public, internal or admin"},
		"authority":          {`web: {cacert: none.pem, auth: {` + auth + `user_id: u, project_id: p, password: a}}`, "", "none.pem"},
		"certificate":        {`web: {cert: none.pem, auth: {` + auth + `user_id: u, project_id: p, password: a}}`, "", "cert and a key that cannot be used"},
		"broken":             {`web: {`, "", "read clouds.yaml"},
		"secure":             {`web: {auth: {` + auth + `user_id: u, project_id: p}}`, `web: {auth: {password: a}}`, ""},
		"broken secure":      {`web: {auth: {` + auth + `user_id: u, project_id: p}}`, `web: [`, "read secure.yaml"},
		"user":               {`web: {auth: {` + auth + `username: u, default_domain: default, project_name: p, password: a}}`, "", ""},
		"credential":         {`web: {auth: {` + auth + `application_credential_name: a, username: u, user_domain_id: d, application_credential_secret: s}}`, "", ""},
		"token":              {`web: {auth: {` + auth + `token: t, project_id: p}}`, "", ""},
		"internal":           {`web: {interface: internalURL, verify: false, auth: {` + auth + `user_id: u, project_id: p, password: a}}`, "", ""},
		"named by domain":    {`web: {auth: {` + auth + `username: u, domain_name: d, project_name: p, password: a}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, entry := range map[string]string{"clouds.yaml": tc.entry, "secure.yaml": tc.secure} {
				if entry == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte("clouds:\n  "+entry+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Access{Entry: Entry{CloudsFile: filepath.Join(dir, "clouds.yaml"), Cloud: "web"}}.Login()
			if tc.want == "" {
				if err != nil {
					t.Errorf("Login() = %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("Login() takes it")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%q does not hold %q", err, tc.want)
			}
		})
	}
}

// FuzzClouds tests that no error of a clouds.yaml contains a password.
func FuzzClouds(f *testing.F) {
	const secret = "hunter2-hunter2"
	f.Add("clouds:\n  web: {auth: {auth_url: 'https://k', user_id: u, project_id: p, password: " + secret + "}}\n")
	f.Add("clouds:\n  web: {auth: {password: " + secret + "}, regions: [{name: a}]}\n")
	f.Add("clouds: [" + secret)
	f.Add("clouds: {web: {auth: {password: [" + secret + "]}}}")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "clouds.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Access{Entry: Entry{CloudsFile: file, Cloud: "web"}}.Login()
		if err == nil && (l.Server() == "" || l.trust == nil) {
			t.Errorf("a login without an address: %q", text)
		}
		if err != nil && strings.Contains(err.Error(), secret) && strings.Count(text, secret) == 1 && strings.Contains(text, "password: "+secret) {
			t.Errorf("%v", err)
		}
	})
}
