package backend

import "time"

// Settings say how states are fetched. Secrets stand in files, or come from
// where a cloud's own tools find them; none stands in a location.
type Settings struct {
	// Workspaces are the workspaces to read; "*" and other patterns stand for
	// those that are there. None means the default one.
	Workspaces []string `mapstructure:"workspaces"`
	// Timeout bounds a listing, and the fetching of one state.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBytes bounds a state, unpacked.
	MaxBytes int64 `mapstructure:"max_bytes"`

	S3         S3         `mapstructure:"s3"`
	GS         GS         `mapstructure:"gs"`
	Azure      Azure      `mapstructure:"azurerm"`
	HTTP       HTTP       `mapstructure:"http"`
	Postgres   Postgres   `mapstructure:"pg"`
	Consul     Consul     `mapstructure:"consul"`
	Kubernetes Kubernetes `mapstructure:"kubernetes"`
	Remote     Remote     `mapstructure:"remote"`
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
	Region  string `mapstructure:"region"`
	Profile string `mapstructure:"profile"`
	// CredentialsFile and ConfigFile are in the form of ~/.aws.
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	ConfigFile      string `mapstructure:"config_file" path:"true"`
	// Endpoint is the URL of a compatible store.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket into the path instead of the host's name.
	PathStyle bool   `mapstructure:"path_style"`
	CAFile    string `mapstructure:"ca_file" path:"true"`
	// WorkspacePrefix is the backend's workspace_key_prefix.
	WorkspacePrefix string `mapstructure:"workspace_prefix"`
}

// GS says how gs://bucket/prefix is read. Without CredentialsFile Google's
// default credentials count.
type GS struct {
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	Endpoint        string `mapstructure:"endpoint"`
	// Anonymous sends no credentials.
	Anonymous bool `mapstructure:"anonymous"`
}

// Azure says how azurerm://account/container/key is read. Without AccountKeyFile
// and SASTokenFile Azure's default credentials count.
type Azure struct {
	AccountKeyFile string `mapstructure:"account_key_file" path:"true"`
	SASTokenFile   string `mapstructure:"sas_token_file" path:"true"`
	// Endpoint is the URL of the blob service; "" means the public cloud's.
	Endpoint string `mapstructure:"endpoint"`
}

// HTTP says how an http or https URL is read.
type HTTP struct {
	Username     string `mapstructure:"username"`
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// HeadersFile holds one "Name: value" a line.
	HeadersFile string `mapstructure:"headers_file" path:"true"`
	CAFile      string `mapstructure:"ca_file" path:"true"`
}

// Postgres says how pg://user@host/database is read. What is empty is what
// libpq's environment, service and password files say.
type Postgres struct {
	PasswordFile string `mapstructure:"password_file" path:"true"`
	Schema       string `mapstructure:"schema"`
	Table        string `mapstructure:"table"`
}

// Consul says how consul://host:port/path is read.
type Consul struct {
	TokenFile  string `mapstructure:"token_file" path:"true"`
	Scheme     string `mapstructure:"scheme"`
	Datacenter string `mapstructure:"datacenter"`
	CAFile     string `mapstructure:"ca_file" path:"true"`
}

// Kubernetes says how kubernetes://namespace/suffix is read: with kubectl's
// files, or from within a cluster by its service account.
type Kubernetes struct {
	Kubeconfig string `mapstructure:"kubeconfig" path:"true"`
	Context    string `mapstructure:"context"`
}

// Remote says how remote://host/organization/workspace is read.
type Remote struct {
	TokenFile string `mapstructure:"token_file" path:"true"`
	CAFile    string `mapstructure:"ca_file" path:"true"`
}
