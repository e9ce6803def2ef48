package secret

import "strings"

// stems are substrings, in any case, one of which occurs in every text with a secret that the
// package can find by its form or by a name. Each has at least three bytes.
var stems = []string{
	"pass", "pwd", "secret", "token", "apikey", "api_key", "api-key", "api.key", "_key", "-key", ".key", "ekey", "ykey", "tkey", "gkey", "rkey", "skey", "nkey", "dkey", " key=", ";key=", "cred", "jwt", "psk", "bearer", "basic", "auth", "cookie", "dsn", "community",
	"mnemonic", "_pin", "pin=", "pin:", "pin\"", "otp", " pw", "pw=", "pw:", "_pw", "-pw", "\npw",
	"://", "@tcp(", "@unix(", "@udp(", "-----begin", "eyj", "sig=",
	"mysql", "mariadb", "curl", "wget", "redis-cli", "sshpass", "ldap", "mongo", "docker login", "htpasswd", "snmp", "webhook",
	"valkey", "openssl", "sqlcmd", "cqlsh", "lftp", "nodetool", "smbclient", "etcdctl", "rabbitmqadmin", "influx", "xtrabackup", "zip -", "keytool", "bcp ", "podman",
	"(secret-",
}

// An index finds which of many texts may begin at a position, by their first three bytes in
// any case.
type index struct {
	// buckets maps each gram to the number of its bucket; 0 means none.
	buckets [1 << 15]uint8
	stems   [][]string
	tokens  [][]*tokenForm
}

// gram maps three bytes to a number, ignoring case. Different bytes may have the same number.
func gram(a, b, c byte) uint32 { return uint32(a&0x1f)<<10 | uint32(b&0x1f)<<5 | uint32(c&0x1f) }

func (x *index) bucket(start string) uint8 {
	g := gram(start[0], start[1], start[2])
	if x.buckets[g] == 0 {
		x.stems, x.tokens = append(x.stems, nil), append(x.tokens, nil)
		x.buckets[g] = uint8(len(x.stems) - 1) //nolint:gosec // there are fewer than 256 stems and prefixes
	}
	return x.buckets[g]
}

var starts = indexOf()

func indexOf() *index {
	x := &index{stems: make([][]string, 1), tokens: make([][]*tokenForm, 1)}
	for _, s := range stems {
		b := x.bucket(s)
		x.stems[b] = append(x.stems[b], s)
	}
	for i := range tokenForms {
		b := x.bucket(tokenForms[i].prefix)
		x.tokens[b] = append(x.tokens[b], &tokenForms[i])
	}
	return x
}

// suspicious reports whether a text may contain a secret. It is called for every text that is
// read, and returns false for most of them.
func suspicious(text string) bool {
	if len(text) < 4 {
		return false
	}
	for i := 0; i+2 < len(text); i++ {
		if b := starts.buckets[gram(text[i], text[i+1], text[i+2])]; b != 0 && starts.begins(b, text[i:]) {
			return true
		}
	}
	return maybeBase64(text)
}

// begins reports whether a text begins with one of the texts of a bucket.
func (x *index) begins(bucket uint8, text string) bool {
	for _, s := range x.stems[bucket] {
		if hasFold(text, s) {
			return true
		}
	}
	for _, f := range x.tokens[bucket] {
		if strings.HasPrefix(text, f.prefix) {
			return true
		}
	}
	return false
}
