package normalize_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func newNormalizer() *normalize.Normalizer {
	return normalize.New(model.NewSealer([]byte("key of the tests")))
}

// parse decodes JSON.
func parse(t *testing.T, text string) model.Value {
	t.Helper()
	var v model.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// shown returns a value as JSON, in which a secret is "(secret)".
func shown(v model.Value) string { return string(v.Public().AppendJSON(nil)) }

func TestForms(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ kind, raw, want, reason string }{
		"number":            {normalize.QEMU, `{"cores": 4}`, `{"cores":4}`, "most versions send a number"},
		"number as text":    {normalize.QEMU, `{"cores": "4"}`, `{"cores":4}`, "some send text"},
		"broken number":     {normalize.QEMU, `{"cores": "many"}`, `{"cores":"many"}`, "a value of another format is kept"},
		"fraction":          {normalize.QEMU, `{"cpulimit": "1.50"}`, `{"cpulimit":1.5}`, "cpulimit is text with a point"},
		"flag":              {normalize.QEMU, `{"onboot": 1, "acpi": "0", "kvm": "yes", "tablet": "off", "numa": true}`, `{"acpi":false,"kvm":true,"numa":true,"onboot":true,"tablet":false}`, "files hold all of these"},
		"broken flag":       {normalize.QEMU, `{"onboot": 2}`, `{"onboot":"2"}`, "2 is not a boolean"},
		"empty text":        {normalize.User, `{"email": "", "firstname": "Ann"}`, `{"firstname":"Ann"}`, "some versions send empty text for nothing"},
		"null":              {normalize.QEMU, `{"name": null}`, `{}`, "null is left out"},
		"unknown keys":      {normalize.QEMU, `{"warp": 9, "hull": {"b": 1, "a": [1, null, true]}}`, `{"hull":{"a":["1",null,"true"],"b":"1"},"warp":"9"}`, "unknown keys are kept as text"},
		"note":              {normalize.LXC, `{"description": "two\nlines\n"}`, `{"description":"two\nlines"}`, "LXC ends notes with a new line, QEMU does not"},
		"memory":            {normalize.QEMU, `{"memory": "current=512"}`, `{"memory":512}`, "the long notation"},
		"memory, short":     {normalize.QEMU, `{"memory": "512"}`, `{"memory":512}`, "text since 8.4"},
		"memory, number":    {normalize.QEMU, `{"memory": 512}`, `{"memory":512}`, "a number up to 7.4"},
		"memory, extended":  {normalize.QEMU, `{"memory": "current=512,max=1024"}`, `{"memory":{"current":512,"max":"1024"}}`, "unknown parts are kept"},
		"nic":               {normalize.QEMU, `{"net0": "virtio=bc:24:11:0a:0b:0c,bridge=vmbr3,tag=7,firewall=1,rate=12.50"}`, `{"net0":{"bridge":"vmbr3","firewall":true,"macaddr":"BC:24:11:0A:0B:0C","model":"virtio","rate":12.5,"tag":7}}`, "the model is the name of the MAC address"},
		"nic, long":         {normalize.QEMU, `{"net0": "bridge=vmbr3,macaddr=BC:24:11:0A:0B:0C,model=e1000"}`, `{"net0":{"bridge":"vmbr3","macaddr":"BC:24:11:0A:0B:0C","model":"e1000"}}`, "another notation"},
		"trunks":            {normalize.QEMU, `{"net1": "e1000=BC:24:11:0A:0B:0D,trunks=100;20;20;30-40"}`, `{"net1":{"macaddr":"BC:24:11:0A:0B:0D","model":"e1000","trunks":[20,100,"30-40"]}}`, "their order has no meaning"},
		"veth":              {normalize.LXC, `{"net0": "name=eth0,hwaddr=bc:24:11:0a:0b:0e,ip=dhcp,type=veth,host-managed=0"}`, `{"net0":{"host-managed":false,"hwaddr":"BC:24:11:0A:0B:0E","ip":"dhcp","name":"eth0","type":"veth"}}`, "containers have keys of their own"},
		"agent":             {normalize.QEMU, `{"agent": "1,freeze-fs-on-backup=0"}`, `{"agent":{"enabled":true,"freeze-fs":false}}`, "a nameless part, and an old name"},
		"cpu":               {normalize.QEMU, `{"cpu": "host,flags=-pcid;+aes"}`, `{"cpu":{"cputype":"host","flags":["+aes","-pcid"]}}`, "flags are a set"},
		"twice":             {normalize.QEMU, `{"vga": "std,type=qxl"}`, `{"vga":"std,type=qxl"}`, "the value is ambiguous"},
		"nameless":          {normalize.QEMU, `{"audio0": "=x"}`, `{"audio0":"=x"}`, "not a property string"},
		"boot":              {normalize.QEMU, `{"boot": "order=scsi2;net0"}`, `{"boot":{"order":["scsi2","net0"]}}`, "the order has a meaning"},
		"boot from nothing": {normalize.QEMU, `{"boot": " "}`, `{"boot":{"order":[]}}`, "PVE writes a blank"},
		"boot, old":         {normalize.QEMU, `{"boot": "dcn"}`, `{"boot":{"legacy":"dcn"}}`, "letters"},
		"hotplug":           {normalize.QEMU, `{"hotplug": "1"}`, `{"hotplug":"network,disk,usb"}`, "1 stands for the default"},
		"smbios":            {normalize.QEMU, `{"smbios1": "base64=1,manufacturer=QUNNRQ==,serial=???,uuid=0c0ffee0-0000-4000-8000-000000000001"}`, `{"smbios1":{"manufacturer":"ACME","serial":"???","uuid":"0c0ffee0-0000-4000-8000-000000000001"}}`, "what is not base64 stays"},
		"ssh keys":          {normalize.QEMU, `{"sshkeys": "ssh-ed25519%20AAAA%2Bb%20ann%0A%0Assh-rsa%20BBBB%20bob%0A"}`, `{"sshkeys":["ssh-ed25519 AAAA+b ann","ssh-rsa BBBB bob"]}`, "URL-encoded lines"},
		"tags":              {normalize.QEMU, `{"tags": "web prod;web,edge"}`, `{"tags":["edge","prod","web"]}`, "comma, semicolon and blank are separators"},
		"nameserver":        {normalize.LXC, `{"nameserver": "192.0.2.9 192.0.2.8"}`, `{"nameserver":["192.0.2.9","192.0.2.8"]}`, "the order has a meaning"},
		"password":          {normalize.QEMU, `{"cipassword": "**********"}`, `{"cipassword":"**********"}`, "a masked password is not sealed"},
		"features":          {normalize.LXC, `{"features": "nesting=1,mount=nfs;cifs"}`, `{"features":{"mount":["cifs","nfs"],"nesting":true}}`, "file systems are a set"},
		"raw lines":         {normalize.LXC, `{"lxc": [["lxc.cap.drop", "sys_time"], ["lxc.environment", "PIN=1234"]]}`, `{"lxc":["lxc.cap.drop: sys_time","(secret)"]}`, "pairs; the environment may have secrets"},
		"environment":       {normalize.LXC, `{"env": "A=1\u0000B=two=2"}`, `{"env":{"A":"(secret)","B":"(secret)"}}`, "NUL separates the entries"},
		"dropped":           {normalize.QEMU, `{"digest": "ab", "meta": "ctime=1", "vmgenid": "x", "lock": "backup", "parent": "snap1"}`, `{}`, "none of it is configuration"},

		"user":            {normalize.User, `{"userid": "ann@pve", "enable": 1, "expire": 0, "groups": "ops,dev", "keys": "", "realm-type": "pve", "tokens": null}`, `{"enable":true,"groups":["dev","ops"],"userid":"ann@pve"}`, "expire 0 is never"},
		"user, one":       {normalize.User, `{"expire": "1900000000", "groups": ["ops", "dev"], "keys": "JBSWY3DPEHPK3PXP"}`, `{"expire":1900000000,"groups":["dev","ops"],"keys":"(secret)"}`, "old versions keep a secret in keys"},
		"role":            {normalize.Role, `{"roleid": "R", "special": 0, "privs": "VM.Audit,Pool.Audit"}`, `{"privs":["Pool.Audit","VM.Audit"],"roleid":"R","special":false}`, "privileges are a set"},
		"group":           {normalize.Group, `{"groupid": "ops", "users": "ann@pve"}`, `{"groupid":"ops"}`, "members are on the users"},
		"grants":          {normalize.User, `{"acl": [{"path": "/vms", "roleid": "B", "propagate": 1}, {"path": "/", "roleid": "A", "propagate": "0"}]}`, `{"acl":[{"path":"/","propagate":false,"roleid":"A"},{"path":"/vms","propagate":true,"roleid":"B"}]}`, "rows have no order"},
		"realm":           {normalize.Realm, `{"type": "openid", "client-key": "s3cret", "autocreate": 1, "scopes": "profile email"}`, `{"autocreate":true,"client-key":"(secret)","scopes":["email","profile"],"type":"openid"}`, "the API sends the client's key in clear"},
		"storage":         {normalize.Storage, `{"storage": "nas", "content": "images,backup", "nodes": "n2,n1", "shared": 1, "prune-backups": "keep-last=3,keep-weekly=2", "is_mountpoint": 1}`, `{"content":["backup","images"],"is_mountpoint":"yes","nodes":["n1","n2"],"prune-backups":{"keep-last":3,"keep-weekly":2},"shared":true,"storage":"nas"}`, "lists come in random order"},
		"mount point":     {normalize.Storage, `{"is_mountpoint": "/mnt/nas"}`, `{"is_mountpoint":"/mnt/nas"}`, "or a path"},
		"backup job":      {normalize.BackupJob, `{"id": "b", "vmid": "900,1000,200", "prune-backups": {"keep-last": "7"}, "next-run": 1900000000, "compress": "1", "type": "vzdump"}`, `{"compress":"lzo","id":"b","prune-backups":{"keep-last":7},"vmid":["200","900","1000"]}`, "a map of texts, and numbers that are text"},
		"options":         {normalize.ClusterOptions, `{"migration": "secure,network=192.0.2.0/24", "max_workers": "3", "next-id": {"lower": "200"}, "allowed-tags": ["a"], "registered-tags": ["b", "a"]}`, `{"max_workers":3,"migration":{"network":"192.0.2.0/24","type":"secure"},"next-id":{"lower":200},"registered-tags":["a","b"]}`, "some versions parse property strings themselves"},
		"proxy":           {normalize.ClusterOptions, `{"http_proxy": "http://ann:pw@proxy.example.com:3128"}`, `{"http_proxy":"(secret)"}`, "a password in a URL"},
		"broken proxy":    {normalize.ClusterOptions, `{"http_proxy": "http://ann:p%w@proxy.example.com"}`, `{"http_proxy":"(secret)"}`, "an invalid URL may have a password"},
		"plain proxy":     {normalize.ClusterOptions, `{"http_proxy": "http://proxy.example.com:3128"}`, `{"http_proxy":"http://proxy.example.com:3128"}`, "none"},
		"metrics":         {normalize.MetricsServer, `{"type": "influxdb", "token": "t0ken", "port": "8089", "disable": 0}`, `{"disable":false,"port":8089,"token":"(secret)","type":"influxdb"}`, "tokens are sealed"},
		"HA resource":     {normalize.HAResource, `{"sid": "vm:7", "state": "enabled"}`, `{"sid":"vm:7","state":"started"}`, "an old name of the same state"},
		"HA rule":         {normalize.HARule, `{"rule": "r", "nodes": "n2:10,n1", "resources": "vm:9,vm:10", "order": 3}`, `{"nodes":{"n1":0,"n2":10},"resources":["vm:10","vm:9"],"rule":"r"}`, "order is the position in the file"},
		"mapping":         {normalize.MappingPCI, `{"id": "gpu", "type": "pci", "map": ["path=0000:02:00.0,node=n2,id=10de:1", "id=10de:1,node=n1,path=0000:01:00.0,iommugroup=4"]}`, `{"id":"gpu","map":[{"id":"10de:1","iommugroup":4,"node":"n1","path":"0000:01:00.0"},{"id":"10de:1","node":"n2","path":"0000:02:00.0"}]}`, "sorted by node and path"},
		"zone":            {normalize.SDNZone, `{"zone": "z", "type": "vxlan", "peers": "192.0.2.7,192.0.2.6", "mtu": "1450", "digest": null, "state": "new", "pending": {"mtu": 1400}}`, `{"mtu":1450,"peers":["192.0.2.6","192.0.2.7"],"type":"vxlan","zone":"z"}`, "pending changes are dropped"},
		"subnet":          {normalize.SDNSubnet, `{"subnet": "z-198.51.100.0-24", "id": "z-198.51.100.0-24", "mask": "24", "snat": 1, "dhcp-range": [{"end-address": "198.51.100.9", "start-address": "198.51.100.5"}]}`, `{"dhcp-range":[{"end-address":"198.51.100.9","start-address":"198.51.100.5"}],"mask":24,"snat":true,"subnet":"z-198.51.100.0-24"}`, "a list of maps"},
		"subnet, old":     {normalize.SDNSubnet, `{"dhcp-range": "start-address=198.51.100.5,end-address=198.51.100.9"}`, `{"dhcp-range":[{"end-address":"198.51.100.9","start-address":"198.51.100.5"}]}`, "or one property string"},
		"rules":           {normalize.FirewallRules, `{"rules": [{"pos": 0, "type": "in", "action": "DROP", "digest": "x"}, {"pos": 1, "type": "group", "action": "web", "enable": 0}]}`, `{"rules":[{"action":"DROP","enable":true,"type":"in"},{"action":"web","enable":false,"type":"group"}]}`, "the order has a meaning, and enable is always set"},
		"no rules":        {normalize.FirewallRules, `{"rules": []}`, `{"rules":[]}`, "a list that is sent stays one"},
		"IP set":          {normalize.FirewallIPSet, `{"name": "s", "cidr": [{"cidr": "198.51.100.9", "nomatch": 1, "digest": "x"}, {"cidr": "192.0.2.1"}]}`, `{"cidr":[{"cidr":"192.0.2.1"},{"cidr":"198.51.100.9","nomatch":true}],"name":"s"}`, "sorted by address"},
		"firewall option": {normalize.FirewallOptions, `{"log_ratelimit": "0,burst=10", "enable": "1"}`, `{"enable":true,"log_ratelimit":{"burst":10,"enable":false}}`, "a nameless part"},
		"bridge":          {normalize.NodeNetwork, `{"iface": "vmbr4", "cidr": "192.0.2.1/24", "address": "192.0.2.1", "netmask": "24", "bridge_ports": "", "bridge_vids": "2-9  40", "bridge_fd": "0", "mtu": "9000", "comments": "lab\n", "active": 1, "priority": 4}`, `{"bridge_fd":0,"bridge_vids":"2-9 40","cidr":"192.0.2.1/24","comments":"lab","iface":"vmbr4","mtu":9000}`, "an address is said once"},
		"address alone":   {normalize.NodeNetwork, `{"address6": "2001:db8::1", "netmask6": 64}`, `{"address6":"2001:db8::1","netmask6":"64"}`, "without a CIDR it stays"},
		"DNS":             {normalize.NodeDNS, `{"search": "example.com", "dns2": "192.0.2.8", "dns1": "192.0.2.9"}`, `{"search":"example.com","servers":["192.0.2.9","192.0.2.8"]}`, "one list"},
		"hosts":           {normalize.NodeHosts, `{"data": "# local\n127.0.0.1 localhost\n\n192.0.2.9\tn1.example.com n1 # me\nbroken\n", "digest": "x"}`, `{"entries":[{"address":"127.0.0.1","hostnames":["localhost"]},{"address":"192.0.2.9","hostnames":["n1.example.com","n1"]}]}`, "comments and blank lines are ignored"},
		"no hosts":        {normalize.NodeHosts, `{"data": ""}`, `{"entries":[]}`, "an empty file has no entries"},
		"time":            {normalize.NodeTime, `{"timezone": "Etc/UTC", "time": 1, "localtime": 1}`, `{"timezone":"Etc/UTC"}`, "the current time is dropped"},
		"unknown kind":    {"proxmox/new", `{"a": 1, "digest": "x"}`, `{"a":"1"}`, "all keys are unknown"},
		"no map":          {normalize.Storage, `[1]`, `{}`, "anything but a map has no fields"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			normalizer := newNormalizer()
			got := normalizer.Object(tt.kind, parse(t, tt.raw))
			if diff := cmp.Diff(tt.want, shown(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if again := normalizer.Object(tt.kind, got); !again.Equal(got) {
				t.Errorf("normalized again: %s", shown(again))
			}
		})
	}
}

func TestDisks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ kind, key, raw, want, reason string }{
		"file":       {normalize.QEMU, "scsi0", "imgs:700/vm-700-disk-0.qcow2,size=32G,ssd=1,discard=on", `{"discard":"on","file":"imgs:700/vm-700-disk-0.qcow2","format":"qcow2","size":34359738368,"ssd":true,"storage":"imgs","volume":"700/vm-700-disk-0.qcow2"}`, "the suffix tells the format"},
		"named":      {normalize.QEMU, "scsi1", "size=5120M,file=fast:vm-700-disk-1", `{"file":"fast:vm-700-disk-1","format":"raw","size":5368709120,"storage":"fast","volume":"vm-700-disk-1"}`, "a block device has no suffix"},
		"old name":   {normalize.QEMU, "virtio0", "volume=fast:vm-700-disk-1", `{"file":"fast:vm-700-disk-1","format":"raw","storage":"fast","volume":"vm-700-disk-1"}`, "volume is another name of file"},
		"format":     {normalize.QEMU, "sata0", "fast:vm-700-disk-1,format=qcow2", `{"file":"fast:vm-700-disk-1","format":"qcow2","storage":"fast","volume":"vm-700-disk-1"}`, "the format option takes precedence"},
		"clone":      {normalize.QEMU, "scsi0", "imgs:700/base-700-disk-0.qcow2/701/vm-701-disk-0.qcow2", `{"file":"imgs:700/base-700-disk-0.qcow2/701/vm-701-disk-0.qcow2","format":"qcow2","storage":"imgs","volume":"700/base-700-disk-0.qcow2/701/vm-701-disk-0.qcow2"}`, "a linked clone names its base"},
		"device":     {normalize.QEMU, "scsi2", "/dev/disk/by-id/ata-DISK:1,size=1.5T", `{"file":"/dev/disk/by-id/ata-DISK:1","format":"raw","size":1649267441664}`, "a path has no storage"},
		"speed":      {normalize.QEMU, "scsi3", "fast:vm-700-disk-3,iops_rd=500,mbps_wr=12.5,iops_wr_max_length=60", `{"file":"fast:vm-700-disk-3","format":"raw","iops_rd":500,"iops_wr_max_length":60,"mbps_wr":12.5,"storage":"fast","volume":"vm-700-disk-3"}`, "limits are numbers"},
		"cdrom":      {normalize.QEMU, "ide2", "local:iso/install.iso,media=cdrom,size=600M", `{"file":"local:iso/install.iso","media":"cdrom","size":629145600,"storage":"local","volume":"iso/install.iso"}`, "an image is no disk of a format"},
		"empty":      {normalize.QEMU, "ide2", "none,media=cdrom", `{"file":"none","media":"cdrom"}`, "no volume at all"},
		"cloud-init": {normalize.QEMU, "ide0", "imgs:700/vm-700-cloudinit.qcow2,media=cdrom", `{"cloudinit":true,"file":"imgs:700/vm-700-cloudinit.qcow2","format":"qcow2","media":"cdrom","storage":"imgs","volume":"700/vm-700-cloudinit.qcow2"}`, "by the name"},
		"EFI":        {normalize.QEMU, "efidisk0", "imgs:700/vm-700-disk-2.raw,efitype=4m,pre-enrolled-keys=1,size=528K", `{"efitype":"4m","file":"imgs:700/vm-700-disk-2.raw","format":"raw","pre-enrolled-keys":true,"size":540672,"storage":"imgs","volume":"700/vm-700-disk-2.raw"}`, "options of its own"},
		"unused":     {normalize.QEMU, "unused7", "imgs:700/vm-700-disk-9.vmdk", `{"file":"imgs:700/vm-700-disk-9.vmdk","format":"vmdk","storage":"imgs","volume":"700/vm-700-disk-9.vmdk"}`, "a bare id"},
		"root":       {normalize.LXC, "rootfs", "imgs:710/vm-710-disk-0.subvol,size=8G", `{"file":"imgs:710/vm-710-disk-0.subvol","format":"subvol","size":8589934592,"storage":"imgs","volume":"710/vm-710-disk-0.subvol"}`, "a folder"},
		"mount":      {normalize.LXC, "mp3", "volume=/srv/data,mp=/data,ro=1,mountoptions=noexec;nodev", `{"file":"/srv/data","format":"raw","mountoptions":["nodev","noexec"],"mp":"/data","ro":true}`, "of the node"},
		"broken":     {normalize.QEMU, "scsi0", "size=big", `{"size":"big"}`, "no volume, and no size"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			normalizer := newNormalizer()
			got := normalizer.Object(tt.kind, model.MapOf(model.Field{Name: tt.key, Value: model.StringOf(tt.raw)}))
			if diff := cmp.Diff(tt.want, shown(got.At(tt.key))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if again := normalizer.Object(tt.kind, got); !again.Equal(got) {
				t.Errorf("normalized again: %s", shown(again))
			}
		})
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		bytes int64
		ok    bool
	}{
		"0": {0, true}, "528K": {540672, true}, "32G": {34359738368, true}, "1.5G": {1610612736, true}, "2T": {2199023255552, true},
		"1048576": {1048576, true}, "": {0, false}, "G": {0, false}, "1GG": {0, false}, "1g": {0, false}, "-1G": {0, false},
		"1e3": {0, false}, "1.2.3": {0, false}, ".": {0, false}, "9223372036854775807T": {0, false},
	}
	for text, want := range tests {
		if bytes, ok := normalize.Size(text); ok != want.ok || ok && bytes != want.bytes {
			t.Errorf("%q is %d, %t; want %d, %t", text, bytes, ok, want.bytes, want.ok)
		}
	}
}

// TestSecretsAreSealed checks that the same word is sealed in every field that may hold a
// secret.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	const word = "open-sesame"
	for kind, raw := range map[string]string{
		normalize.QEMU:               `{"cipassword": "open-sesame"}`,
		normalize.LXC:                `{"env": "K=open-sesame", "lxc": [["lxc.environment.runtime", "K=open-sesame"]]}`,
		normalize.User:               `{"keys": "open-sesame"}`,
		normalize.Realm:              `{"client-key": "open-sesame", "password": "open-sesame", "tfa": "type=yubico,key=open-sesame"}`,
		normalize.Storage:            `{"password": "open-sesame", "keyring": "open-sesame"}`,
		normalize.ClusterOptions:     `{"http_proxy": "http://u:open-sesame@proxy"}`,
		normalize.MetricsServer:      `{"token": "open-sesame", "otel-headers": "open-sesame"}`,
		normalize.SDNIpam:            `{"token": "open-sesame"}`,
		normalize.SDNDNS:             `{"key": "open-sesame", "url": "https://u:open-sesame@dns"}`,
		normalize.ACMEPlugin:         `{"data": "open-sesame"}`,
		normalize.NotificationTarget: `{"password": ["open-sesame"], "token": {"a": "open-sesame"}, "secret": ["open-sesame"], "header": ["open-sesame"]}`,
	} {
		sealed := newNormalizer().Object(kind, parse(t, raw))
		if text := string(sealed.AppendJSON(nil)); strings.Contains(text, word) || !sealed.HasSecret() {
			t.Errorf("%s: %s", kind, text)
		}
	}
}
