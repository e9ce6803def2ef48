package secret

// stems occur, in any case, in every text in which something secret can be found by
// its form or by a name in it. Each has three bytes or more.
var stems = []string{
	"pass", "pwd", "secret", "token", "apikey", "api_key", "api-key", "api.key", "_key", "-key", ".key", "ekey", "ykey", "tkey", "gkey", "rkey", "skey", "nkey", "dkey", " key=", ";key=", "cred", "jwt", "psk", "bearer", "basic", "auth", "cookie", "dsn", "community",
	"mnemonic", "_pin", "pin=", "pin:", "pin\"", "otp", " pw", "pw=", "pw:", "_pw", "-pw", "\npw",
	"://", "@tcp(", "@unix(", "@udp(", "-----begin", "eyj", "sig=",
	"mysql", "mariadb", "curl", "wget", "redis-cli", "sshpass", "ldap", "mongo", "docker login", "htpasswd", "snmp", "webhook",
	"valkey", "openssl", "sqlcmd", "cqlsh", "mosquitto", "lftp", "nodetool", "smbclient", "etcdctl", "rabbitmqadmin", "influx", "xtrabackup", "zip -", "keytool", "bcp ", "podman",
	"(secret-",
}

// A trigrams is a set of the first three bytes of texts, in small letters; it may
// hold more.
type trigrams [1 << 15 / 64]uint64

func gram(a, b, c byte) uint32 { return uint32(a&0x1f)<<10 | uint32(b&0x1f)<<5 | uint32(c&0x1f) }

func (t *trigrams) put(text string) {
	g := gram(text[0], text[1], text[2])
	t[g/64] |= 1 << (g % 64)
}

func (t *trigrams) may(a, b, c byte) bool {
	g := gram(a, b, c)
	return t[g/64]&(1<<(g%64)) != 0
}

var firstGrams = gramsOf()

func gramsOf() *trigrams {
	t := &trigrams{}
	for _, s := range stems {
		t.put(s)
	}
	for i := range tokenForms {
		t.put(tokenForms[i].prefix)
	}
	return t
}

// suspicious reports whether a text may hold a secret. It is called for every text
// that is read, and answers false for most of them.
func suspicious(text string) bool {
	if len(text) < 4 {
		return false
	}
	for i := 0; i+2 < len(text); i++ {
		if firstGrams.may(text[i], text[i+1], text[i+2]) && stemAt(text[i:]) {
			return true
		}
	}
	return maybeBase64(text)
}

func stemAt(text string) bool {
	for _, s := range stems {
		if hasFold(text, s) {
			return true
		}
	}
	for i := range tokenForms {
		if p := tokenForms[i].prefix; len(text) >= len(p) && text[:len(p)] == p {
			return true
		}
	}
	return false
}
