package secret

import "strings"

// stems occur, in any case, in every text in which something secret can be found by
// its form or by a name in it. Each has three bytes or more.
var stems = []string{
	"pass", "pwd", "secret", "token", "apikey", "api_key", "api-key", "api.key", "_key", "-key", ".key", "ekey", "ykey", "tkey", "gkey", "rkey", "skey", "nkey", "dkey", " key=", ";key=", "cred", "jwt", "psk", "bearer", "basic", "auth", "cookie", "dsn", "community",
	"mnemonic", "_pin", "pin=", "pin:", "pin\"", "otp", " pw", "pw=", "pw:", "_pw", "-pw", "\npw",
	"://", "@tcp(", "@unix(", "@udp(", "-----begin", "eyj", "sig=",
	"mysql", "mariadb", "curl", "wget", "redis-cli", "sshpass", "ldap", "mongo", "docker login", "htpasswd", "snmp", "webhook",
	"valkey", "openssl", "sqlcmd", "cqlsh", "lftp", "nodetool", "smbclient", "etcdctl", "rabbitmqadmin", "influx", "xtrabackup", "zip -", "keytool", "bcp ", "podman",
	"(secret-",
}

// An index finds, by their first three bytes in any case, which of many texts may begin
// at a place.
type index struct {
	// buckets has, for each start, the number of its bucket; 0 is empty.
	buckets [1 << 15]uint8
	stems   [][]string
	tokens  [][]*tokenForm
}

// gram numbers three bytes; case does not count. Others may have the same number.
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

// suspicious reports whether a text may hold a secret. It is called for every text
// that is read, and answers false for most of them.
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

// begins reports whether one of the texts of a bucket begins a text.
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
