//go:build e2e

package secrets

// A plant is a secret in one place of Kubernetes objects.
type plant struct {
	// what describes the secret.
	what  string
	form  form
	place place
	// path is the changed field of the finding.
	path string
}

const (
	env  = "].env["
	args = "].args"
)

// kubernetesPlants is the table of secrets in Kubernetes objects.
func kubernetesPlants() []plant {
	const snippet = "nginx.ingress.kubernetes.io/configuration-snippet"
	return []plant{
		// Environment variables: by name.
		{"env DB_PASSWORD", plain, variable("DB_PASSWORD", "%s"), env},
		{"env API_TOKEN, odd characters", asIs, variable("API_TOKEN", "%s"), env},
		{"env BASIC_AUTH", basic, variable("BASIC_AUTH", "%s"), env},
		{"env AUTH_HEADER", plain, variable("AUTH_HEADER", "Bearer %s"), env},
		{"env JWT", jwt, variable("JWT", "%s"), env},
		{"env SESSION_SECRET in base64", inBase64, variable("SESSION_SECRET", "%s"), env},
		// Environment variables: by form.
		{"env URL password", plain, variable("DATABASE_URL", "postgres://u:%s@db/x"), env},
		{"env URL password, escaped", inURL, variable("DATABASE_URL", "postgres://u:%s@db/x?sslmode=disable"), env},
		{"env URL password with a slash", plain, variable("PGURL", "postgres://u:a/%s@db/x"), env},
		{"env URL user that is a token", shaped("ghp_", mixed, 36), variable("GIT_URL", "https://%s@github.com/x"), env},
		{"env second URL of a list", plain, variable("BROKERS", "amqp://guest@h1,amqp://u:%s@h2"), env},
		{"env URL query password, escaped", inQuery, variable("JDBC_URL", "jdbc:postgresql://db/x?user=a&password=%s&ssl=true"), env},
		{"env Go DSN", plain, variable("MYSQL_DSN", "root:%s@tcp(db:3306)/x"), env},
		{"env key-value DSN", plain, variable("PG", "host=db user=app password=%s dbname=x"), env},
		{"env ADO connection string", plain, variable("SQL", "Server=db;Database=x;User Id=sa;Password=%s;Encrypt=True"), env},
		{"env JSON password, escaped", inJSON, variable("SPRING_APPLICATION_JSON", `{"spring":{"datasource":{"username":"a","password":"%s"}}}`), env},
		{"env AWS access key", shaped("AKIA", upper, 16), variable("SETTINGS", "%s"), env},
		{"env Slack token", slackToken, variable("SETTINGS", "%s"), env},
		{"env Slack webhook", shaped("", mixed, 24), variable("NOTIFY", "https://hooks.slack.com/services/T01234567/B01234567/%s"), env},
		{"env GCP API key", shaped("AIza", mixed, 35), variable("SETTINGS", "%s"), env},
		{"env PEM", privateKey, variable("SETTINGS", "%s"), env},
		// Arguments and commands.
		{"arg --password=X", plain, arguments("--password=%s"), args},
		{"arg --password X, the next element", plain, arguments("--password", "%s"), args},
		{"arg --requirepass X, the next element", plain, arguments("--requirepass", "%s"), args},
		{"arg --header=Authorization", plain, arguments("--header=Authorization: Bearer %s"), args},
		{"arg --set a.password=X", plain, arguments("--set", "auth.password=%s,replicas=3"), args},
		{"arg URL password", inURL, arguments("--url=postgres://u:%s@db/x"), args},
		{"sh -c mysql -pX", plain, command("sh", "-c", "mysql -uroot -p%s shop"), "].command"},
		{"sh -c curl -u", plain, command("sh", "-c", "curl -sf -u admin:%s https://x.example.org"), "].command"},
		{"sh -c PGPASSWORD=X psql", plain, command("sh", "-c", "PGPASSWORD=%s psql -h db"), "].command"},
		{"preStop redis-cli -a X", plain, hook("redis-cli", "-a", "%s"), "].lifecycle"},
		{"probe header Authorization", plain, probe("Authorization", "Bearer %s"), "].livenessProbe"},
		{"probe header X-Api-Key", plain, probe("X-Api-Key", "%s"), "].livenessProbe"},
		// ConfigMaps.
		{"ConfigMap key password", plain, setting("password", "%s"), "data.password"},
		{"ConfigMap YAML file", plain, setting("app.yaml", "db:\n  host: db\n  password: %s\n"), "data"},
		{"ConfigMap JSON file, escaped", inJSON, setting("app.json", `{"db":{"host":"db","apiKey":"%s"}}`), "data"},
		{"ConfigMap properties file", plain, setting("app.properties", "db.host=db\ndb.password=%s\n"), "data"},
		{"ConfigMap INI file", plain, setting("my.cnf", "[client]\nuser = root\npassword = %s\n"), "data"},
		{"ConfigMap env file", plain, setting("prod.env", "HOST=db\nexport DB_PASSWORD='%s'\n"), "data"},
		{"ConfigMap TOML file", plain, setting("app.toml", "[db]\nhost = \"db\"\nclient_secret = \"%s\"\n"), "data"},
		{"ConfigMap XML file", plain, setting("settings.xml", "<servers><server><username>ci</username><password>%s</password></server></servers>"), "data"},
		{"ConfigMap URL password", inURL, setting("upstream", "https://u:%s@h/"), "data.upstream"},
		{"ConfigMap PEM file", privateKey, setting("tls.crt", "%s"), "data"},
		{"ConfigMap nginx.conf header", plain, setting("nginx.conf", "location / {\n  proxy_set_header Authorization \"Bearer %s\";\n}\n"), "data"},
		{"ConfigMap kubeconfig token", plain, setting("config", "users:\n- name: ci\n  user:\n    token: %s\n"), "data"},
		{"ConfigMap docker auth", basic, setting("config.json", `{"auths":{"registry.example.org":{"auth":"%s"}}}`), "data"},
		{"ConfigMap .pgpass", plain, setting(".pgpass", "db:5432:shop:app:%s\n"), "data"},
		{"ConfigMap .netrc", plain, setting("netrc", "machine git.example.org login ci password %s\n"), "data"},
		// Annotations.
		{"Ingress snippet", basic, annotation("Ingress", snippet, `proxy_set_header Authorization "Basic %s";`), "metadata.annotations"},
		{"annotation URL password", inURL, annotation("ConfigMap", "example.org/upstream", "https://u:%s@h/"), "metadata.annotations"},
		{"annotation named like a secret", plain, annotation("ConfigMap", "example.org/api-token", "%s"), "metadata.annotations"},
		{"Secret annotation", plain, annotation("Secret", "example.org/note-password", "%s"), "metadata.annotations"},
		// Secrets.
		{"Secret data", asIs, secretData("data", "Opaque", "k", "%s"), "data.k"},
		{"Secret stringData", plain, secretData("stringData", "Opaque", "k", "%s"), "data.k"},
		{"Secret dockerconfigjson", basic, secretData("data", "kubernetes.io/dockerconfigjson", ".dockerconfigjson", `{"auths":{"x":{"auth":"%s"}}}`), "data"},
		{"Secret basic-auth", plain, secretData("stringData", "kubernetes.io/basic-auth", "password", "%s"), "data.password"},
		// Custom resources.
		{"custom resource spec.password", plain, custom("password", "%s"), "spec.password"},
		{"custom resource spec.auth.clientSecret", asIs, custom("auth.clientSecret", "%s"), "spec.auth"},
		{"custom resource URL password", inURL, custom("connection.url", "postgres://u:%s@h/x"), "spec.connection"},
		{"custom resource YAML in a string", plain, custom("values", "auth:\n  rootPassword: %s\n"), "spec.values"},
		{"custom resource private key", privateKey, custom("material", "%s"), "spec.material"},
	}
}
