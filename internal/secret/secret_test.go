package secret_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

var sealer = model.NewSealer([]byte("a key of the installation"))

func room(o secret.Options) *secret.Room { return secret.New(sealer, o) }

func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"password": true, "DB_PASSWORD": true, "dbPassword": true, "DBPassword": true, "db-password": true, "db.password": true,
		"PGPASSWORD": true, "MYSQL_PWD": true, "passwd": true, "passphrase": true, "apiToken": true, "authtoken": true,
		"clientSecret": true, "aws_secret_access_key": true, "API_KEY": true, "x-api-key": true, "apiKey": true, "APIKey": true,
		"privateKey": true, "SIGNING_KEY": true, "credentials": true, "JWT": true, "JWT_SECRET": true, "SENTRY_DSN": true,
		"BASIC_AUTH": true, "Authorization": true, "Set-Cookie": true, "example.org/token": true, "auth_psk": true,
		"requirepass": true, "DB_PASSWORD_RO": true, "password2": true, "PASSWORD_2": true, "SLACK_WEBHOOK_URL": true,
		"secretName": false, "SECRET_NAME": false, "tokenExpirationSeconds": false, "automountServiceAccountToken": false,
		"passwordPolicy": false, "PUBLIC_KEY": false, "TOKEN_TTL": false, "imagePullSecret": false, "PASSWORD_FILE": false,
		"TOKEN_PATH": false, "secretKeyRef": false, "AWS_ACCESS_KEY_ID": false, "topologyKey": false, "key": false,
		"existingSecret": false, "enableTokenAuth": false, "replicas": false, "image": false, "nodeSelector": false,
		"nginx.ingress.kubernetes.io/auth-secret": false, "tlsSecret": false, "compass": false, "keyboard": false, "author": false,
		"passthrough": false, "monkey": false, "MYSQL_ALLOW_EMPTY_PASSWORD": false, "resourceVersion": false, "": false,
	} {
		if got := secret.Name(name); got != want {
			t.Errorf("Name(%q) = %v, want %v", name, got, want)
		}
	}
}

// planted is the secret in each of the texts below.
const planted = "hunTer2x9Q"

// texts are longer texts that contain a secret. stays is a part that must not be sealed.
var texts = []struct{ reason, text, stays string }{
	{"a password in a URL", "postgres://u:" + planted + "@db/x", "postgres://u:"},
	{"the password of a URL with a slash in it", "postgres://u:" + planted + "/abc@db/x", "@db/x"},
	{"the password of a URL with an at sign", "amqp://u:a@" + planted + "@db/x", "@db/x"},
	{"the password of a URL with a comma", "amqp://u:a," + planted + "@db/x", "@db/x"},
	{"no user", "redis://:" + planted + "@cache:6379/0", "cache:6379/0"},
	{"the second URL of a list", "amqp://guest@h1,amqp://u:" + planted + "@h2", "amqp://guest@h1,amqp://u:"},
	{"several hosts", "mongodb://u:" + planted + "@h1:27017,h2:27017/db?w=1", "@h1:27017,h2:27017/db?w=1"},
	{"a token for a user", "https://" + planted + "@github.com/o/r", "@github.com/o/r"},
	{"a token for a user with a placeholder", "https://" + planted + ":x-oauth-basic@github.com/o/r", "@github.com/o/r"},
	{"a JDBC URL", "jdbc:postgresql://db/x?user=a&password=" + planted + "&ssl=true", "&ssl=true"},
	{"a JDBC URL of SQL Server", "jdbc:sqlserver://db:1433;user=a;password=" + planted + ";encrypt=true", ";encrypt=true"},
	{"a DSN of Go's MySQL driver", "root:" + planted + "@tcp(db:3306)/x", "@tcp(db:3306)/x"},
	{"a DSN of libpq", "host=db user=u password=" + planted + " dbname=x", "dbname=x"},
	{"a DSN of libpq that begins with it", "password=" + planted + " host=db dbname=x", "host=db dbname=x"},
	{"a connection string of ADO", "Server=db;Database=x;User Id=u;Pwd=" + planted + ";Encrypt=yes", ";Encrypt=yes"},
	{"a PEM key", "-----BEGIN RSA PRIVATE KEY-----\n" + planted + "\n-----END RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----"},
	{"a JSON web token", "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + planted + " y", " y"},
	{"a token of GitHub", "use ghp_" + planted + "abcdefghijklmnopqrstuvwx now", " now"},
	{"a token of Slack", "xoxb-123456789012-" + planted, ""},
	{"a webhook of Slack", "https://hooks.slack.com/services/T000/B0000/" + planted, "https://"},
	{"a bearer token", "Authorization: Bearer " + planted, "Authorization: Bearer "},
	{"a bearer token elsewhere", `proxy_set_header Authorization "Basic ` + planted + `";`, `";`},
	{"JSON", `{"user": "u",  "password": "` + planted + `"}`, `{"user": "u",  "password": "`},
	{"a variable in JSON", `{"env":[{"value":"` + planted + `","name":"DB_PASSWORD"}]}`, `"name":"DB_PASSWORD"`},
	{"JSON in JSON", `{"a":"{\"token\":\"` + planted + `\"}"}`, `\"token\"`},
	{"a text that is not quite JSON", `{"password": "` + planted + `", }`, `{"password": "`},
	{"YAML", "db:\n  host: db\n  password: " + planted + "\nlog: debug\n", "log: debug"},
	{"quotes in YAML", "password: '" + planted + "' # old\nlog: debug", "# old"},
	{"a block in YAML", "password: |\n  " + planted + "\n  more\nlog: debug", "log: debug"},
	{"a flow map in YAML", "db: {password: " + planted + ", host: db}", "host: db"},
	{"a variable in YAML", "env:\n- name: API_TOKEN\n  value: " + planted + "\n- name: LEVEL\n  value: debug\n", "value: debug"},
	{"a file of variables", "LEVEL=debug\nexport DB_PASSWORD=" + planted + "\nX=1\n", "LEVEL=debug"},
	{"an ini file", "[db]\npassword = " + planted + "\nhost = db\n", "host = db"},
	{"properties", "spring.datasource.password=" + planted + "\nserver.port=80\n", "server.port=80"},
	{"a property string", "user=a,password=" + planted + ",size=4", ",size=4"},
	{"variables with zero bytes between them", "MODE=relay\x00TOKEN=" + planted + "\x00X=1", "X=1"},
	{"mysql", "mysql -u root -p" + planted + " x", "mysql -u root -p"},
	{"curl", "curl -fsS -u admin:" + planted + " https://x", "curl -fsS -u admin:"},
	{"curl with a header", `curl -H "X-Api-Key: ` + planted + `" https://x`, "https://x"},
	{"redis-cli", "exec redis-cli -a " + planted + " ping", " ping"},
	{"a flag and its value", "app --db-password " + planted + " --verbose", "--verbose"},
	{"a token's name and a secret", "pveum acl modify / --tokens 'a@pve!b'; app --tokens " + planted, "--tokens 'a@pve!b'"},
	{"a flag with its value", "app --token=" + planted + " --verbose", "--verbose"},
	{"a shell in a shell", `sh -c "mysql -p` + planted + ` && true"`, "true"},
	{"base64 of a file", "cGFzc3dvcmQ6IGh1blRlcjJ4OVEKaG9zdDogZGIK", ""},
	{"an XML element", "<server><username>ci</username><password>" + planted + "</password></server>", "<username>ci</username><password>"},
	{"an XML element with an attribute", `<wsse:Password Type="text">` + planted + "</wsse:Password>", "</wsse:Password>"},
	{"an XML element with CDATA", "<token><![CDATA[" + planted + "]]></token>", "]]></token>"},
	{"a .netrc file", "machine git.example.org login ci password " + planted + "\nmachine b login x\n", "machine b login x"},
	{"a default in a .netrc file", "default login ci password " + planted + " ", "default login ci password "},
	{"a login of Docker", `{"auths":{"r.example.org":{"auth":"Y2k6aHVuVGVyMng5UQ=="}}}`, `{"auths":{"r.example.org":{"auth":"`},
	{"a URL that was cut", "update: -description https://u:" + planted + "… (pvedaemon)", "… (pvedaemon)"},
	{"a URL that was cut behind a slash", "https://u:" + planted + "/ab…", "https://u:"},
	{"a token that was cut", "with ghp_" + planted + "… by", "… by"},
	{"HCL", `password = "` + planted + `"` + "\nregion = \"eu\"", `region = "eu"`},
	{"an error with its next step", "404 Not Found: no application credential: " + planted + "; check that it was not deleted", "; check that it was not deleted"},
	{"a login in a sentence", "it was made with the credentials: user ci, " + planted, "it was made with the credentials: "},
	{"a login in a sentence, with a comma", "it was made with the credentials: user ci:" + planted + ", for now", "it was made with the credentials: "},
	{"a variable in a sentence", "run it with AWS_CREDENTIALS=" + planted + " and no more", " and no more"},
	{"cloud-init", "#cloud-config\nchpasswd: {expire: false}\npassword: " + planted + "\nssh_pwauth: true\n", "ssh_pwauth: true"},
}

func TestSecretsInTextsAreMarked(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	for _, tc := range texts {
		got := r.Value("", model.StringOf(tc.text))
		if got.Kind() != model.String || strings.Contains(got.Text(), planted) || !strings.Contains(got.Text(), tc.stays) || got.Text() == tc.text {
			t.Errorf("%s: %q became %s", tc.reason, tc.text, got)
		}
		if again := r.Again("", got); !again.Equal(got) {
			t.Errorf("%s: sealed again, %s became %s", tc.reason, got, again)
		}
	}
}

// plain are texts without secrets.
var plain = []string{
	"https://example.org:8443/a…", "https://example.org:84…", "https://[::1]:80/a…", "tcp://db:5432…", "see https://example.org/ab…", "ghp_…",
	"<passwordPolicy>strict</passwordPolicy>", "<tokens></tokens>", "</password>", "login with password authentication", `{"auth": "ldap"}`, `{"auth":"a2V5"}`,
	"nginx:1.27", "registry.example.org:5000/team/vault-secret:1.2", "repo/app@sha256:0f3c0a2b4c5d6e7f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c9d0e1f",
	"sha256:0f3c0a2b4c5d6e7f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c9d0e1f", "3", "500m", "2Gi", "80", "web-5d8f7c9b6d",
	"62642e5d1a2b3c4d5e6f708192a3b4c5d6e7f809", "8f14e45f-ceea-467f-a0e6-3b2c1d0e9f8a", "712345", "https://example.org/a:b@c",
	"https://registry:5000/img@sha256:abc", "git@github.com:o/r.git", "ssh://git@github.com/o/r", "amqp://guest@h1", "https://unpkg.com/react@18/x",
	"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n",
	"--authentication-token-webhook-config-file=/etc/x", "--tls-private-key-file=/etc/tls.key", "--client-key=/etc/kubernetes/client.key",
	"Basic authentication is on", "the bearer of this", "$(DB_PASSWORD)", "postgres://u:$(DB_PASSWORD)@db/x", "/var/run/secrets/token",
	"system:serviceaccount:kube-system:token-cleaner", "arn:aws:secretsmanager:eu-central-1:1:secret:db", "secrets", "get,list,watch",
	"mysql -u root -e 'select 1'", "ps -p 1", "kubectl -n x get secret", "mkdir -p /data", "cp -a a b",
	"getting credentials: exec: executable kubelogin not found",
	"find AWS credentials: open /etc/driftd/aws1: no such file or directory; set region, profile",
	"find AWS credentials: context deadline exceeded", "operation error S3: ListBuckets, find AWS credentials: failed to refresh cached credentials, no EC2 IMDS role found",
	"lacks VM.Audit on /vms: pveum acl modify /vms --users driftd@pve --tokens 'driftd@pve!ro' --roles PVEAuditor",
}

func TestOtherTextsStay(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	for _, text := range plain {
		if got := r.Value("", model.StringOf(text)); !got.Equal(model.StringOf(text)) {
			t.Errorf("%q became %s", text, got)
		}
	}
}

func TestMarksCannotBeForged(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	for _, text := range []string{"postgres://u:" + planted + "@db/x", "Bearer " + planted, "--password=" + planted} {
		declared := r.Value("", model.StringOf(text))
		live := r.Value("", declared)
		if live.Equal(declared) {
			t.Errorf("a live text that contains the mark equals %s", declared)
		}
		if !strings.Contains(live.Text(), "(secret-") {
			t.Errorf("%s became %s, which contains a forged mark", declared, live)
		}
	}
}

func TestEqualSecretsHaveEqualMarks(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	mark := func(text string) string {
		sealed := r.Value("", model.StringOf(text)).Text()
		from := strings.Index(sealed, "(secret-")
		if from < 0 {
			t.Fatalf("%q became %q", text, sealed)
		}
		return sealed[from : from+strings.IndexByte(sealed[from:], ')')]
	}
	want := mark("password: " + planted)
	for _, text := range []string{"postgres://u:" + planted + "@h", `{"token":"` + planted + `"}`, "--token=" + planted, `password = "` + planted + `"`, "mysql -p" + planted} {
		if got := mark(text); got != want {
			t.Errorf("%q has mark %s, want %s", text, got, want)
		}
	}
	if mark("password: "+planted+"1") == want {
		t.Error("another secret has the same mark")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{"pin": true, "spec.*": true, "Deployment.apps spec.x": true, "spec[name=web].x": true, "": false, " ": false,
		"*": false, "*.*": false, "a b c": false, "spec[": false, `x\`: false} {
		if err := secret.Check(pattern); (err == nil) != want {
			t.Errorf("Check(%q) = %v", pattern, err)
		}
	}
}
