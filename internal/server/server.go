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

// Bounds of a connection.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = time.Minute
	maxHeaderBytes    = 16 << 10
	// maxConnections bounds those over TCP, so that strangers leave the store and
	// the collectors enough file descriptors; more wait to be accepted.
	maxConnections = 4096
	// stopTimeout is how long requests under way get when the server stops.
	stopTimeout = 5 * time.Second
)

// Options say where the server answers.
type Options struct {
	API API
	// Listen is host:port, for whom the API's Gate lets in, and for hooks; ""
	// means nowhere.
	Listen string
	// Pages serves what is not the API's, to whoever comes to Listen. It finds the
	// Visitor in the request's context.
	Pages http.Handler
	// WebConfigFile turns on TLS and passwords for Listen, see CheckWebConfig.
	WebConfigFile string
	// Socket is the path of the unix socket, for everything; "" means none.
	Socket string
	// Ready is called once, when all addresses are open; it may be nil.
	Ready func([]net.Addr)
	Log   *slog.Logger
}

// Serve answers until ctx ends, and returns nil then, when every request that
// was under way has ended or its time was up. An error means that an address
// could not be opened or fell.
func Serve(ctx context.Context, o Options) error {
	if err := CheckWebConfig(o.WebConfigFile); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	doors, err := o.open(ctx)
	if err != nil {
		return err
	}
	if o.Ready != nil {
		addrs := make([]net.Addr, len(doors))
		for i, d := range doors {
			addrs[i] = d.listener.Addr()
		}
		o.Ready(addrs)
	}
	return serveAll(ctx, stop, doors)
}

// A door is one address with the server behind it.
type door struct {
	listener net.Listener
	server   *http.Server
	serve    func() error
}

// open opens every address, or none.
func (o Options) open(ctx context.Context) ([]*door, error) {
	var doors []*door
	for _, opener := range []func(context.Context) (*door, error){o.openSocket, o.openTCP} {
		d, err := opener(ctx)
		if err != nil {
			for _, earlier := range doors {
				err = errors.Join(err, earlier.listener.Close())
			}
			return nil, err
		}
		if d != nil {
			doors = append(doors, d)
		}
	}
	return doors, nil
}

func (o Options) openSocket(ctx context.Context) (*door, error) {
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

func (o Options) openTCP(ctx context.Context) (*door, error) {
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
		return web.Serve(listener, d.server, &web.FlagConfig{WebConfigFile: &o.WebConfigFile}, slog.New(troubles{o.Log.Handler()}))
	}
	return d, nil
}

// warn says what is wrong with an address that others can reach.
func (o Options) warn(addr net.Addr) {
	switch {
	case onlyThisHost(addr):
	case !o.API.Gate.Configured():
		o.Log.Warn("nobody may read at this address, as nobody can be known there: set server.access, or listen on 127.0.0.1", "address", addr.String())
	case o.API.Gate.Passwords() && o.WebConfigFile == "":
		o.Log.Warn("passwords cross the network as they are: set server.web_config_file to turn on TLS, or listen on 127.0.0.1 behind a proxy that does", "address", addr.String())
	}
}

// onlyThisHost tells an address that nobody else can reach.
func onlyThisHost(addr net.Addr) bool {
	host, ok := addr.(*net.TCPAddr)
	return ok && host.IP.IsLoopback()
}

// troubles passes on what is wrong and drops the toolkit's small talk.
type troubles struct{ slog.Handler }

// Enabled tells whether a level is worth a word.
func (h troubles) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// cause takes the address off a network error: it is said once.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func (o Options) newDoor(ctx context.Context, listener net.Listener, handler http.Handler) *door {
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
	return &door{listener, server, func() error { return server.Serve(listener) }}
}

// serveAll serves until ctx ends or one door falls, which ends it for all.
func serveAll(ctx context.Context, stop func(), doors []*door) error {
	errs := make([]error, len(doors))
	var group sync.WaitGroup
	for i, d := range doors {
		group.Go(func() {
			defer stop()
			if err := d.serve(); !errors.Is(err, http.ErrServerClosed) {
				errs[i] = fmt.Errorf("serve %s: %w", d.listener.Addr(), err)
			}
		})
	}
	<-ctx.Done()
	for _, d := range doors {
		group.Go(d.shut)
	}
	group.Wait()
	return errors.Join(errs...)
}

// shut lets requests end, for a while, and then ends them.
func (d *door) shut() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if d.server.Shutdown(ctx) != nil {
		_ = d.server.Close() // its listener is closed already, its connections are cut
	}
	_ = d.listener.Close() // a second close, unless the server never took it
}
