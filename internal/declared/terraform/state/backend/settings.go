package backend

import "time"

// Settings say how states are fetched. Secrets stand in files, or come from
// where a cloud's own tools find them; none stands in a location.
type Settings struct {
	// Workspaces are the workspaces to read; "*" and other patterns stand for
	// those that are there. Without any, the default one.
	Workspaces []string `mapstructure:"workspaces"`
	// Timeout bounds a listing, and the fetching of one state.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBytes bounds a state, unpacked, in bytes.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// S3 says how s3://bucket/key is read.
	S3 S3 `mapstructure:"s3"`
	// GS says how gs://bucket/prefix is read.
	GS GS `mapstructure:"gs"`
	// Azure says how azurerm://account/container/key is read.
	Azure Azure `mapstructure:"azurerm"`
	// HTTP says how an http or https URL is read.
	HTTP HTTP `mapstructure:"http"`
	// Postgres says how pg://user@host/database is read.
	Postgres Postgres `mapstructure:"pg"`
	// Consul says how consul://host:port/path is read.
	Consul Consul `mapstructure:"consul"`
	// Kubernetes says how kubernetes://namespace/suffix is read.
	Kubernetes Kubernetes `mapstructure:"kubernetes"`
	// Remote says how remote://host/organization/workspace is read.
	Remote Remote `mapstructure:"remote"`
}

// Defaults returns the settings that hold where the configuration is silent.
func Defaults() Settings {
	return Settings{
		Timeout:  2 * time.Minute,
		MaxBytes: 1 << 30,
		S3:       S3{WorkspacePrefix: "env:"},
		Postgres: Postgres{Schema: "terraform_remote_state", Table: "states"},
		Consul:   Consul{Scheme: "https"},
	}
}

// S3 says how s3://bucket/key is read. What is empty is what the AWS SDK finds:
// environment, profiles, the instance's role.
type S3 struct {
	// Region is the bucket's.
	Region string `mapstructure:"region"`
	// Profile is that of the files in the form of ~/.aws.
	Profile string `mapstructure:"profile"`
	// CredentialsFile is in the form of ~/.aws/credentials.
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	// ConfigFile is in the form of ~/.aws/config.
	ConfigFile string `mapstructure:"config_file" path:"true"`
	// Endpoint is the URL of a compatible store.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket into the path instead of the host's name.
	PathStyle bool `mapstructure:"path_style"`
	// CAFile holds the authorities to trust instead of the system's, for the store's
	// certificate; without it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// WorkspacePrefix is the backend's workspace_key_prefix.
	WorkspacePrefix string `mapstructure:"workspace_prefix"`
}

// GS says how gs://bucket/prefix is read. Without CredentialsFile Google's
// default credentials count.
type GS struct {
	// CredentialsFile is a service account's key, or another file of Google
	// credentials.
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	// Endpoint is the URL of a compatible store.
	Endpoint string `mapstructure:"endpoint"`
	// Anonymous sends no credentials.
	Anonymous bool `mapstructure:"anonymous"`
}

// Azure says how azurerm://account/container/key is read. Without AccountKeyFile
// and SASTokenFile Azure's default credentials count.
type Azure struct {
	// AccountKeyFile holds a key of the storage account.
	AccountKeyFile string `mapstructure:"account_key_file" path:"true"`
	// SASTokenFile holds a shared access signature.
	SASTokenFile string `mapstructure:"sas_token_file" path:"true"`
	// Endpoint is the URL of the blob service; without it, the public cloud's.
	Endpoint string `mapstructure:"endpoint"`
}

// HTTP says how an http or https URL is read.
type HTTP struct {
	// Username signs in, with the password.
	Username string `mapstructure:"username"`
	// PasswordFile holds the password.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// HeadersFile holds one "Name: value" a line.
	HeadersFile string `mapstructure:"headers_file" path:"true"`
	// CAFile holds the authorities to trust instead of the system's, for the server's
	// certificate; without it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
}

// Postgres says how pg://user@host/database is read. What is empty is what
// libpq's environment, service and password files say.
type Postgres struct {
	// PasswordFile holds the user's password.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// Schema is the backend's schema_name.
	Schema string `mapstructure:"schema"`
	// Table is the backend's table_name.
	Table string `mapstructure:"table"`
}

// Consul says how consul://host:port/path is read.
type Consul struct {
	// TokenFile holds the ACL token.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Scheme is one of https and http.
	Scheme string `mapstructure:"scheme"`
	// Datacenter is the one to ask; without it, the agent's own.
	Datacenter string `mapstructure:"datacenter"`
	// CAFile holds the authorities to trust instead of the system's, for the agent's
	// certificate; without it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
}

// Kubernetes says how kubernetes://namespace/suffix is read: with kubectl's
// files, or from within a cluster by its service account.
type Kubernetes struct {
	// Kubeconfig is a file of kubectl's; without it $KUBECONFIG, then ~/.kube/config,
	// then the service account of the cluster that driftd runs in.
	Kubeconfig string `mapstructure:"kubeconfig" path:"true"`
	// Context is that of the kubeconfig; without it, the current one.
	Context string `mapstructure:"context"`
}

// Remote says how remote://host/organization/workspace is read.
type Remote struct {
	// TokenFile holds the API token.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile holds the authorities to trust instead of the system's, for the server's
	// certificate; without it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
}
