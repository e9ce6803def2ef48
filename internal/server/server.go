package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

// Limits of a connection.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = time.Minute
	maxHeaderBytes    = 16 << 10
	// maxConnections bounds the number of TCP connections, which leaves file descriptors for the
	// store and the collectors. Further connections wait to be accepted.
	maxConnections = 4096
	// stopTimeout is how long running requests may take when the server stops.
	stopTimeout = 5 * time.Second
)

// Options are the addresses and handlers of the server.
type Options struct {
	API API
	// Listen is a TCP address host:port, for hooks and for visitors whom the Gate of the API authenticates.
	// "" means none.
	Listen string
	// Pages serves all paths on Listen that are not in the API. The context of the request contains the
	// Visitor.
	Pages http.Handler
	// WebConfigFile is the file that configures TLS and passwords for Listen; see CheckWebConfig.
	WebConfigFile string
	// Socket is the path of the unix socket, which grants all permissions. "" means none.
	Socket string
	// Ready, if not nil, is called once, when all addresses are open.
	Ready func([]net.Addr)
	Log   *slog.Logger
}

// Serve serves requests until ctx ends. It then waits up to stopTimeout for requests in progress and
// returns nil. It returns an error if an address cannot be opened, or if a listener fails.
func Serve(ctx context.Context, o Options) error {
	if err := CheckWebConfig(o.WebConfigFile); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	endpoints, err := o.open(ctx)
	if err != nil {
		return err
	}
	if o.Ready != nil {
		addrs := make([]net.Addr, len(endpoints))
		for i, d := range endpoints {
			addrs[i] = d.listener.Addr()
		}
		o.Ready(addrs)
	}
	return serveAll(ctx, stop, endpoints)
}

// An endpoint is a listener with its HTTP server.
type endpoint struct {
	listener net.Listener
	server   *http.Server
	serve    func() error
}

// open opens all addresses, or none.
func (o Options) open(ctx context.Context) ([]*endpoint, error) {
	var endpoints []*endpoint
	for _, opener := range []func(context.Context) (*endpoint, error){o.openSocket, o.openTCP} {
		d, err := opener(ctx)
		if err != nil {
			for _, earlier := range endpoints {
				err = errors.Join(err, earlier.listener.Close())
			}
			return nil, err
		}
		if d != nil {
			endpoints = append(endpoints, d)
		}
	}
	return endpoints, nil
}

func (o Options) openSocket(ctx context.Context) (*endpoint, error) {
	if o.Socket == "" {
		return nil, nil
	}
	listener, err := listenUnix(ctx, o.Socket)
	if err != nil {
		return nil, err
	}
	self := peer{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	d := o.newDoor(ctx, listener, onlyPeers(o.API.Handler(), o.API, self))
	d.server.ConnContext = withPeer
	return d, nil
}

func (o Options) openTCP(ctx context.Context) (*endpoint, error) {
	if o.Listen == "" {
		return nil, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w: free the address, or set server.listen", o.Listen, cause(err))
	}
	o.warn(listener.Addr())
	if tcp, ok := listener.(*net.TCPListener); ok {
		listener = limit(tcp, maxConnections)
	}
	d := o.newDoor(ctx, listener, o.API.Public(onlyThisHost(listener.Addr()), o.Pages))
	d.serve = func() error {
		return web.Serve(listener, d.server, &web.FlagConfig{WebConfigFile: &o.WebConfigFile}, slog.New(warningsOnly{o.Log.Handler()}))
	}
	return d, nil
}

// warn logs a warning about an insecure address that other hosts can reach.
func (o Options) warn(addr net.Addr) {
	switch {
	case onlyThisHost(addr):
	case !o.API.Gate.Configured():
		o.Log.Warn("no visitor can be authenticated at this address: set server.access, or listen on 127.0.0.1", "address", addr.String())
	case o.API.Gate.Passwords() && o.WebConfigFile == "":
		o.Log.Warn("passwords are sent unencrypted over the network: set server.web_config_file to turn on TLS, or listen on 127.0.0.1 behind a proxy that does", "address", addr.String())
	}
}

// onlyThisHost reports whether only this host can connect to the address.
func onlyThisHost(addr net.Addr) bool {
	host, ok := addr.(*net.TCPAddr)
	return ok && host.IP.IsLoopback()
}

// warningsOnly is a log handler that drops records below the level of warnings.
type warningsOnly struct{ slog.Handler }

// Enabled reports whether records of the level are logged.
func (h warningsOnly) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// cause returns the underlying error of a network error, without the address, which the caller
// adds.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func (o Options) newDoor(ctx context.Context, listener net.Listener, handler http.Handler) *endpoint {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	return &endpoint{listener, server, func() error { return server.Serve(listener) }}
}

// serveAll serves until ctx ends or one listener fails, which stops all of them.
func serveAll(ctx context.Context, stop func(), endpoints []*endpoint) error {
	errs := make([]error, len(endpoints))
	var group sync.WaitGroup
	for i, d := range endpoints {
		group.Go(func() {
			defer stop()
			if err := d.serve(); !errors.Is(err, http.ErrServerClosed) {
				errs[i] = fmt.Errorf("serve %s: %w", d.listener.Addr(), err)
			}
		})
	}
	<-ctx.Done()
	for _, d := range endpoints {
		group.Go(d.shut)
	}
	group.Wait()
	return errors.Join(errs...)
}

// shut stops the server: it waits up to stopTimeout for running requests and then closes their
// connections.
func (d *endpoint) shut() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if d.server.Shutdown(ctx) != nil {
		_ = d.server.Close() // the listener is closed already; Close closes the connections
	}
	_ = d.listener.Close() // a second close, unless the server never used the listener
}
