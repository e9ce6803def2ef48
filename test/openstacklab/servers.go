package openstacklab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/driftd/driftd/test/process"
)

// A server is a process of the cloud.
type server struct {
	name    string
	program string
	args    []string
	env     []string
	// asks checks that the server is ready; nil if the check of another one includes it.
	asks asking
}

// asking checks that a server is ready.
type asking func(context.Context, place) error

// database returns the database server of the services.
func (p place) database() server {
	return server{name: "mariadb", program: "/usr/sbin/mariadbd", args: []string{
		"--no-defaults", "--user=root", "--datadir=" + filepath.Join(p.Dir, "data", "mysql"), "--socket=" + p.Socket(),
		"--pid-file=" + filepath.Join(p.Dir, "run", "mariadb.pid"), "--skip-networking", "--skip-log-bin", "--performance-schema=0",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=96M", "--innodb-log-file-size=16M",
		"--max-connections=300",
	}, asks: func(ctx context.Context, p place) error { return p.sql(ctx, "select 1;") }}
}

// servers returns all others, in the order of their start.
func (p place) servers() []server {
	return []server{
		{name: "epmd", program: "epmd", args: []string{"-address", "127.0.0.1", "-port", strconv.Itoa(p.Port("epmd"))}, asks: listens("epmd")},
		p.rabbit(),
		p.wsgi("keystone", "/usr/bin/keystone-wsgi-public", "/v3"),
		p.eventlet("neutron", "neutron-server", "neutron.conf", answers("neutron", "/")),
		p.wsgi("placement", "/usr/bin/placement-api", "/"),
		p.eventlet("glance", "glance-api", "glance.conf", answers("glance", "/healthcheck")),
		p.wsgi("nova", p.packaged("nova-api-wsgi"), "/"),
		p.eventlet("nova-conductor", "nova-conductor", "nova.conf", nil),
		p.eventlet("nova-scheduler", "nova-scheduler", "nova.conf", nil),
		p.eventlet("nova-compute", "nova-compute", "nova.conf", nil),
		p.wsgi("cinder", p.packaged("cinder-wsgi"), "/", "--pyargv", "--config-file="+p.settings("cinder.conf")),
		p.eventlet("cinder-scheduler", "cinder-scheduler", "cinder.conf", nil),
		p.eventlet("cinder-volume", "cinder-volume", "cinder.conf", nil),
	}
}

// eventlet returns a server that is a program of its own.
func (p place) eventlet(name, program, settings string, asks asking) server {
	return server{name: name, program: p.packaged(program), args: []string{"--config-file", p.settings(settings)}, asks: asks}
}

// packaged returns the path of a program of Debian's packages.
func (p place) packaged(program string) string { return filepath.Join(p.Files, "usr", "bin", program) }

// wsgi returns a service that a web server runs, ready once it responds at a path.
func (p place) wsgi(name, file, path string, args ...string) server {
	return server{name: name, program: "uwsgi", args: append([]string{
		"--plugin", "python3", "--http-socket", fmt.Sprintf("127.0.0.1:%d", p.Port(name)), "--wsgi-file", file,
		// One request at a time: the green threads of Nova and Cinder deadlock in a web server
		// with several.
		"--processes", "1", "--enable-threads", "--need-app", "--die-on-term", "--disable-logging",
		// It does not read the rest of a request after its response.
		"--post-buffering", "65536", "--buffer-size", "65535", "--add-header", "Connection: close",
	}, args...), env: []string{
		"OS_KEYSTONE_CONFIG_DIR=" + p.settings(""), "OS_PLACEMENT_CONFIG_DIR=" + p.settings(""), "OS_NOVA_CONFIG_DIR=" + p.settings(""),
	}, asks: answers(name, path)}
}

// rabbit returns the bus. Its shell script replaces itself by the server if it detects systemd,
// so that stopping it stops the server.
func (p place) rabbit() server {
	return server{name: "rabbit", program: "/usr/lib/rabbitmq/bin/rabbitmq-server", env: []string{
		"RUNNING_UNDER_SYSTEMD=true",
		"HOME=" + filepath.Join(p.Dir, "data", "rabbit"),
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_EPMD_PORT=" + strconv.Itoa(p.Port("epmd")),
		"RABBITMQ_NODENAME=lab@localhost",
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		"RABBITMQ_NODE_PORT=" + strconv.Itoa(p.Port("rabbit")),
		"RABBITMQ_DIST_PORT=" + strconv.Itoa(p.Port("rabbit-nodes")),
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(p.Dir, "data", "rabbit"),
		"RABBITMQ_LOG_BASE=" + filepath.Join(p.Dir, "log"),
		"RABBITMQ_PID_FILE=" + filepath.Join(p.Dir, "run", "rabbit.pid"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + p.settings("enabled_plugins"),
		"RABBITMQ_CONFIG_FILE=" + p.settings("rabbitmq"),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none",
	}, asks: speaks}
}

// start starts a server.
func (p place) start(s server) (*process.Process, error) {
	return process.Start(process.Options{
		Program: s.program, Args: s.args, Log: filepath.Join(p.Dir, "log", s.name+".out"), Env: append(environment(), s.env...),
	})
}

// environment returns the variables of the caller that every program of the cloud gets.
func environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8",
		"no_proxy=127.0.0.1,localhost", "NO_PROXY=127.0.0.1,localhost",
	}
}
