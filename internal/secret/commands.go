package secret

import (
	"slices"
	"strings"
)

// A program describes the flags of a command whose names mislead: those that take a secret but
// are not named like one, and the reverse.
type program struct {
	// attached are flags directly followed by the secret: mysql -pPW.
	attached []string
	// next are flags with the secret as the next argument: redis-cli -a PW.
	next []string
	// user are flags with user:password as the next argument or directly after them.
	user []string
	// header are flags with a header as the next argument.
	header []string
	// public are flags with a name as the next argument: pveum --tokens 'user@realm!name'.
	public []string
}

// programs are the commands by name. Their manuals describe the flags.
var programs = map[string]program{
	"mysql": {attached: []string{"-p"}}, "mysqldump": {attached: []string{"-p"}}, "mysqladmin": {attached: []string{"-p"}},
	"mysqlshow": {attached: []string{"-p"}}, "mysqlimport": {attached: []string{"-p"}}, "mysqlcheck": {attached: []string{"-p"}},
	"mysqlbinlog": {attached: []string{"-p"}}, "mysqlsh": {attached: []string{"-p"}}, "mariadb": {attached: []string{"-p"}},
	"mariadb-dump": {attached: []string{"-p"}}, "mariadb-admin": {attached: []string{"-p"}}, "mariadb-backup": {attached: []string{"-p"}},
	"xtrabackup": {attached: []string{"-p"}}, "sshpass": {attached: []string{"-p"}, next: []string{"-p"}},
	"curl":      {user: []string{"-u", "--user", "-U", "--proxy-user"}, header: []string{"-H", "--header"}},
	"wget":      {header: []string{"--header"}},
	"redis-cli": {next: []string{"-a", "--pass"}}, "valkey-cli": {next: []string{"-a", "--pass"}}, "redis-benchmark": {next: []string{"-a"}},
	"mongo": {next: []string{"-p"}}, "mongosh": {next: []string{"-p"}}, "mongodump": {next: []string{"-p"}}, "mongorestore": {next: []string{"-p"}},
	"mongoexport": {next: []string{"-p"}}, "ldapsearch": {next: []string{"-w"}}, "ldapmodify": {next: []string{"-w"}},
	"ldapadd": {next: []string{"-w"}}, "ldapwhoami": {next: []string{"-w"}}, "ldappasswd": {next: []string{"-w", "-s", "-a"}},
	"docker": {next: []string{"-p"}}, "podman": {next: []string{"-p"}}, "helm": {}, "snmpwalk": {next: []string{"-c", "-A", "-X"}},
	"snmpget": {next: []string{"-c", "-A", "-X"}}, "rabbitmqadmin": {next: []string{"-p"}}, "sqlcmd": {next: []string{"-P"}},
	"bcp": {next: []string{"-P"}}, "cqlsh": {next: []string{"-p"}}, "nodetool": {next: []string{"-pw"}}, "smbclient": {user: []string{"-U"}},
	"lftp": {user: []string{"-u"}}, "ansible-vault": {},
	"openssl": {next: []string{"-k", "-K", "-pass", "-passin", "-passout"}}, "zip": {next: []string{"-P"}}, "unzip": {next: []string{"-P"}},
	"keytool": {next: []string{"-storepass", "-keypass", "-srcstorepass", "-deststorepass"}}, "clickhouse-client": {}, "psql": {},
	"kubectl": {}, "influx": {next: []string{"-t", "-p"}}, "vault": {}, "htpasswd": {}, "etcdctl": {user: []string{"--user"}},
	"pveum": {public: []string{"--tokens", "-tokens"}},
}

// A word is an argument of a command in a text.
type word struct {
	text     string
	from, to int
}

// base returns the name of a command without its folder.
func base(command string) string { return command[strings.LastIndexByte(command, '/')+1:] }

// commands finds the secrets in the arguments of commands: sh -c "mysql -pPW".
func (s *scan) commands() {
	if !strings.Contains(s.text, "-") {
		return
	}
	var program *program
	var before word
	for at := 0; at < len(s.text); {
		w, next, ends := nextWord(s.text, at)
		at = next
		if w.text != "" {
			if p, ok := programs[base(w.text)]; ok {
				program = &p
			}
			s.argument(program, before, w)
			before = w
		}
		if ends {
			program, before = nil, word{}
		}
	}
}

// argument adds the secret part of an argument, which may depend on the previous argument.
func (s *scan) argument(p *program, before, w word) {
	from, to := secretOf(s.names, p, before.text, w.text)
	if from < to && w.to-w.from == len(w.text) {
		s.add(w.from+from, w.from+to)
	}
}

// nextWord returns the next word of a command line. ends reports whether the command ends after
// it. Quotes around the whole word are not part of it.
func nextWord(t string, at int) (w word, next int, ends bool) {
	at = tail(t, at, func(c byte) bool { return c == ' ' || c == '\t' || c == '\\' || c == '\n' && at > 0 && t[at-1] == '\\' })
	if at >= len(t) {
		return word{}, len(t), true
	}
	if strings.IndexByte(";&|\n(){}", t[at]) >= 0 {
		return word{}, at + 1, true
	}
	if isQuote(t[at]) {
		end := closing(t, at+1, t[at], false)
		next = min(len(t), end+1)
		// A quoted command line: its words count, too.
		if strings.ContainsAny(t[at+1:end], " ") && t[at] != '\'' && !isHeader(t[at+1:end]) {
			return word{}, at + 1, false
		}
		return word{t[at+1 : end], at + 1, end}, next, false
	}
	end := at
	for end < len(t) && strings.IndexByte(" \t\n;|&", t[end]) < 0 {
		if isQuote(t[end]) {
			end = closing(t, end+1, t[end], false)
		}
		end++
	}
	end = min(end, len(t))
	return word{t[at:end], at, end}, end, false
}

func isHeader(t string) bool {
	name, _, ok := strings.Cut(t, ":")
	return ok && !strings.Contains(name, " ")
}

// secretOf returns the secret part of an argument: the value in --flag=value, or the whole
// argument if it is the value of the previous flag.
func secretOf(names *rules, p *program, before, argument string) (from, to int) {
	if name, value, ok := strings.Cut(argument, "="); ok && isFlag(name) && isSecretFlag(names, name, value) {
		from, to = len(name)+1, len(argument)
		if len(value) > 1 && isQuote(value[0]) && value[len(value)-1] == value[0] {
			from, to = from+1, to-1
		}
		return from, to
	}
	if p != nil && slices.Contains(p.public, before) {
		return 0, 0
	}
	if isFlag(before) && !strings.HasPrefix(argument, "-") && isSecretFlag(names, before, argument) {
		return 0, len(argument)
	}
	if p == nil {
		return 0, 0
	}
	return p.secretOf(names, before, argument)
}

// isSecretFlag reports whether the value of a flag is secret by the flag's name.
func isSecretFlag(names *rules, flag, value string) bool {
	sure := names.rate(strings.TrimLeft(flag, "-"), true)
	return sure > described && isContent(value, sure) && flag != "--password-stdin"
}

func (p *program) secretOf(names *rules, before, argument string) (from, to int) {
	for _, flag := range p.attached {
		if rest, ok := strings.CutPrefix(argument, flag); ok && rest != "" && !isReference(rest) {
			return len(flag), len(argument)
		}
	}
	for _, flag := range p.user {
		rest, attached := strings.CutPrefix(argument, flag)
		if before == flag || attached && rest != "" && len(flag) == 2 {
			return passwordOf(argument)
		}
	}
	switch {
	case slices.Contains(p.next, before) && !isReference(argument):
		return 0, len(argument)
	case slices.Contains(p.header, before):
		if name, value, ok := strings.Cut(argument, ":"); ok && isSecretFlag(names, strings.TrimSpace(name), value) {
			return len(argument) - len(strings.TrimLeft(value, " ")), len(argument)
		}
	}
	return 0, 0
}

// passwordOf returns the position of the password in user:password or user%password.
func passwordOf(argument string) (from, to int) {
	start := strings.IndexAny(argument, ":%")
	if start < 0 || isReference(argument[start+1:]) {
		return 0, 0
	}
	return start + 1, len(argument)
}
