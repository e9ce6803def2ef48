package backend

import "time"

// Settings determine how states are fetched. Secrets are read from files, or from the default locations of
// a cloud's own tools; the location of a state contains none.
type Settings struct {
	// Workspaces are the workspaces to read, by name or pattern ("*"). The default is the workspace
	// "default".
	Workspaces []string `mapstructure:"workspaces"`
	// Timeout is the maximum duration of a listing, and of the fetch of one state.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBytes is the maximum uncompressed size of a state, in bytes.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// S3 configures s3://bucket/key.
	S3 S3 `mapstructure:"s3"`
	// GS configures gs://bucket/prefix.
	GS GS `mapstructure:"gs"`
	// Azure configures azurerm://account/container/key.
	Azure Azure `mapstructure:"azurerm"`
	// HTTP configures http and https URLs.
	HTTP HTTP `mapstructure:"http"`
	// Postgres configures pg://user@host/database.
	Postgres Postgres `mapstructure:"pg"`
	// Consul configures consul://host:port/path.
	Consul Consul `mapstructure:"consul"`
	// Kubernetes configures kubernetes://namespace/suffix.
	Kubernetes Kubernetes `mapstructure:"kubernetes"`
	// Remote configures remote://host/organization/workspace.
	Remote Remote `mapstructure:"remote"`
}

// Defaults returns the default settings.
func Defaults() Settings {
	return Settings{
		Timeout:  2 * time.Minute,
		MaxBytes: 1 << 30,
		S3:       S3{WorkspacePrefix: "env:"},
		Postgres: Postgres{Schema: "terraform_remote_state", Table: "states"},
		Consul:   Consul{Scheme: "https"},
	}
}

// S3 configures s3://bucket/key. The AWS SDK reads the values of empty settings from the environment, from
// profiles or from the role of the instance.
type S3 struct {
	// Region is the region of the bucket.
	Region string `mapstructure:"region"`
	// Profile is the profile of the credentials and configuration files.
	Profile string `mapstructure:"profile"`
	// CredentialsFile is a file in the format of ~/.aws/credentials.
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	// ConfigFile is a file in the format of ~/.aws/config.
	ConfigFile string `mapstructure:"config_file" path:"true"`
	// Endpoint is the URL of a compatible store.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket into the path instead of the host name.
	PathStyle bool `mapstructure:"path_style"`
	// CAFile is a file with the certificate authorities for the store. The default are those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// WorkspacePrefix is the workspace_key_prefix of the backend.
	WorkspacePrefix string `mapstructure:"workspace_prefix"`
}

// GS configures gs://bucket/prefix. Without CredentialsFile, the Application Default Credentials of
// Google Cloud are used.
type GS struct {
	// CredentialsFile is a service account key or another Google Cloud credentials file.
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	// Endpoint is the URL of a compatible store.
	Endpoint string `mapstructure:"endpoint"`
	// Anonymous sends no credentials.
	Anonymous bool `mapstructure:"anonymous"`
}

// Azure configures azurerm://account/container/key. Without AccountKeyFile and SASTokenFile, the
// default credentials of Azure are used.
type Azure struct {
	// AccountKeyFile is a file with an access key of the storage account.
	AccountKeyFile string `mapstructure:"account_key_file" path:"true"`
	// SASTokenFile is a file with a shared access signature.
	SASTokenFile string `mapstructure:"sas_token_file" path:"true"`
	// Endpoint is the URL of the blob service. The default is that of the public cloud.
	Endpoint string `mapstructure:"endpoint"`
}

// HTTP configures http and https URLs.
type HTTP struct {
	// Username is the user name for basic authentication.
	Username string `mapstructure:"username"`
	// PasswordFile is a file with the password for basic authentication.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// HeadersFile is a file with request headers, one "Name: value" per line.
	HeadersFile string `mapstructure:"headers_file" path:"true"`
	// CAFile is a file with the certificate authorities for the server. The default are those of the
	// system.
	CAFile string `mapstructure:"ca_file" path:"true"`
}

// Postgres configures pg://user@host/database. The values of empty settings come from the
// environment variables, service file and password file of libpq.
type Postgres struct {
	// PasswordFile is a file with the password of the user.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// Schema is the schema_name of the backend.
	Schema string `mapstructure:"schema"`
	// Table is the table_name of the backend.
	Table string `mapstructure:"table"`
}

// Consul configures consul://host:port/path.
type Consul struct {
	// TokenFile is a file with the ACL token.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Scheme is https or http.
	Scheme string `mapstructure:"scheme"`
	// Datacenter is the data center to query. The default is that of the agent.
	Datacenter string `mapstructure:"datacenter"`
	// CAFile is a file with the certificate authorities for the agent. The default are those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
}

// Kubernetes configures kubernetes://namespace/suffix. It uses kubeconfig files, or the service
// account of the cluster that driftd runs in.
type Kubernetes struct {
	// Kubeconfig is a kubeconfig file. The default is $KUBECONFIG, then ~/.kube/config, then the
	// service account of the cluster that driftd runs in.
	Kubeconfig string `mapstructure:"kubeconfig" path:"true"`
	// Context is the context of the kubeconfig. The default is its current context.
	Context string `mapstructure:"context"`
}

// Remote configures remote://host/organization/workspace.
type Remote struct {
	// TokenFile is a file with the API token.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile is a file with the certificate authorities for the server. The default are those of the
	// system.
	CAFile string `mapstructure:"ca_file" path:"true"`
}
