package secret

// The words of names, in capitals. A name is split into words where its case changes or at
// punctuation.
var (
	// secretWords make a name secret at any position.
	secretWords = setOf("PASS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASSCODE", "PASSKEY", "PWD", "PW", "SECRET", "SECRETS",
		"TOKEN", "TOKENS", "APIKEY", "APIKEYS", "CREDENTIAL", "CREDENTIALS", "CREDS", "PRIVATEKEY", "ACCESSKEY",
		"SECRETKEY", "ENCRYPTIONKEY", "BASICAUTH", "REQUIREPASS", "MASTERAUTH", "PGPASS")
	// secretEndings make a word secret as its suffix: PGPASSWORD, authtoken.
	secretEndings = []string{"SECRET", "TOKEN", "APIKEY", "PRIVATEKEY", "SECRETKEY", "ACCESSKEY", "USERPASS"}
	// certainEndings are suffixes of words whose value is secret even if it is a number.
	certainEndings = []string{"PASSWORD", "PASSWD", "PASSPHRASE"}
	// lastWords make a name secret as its last word.
	lastWords = setOf("AUTHORIZATION", "COOKIE", "COOKIES", "JWT", "PSK", "BEARER", "MNEMONIC", "TOTP", "PW")
	// lastCertainties are the certainties of names by their last word, other than text.
	lastCertainties = map[string]certainty{"DSN": connection, "PIN": certain, "OTP": certain}
	// lastPairs make a name secret as its last two words.
	lastPairs = setOf("BASIC AUTH", "HTTP AUTH", "PROXY AUTH", "SNMP COMMUNITY", "READ COMMUNITY", "WRITE COMMUNITY")
	// certainWords make a name secret whose value may be a number.
	certainWords = setOf("PASS", "PASSCODE")
	// keyWords make a following word KEY secret.
	keyWords = setOf("API", "PRIVATE", "PRIV", "SECRET", "ACCESS", "ENCRYPTION", "ENCRYPT", "SIGNING", "SIGN", "MASTER", "LICENSE",
		"LICENCE", "AUTH", "HMAC", "AES", "SHARED", "PRESHARED", "STORAGE", "ACCOUNT", "APP", "CLIENT", "ADMIN", "DEPLOY",
		"SESSION", "JWT", "FERNET", "CRYPT", "CIPHER", "WRAPPING", "UNSEAL", "JOIN", "BOOT", "COOKIE")
	// openKeys precede the word KEY in variables and flags that are not secret. All others are.
	openKeys = setOf("PUBLIC", "PUB", "PRIMARY", "FOREIGN", "SORT", "PARTITION", "CACHE", "ROUTING", "PROJECT", "ORDER", "TOPOLOGY",
		"LABEL", "ANNOTATION", "TAINT", "OBJECT", "HOST", "KNOWN", "CONFIG", "GPG", "HASH", "RANGE", "INDEX", "GROUP", "MESSAGE",
		"USER", "USERNAME", "PASSWORD", "FEATURE", "METRIC", "TAG", "ROW", "LOOKUP", "IDEMPOTENCY", "REGISTRY")
	// lists are names of lists whose elements are secret, and maps of maps whose values are.
	lists = setOf("PASSWORDS", "TOKENS", "APIKEYS", "CREDS")
	maps  = setOf("PASSWORDS", "TOKENS", "APIKEYS", "SECRETS", "CREDENTIALS", "CREDS")
	// holders are keys of the value in a map with a secret name: password: {value: x}.
	holders = setOf("VALUE", "PLAIN", "PLAINTEXT", "PLAIN TEXT", "RAW", "INLINE", "TEXT", "CONTENT", "STRING")

	// aboutFirst and aboutLast are first and last words of names that describe a secret but do
	// not contain one: ENABLE_TOKEN, secretName, TOKEN_TTL.
	aboutFirst = setOf("ENABLE", "ENABLED", "DISABLE", "DISABLED", "USE", "ALLOW", "SKIP", "REQUIRE", "REQUIRED", "HAS", "IS", "NEEDS",
		"GENERATE", "CREATE", "AUTOMOUNT", "ROTATE", "SHOW", "HIDE", "EXISTING", "MIN", "MAX", "VALIDATE", "VERIFY", "IGNORE",
		"SUPPRESS", "WITH", "WITHOUT", "ALLOWED")
	aboutLast = setOf("TTL", "EXPIRY", "EXPIRATION", "EXPIRE", "EXPIRES", "EXPIRED", "LIFETIME", "DURATION", "SECONDS", "MINUTES", "HOURS", "DAYS",
		"AGE", "PATH", "PATHS", "FILE", "FILES", "FILENAME", "DIR", "DIRECTORY", "FOLDER", "NAME", "NAMES", "NAMESPACE", "NAMESPACES",
		"ENDPOINT", "ENDPOINTS", "ISSUER", "AUDIENCE", "AUDIENCES", "COUNT", "LIMIT", "LIMITS", "LENGTH", "LEN", "SIZE", "BYTES",
		"ENABLED", "DISABLED", "REQUIRED", "OPTIONAL", "ALLOWED", "TIMEOUT", "HEADER", "HEADERS", "ID", "IDS", "UID", "UUID", "ARN", "ARNS",
		"TYPE", "TYPES", "POLICY", "POLICIES", "PORT", "HOST", "HOSTS", "DOMAIN", "SERVER", "VERSION", "ALGORITHM", "ALG",
		"REFRESH", "INTERVAL", "PERIOD", "MODE", "REF", "REFS", "REFERENCE", "VERIFY", "PREFIX", "SUFFIX", "LOCATION", "MOUNT",
		"MOUNTPATH", "VOLUME", "VOLUMES", "PROVIDER", "PROVIDERS", "BACKEND", "DRIVER", "STORE", "CLASS", "KIND", "GROUP",
		"GROUPS", "USER", "USERS", "USERNAME", "EMAIL", "LABEL", "LABELS", "ANNOTATION", "ANNOTATIONS", "FIELD", "COLUMN",
		"PARAM", "PARAMETER", "REGEX", "PATTERN", "FORMAT", "ENCODING", "ENCRYPTION", "METHOD", "METHODS", "GRANT", "FLOW",
		"SCOPE", "SCOPES", "CLAIM", "CLAIMS", "ROLE", "ROLES", "STATUS", "STATE", "REASON", "MESSAGE", "DESCRIPTION", "COMMENT", "TITLE",
		"REVIEW", "REVIEWS", "REQUEST", "REQUESTS", "ROTATION", "RESET", "RETENTION", "RECOVERY", "WINDOW", "AT", "TIME", "TIMESTAMP",
		"DATE", "UPDATED", "CREATED", "CHANGED", "SELECTOR", "CONTROLLER", "MANAGER", "OPERATOR", "PLUGIN", "URI", "TOPIC", "ORDER",
		"DIGEST", "FINGERPRINT", "THUMBPRINT", "CHECKSUM", "RESOURCES", "REPOSITORY", "IMAGE", "FROM", "TEMPLATE", "SOURCE", "SOURCES",
		"SERVICE", "ACCESSOR", "HINT", "EVENTS", "STRATEGY", "PROMPT", "REPLICAS", "WO", "LOCKOUT", "ATTEMPTS", "COMPLEXITY",
		"SAMESITE", "SECURE", "HTTPONLY", "CSI", "REGION", "PROJECT", "CONTEXT", "PUBKEY", "BUCKET", "METADATA", "INFO", "CONFIGMAP", "SPEC")
	// referencePairs are the last words of names whose value is the name of an object.
	// referenceAnnotations are the same for annotations, after the "/".
	referencePairs       = setOf("TLS SECRET", "SSL SECRET", "PULL SECRET", "PULL SECRETS")
	referenceAnnotations = setOf("AUTH SECRET", "BASIC AUTH SECRET")
)

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}
