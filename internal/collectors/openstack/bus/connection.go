package bus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/printable"
)

// Limits of driftd's queue, and the time after which the broker deletes it if it is not used.
// They protect the broker from a driftd that is gone, and driftd's memory when it comes back.
const (
	maxQueued     = 200_000
	maxQueuedSize = 128 << 20
	queueExpiry   = 14 * 24 * time.Hour
)

// Limits of one scan: the messages that it reads, those in one batch, and the wait for the next
// one.
const (
	maxMessages = 200_000
	batchSize   = 2000
	idleTimeout = 2 * time.Second
)

// maxDial is the timeout of the connection and the login.
const maxDial = 10 * time.Second

// A connection is a connection to the broker, for one scan.
type connection struct {
	options Options
	conn    *amqp.Connection
	release func() bool
}

// errAddress does not quote the address, which contains a password.
var errAddress = errors.New("its content is not the address of a message broker: want one such as amqps://user:password@rabbit.example.org/")

// errShared is returned if the queue has another consumer: each would miss the messages of the
// other.
var errShared = errors.New("its queue has another consumer")

// errCleartext is returned for an address without TLS.
var errCleartext = errors.New("its password would cross the network without encryption: use amqps://, or allow it with notifications.cleartext")

// address reads the address of the broker. It accepts addresses of oslo.messaging, and uses the
// first of several hosts.
func (o Options) address() (amqp.URI, error) {
	text, err := credential.Read(o.URLFile)
	if err != nil {
		return amqp.URI{}, fmt.Errorf("read url_file: %w", err)
	}
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "rabbit://"); ok {
		text = "amqp://" + rest
	}
	// A password may contain a comma.
	login, place, _ := strings.Cut(text, "@")
	if first, others, several := strings.Cut(place, ","); several {
		_, vhost, _ := strings.Cut(others, "/")
		text = login + "@" + first + "/" + vhost
	}
	uri, err := amqp.ParseURI(text)
	if err != nil || uri.Host == "" {
		return amqp.URI{}, fmt.Errorf("read url_file: %w", errAddress)
	}
	return uri, nil
}

// dial connects and logs in. If ctx ends, so do the connection and all its operations.
func (o Options) dial(ctx context.Context) (*connection, error) {
	uri, err := o.address()
	if err != nil {
		return nil, err
	}
	if uri.Scheme == "amqp" && !httpclient.Loopback(uri.Host) && !o.Cleartext {
		return nil, errCleartext
	}
	trust, err := httpclient.Trust(o.CAFile)
	if err != nil {
		return nil, err
	}
	trust.ServerName = uri.Host
	release := func() bool { return false }
	conn, err := amqp.DialConfig(uri.String(), amqp.Config{
		Vhost: uri.Vhost, Heartbeat: 10 * time.Second, Locale: "en_US", TLSClientConfig: trust,
		SASL: []amqp.Authentication{uri.PlainAuth()}, Properties: amqp.Table{"product": "driftd"},
		Dial: func(network, addr string) (net.Conn, error) {
			socket, err := (&net.Dialer{Timeout: maxDial}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			release = context.AfterFunc(ctx, func() { _ = socket.Close() })
			// The library removes the deadline after the login.
			return socket, socket.SetDeadline(time.Now().Add(maxDial))
		},
	})
	if err != nil {
		release()
		return nil, err
	}
	return &connection{options: o, conn: conn, release: release}, nil
}

// close closes the connection. Its error is ignored: messages that were not acknowledged are
// delivered again.
func (c *connection) close() {
	c.release()
	_ = c.conn.CloseDeadline(time.Now().Add(idleTimeout))
}

// declareQueue returns the number of messages in the queue, and creates the queue if it does
// not exist. It does not change an existing one, which an operator may have created with other
// limits.
func (c *connection) declareQueue() (waiting int, created bool, err error) {
	name := c.options.Queue
	var found amqp.Queue
	err = c.withChannel(func(ch *amqp.Channel) (err error) {
		found, err = ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return err
	})
	switch {
	case err == nil && found.Consumers > 0:
		// driftd itself is no consumer between scans.
		return 0, false, errShared
	case codeOf(err) != amqp.NotFound:
		return found.Messages, false, err
	}
	err = c.withChannel(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(name, true, false, false, false, amqp.Table{
			"x-max-length": int64(maxQueued), "x-max-length-bytes": int64(maxQueuedSize), "x-expires": queueExpiry.Milliseconds(),
		})
		return err
	})
	return 0, true, err
}

// withChannel calls a function with a channel of its own: the broker closes a channel after an
// error.
func (c *connection) withChannel(ask func(*amqp.Channel) error) error {
	ch, err := c.conn.Channel()
	if err != nil {
		return err
	}
	// The broker has closed it already after an error.
	defer func() { _ = ch.Close() }()
	return ask(ch)
}

// versioned is the topic of Nova's versioned notifications.
// https://docs.openstack.org/nova/latest/configuration/config.html
const versioned = "versioned_notifications"

// bind binds the queue to the notifications of success: failed requests change nothing. absent
// are the exchanges that do not exist.
func (c *connection) bind() (absent []string, err error) {
	for _, exchange := range c.options.Exchanges {
		refused := c.withChannel(func(ch *amqp.Channel) error {
			for _, topic := range []string{c.options.Topic, versioned} {
				if err := ch.QueueBind(c.options.Queue, topic+".info", exchange, false, nil); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case codeOf(refused) == amqp.NotFound:
			absent = append(absent, exchange)
		case refused != nil:
			err = errors.Join(err, refused)
		}
	}
	slices.Sort(absent)
	return absent, err
}

// consume passes the waiting messages to keep in batches, and acknowledges a batch if keep
// returns no error.
func (c *connection) consume(ctx context.Context, waiting int, keep func([][]byte) error) error {
	if waiting == 0 {
		return nil
	}
	return c.withChannel(func(ch *amqp.Channel) error {
		if err := ch.Qos(batchSize, 0, false); err != nil {
			return err
		}
		deliveries, err := ch.Consume(c.options.Queue, "", false, false, false, false, nil)
		if err != nil {
			return err
		}
		for left := min(waiting, maxMessages); left > 0; {
			messages, last := collect(ctx, deliveries, min(left, batchSize))
			if len(messages) == 0 {
				return nil
			}
			if err := keep(messages); err != nil {
				return err
			}
			if err := ch.Ack(last, true); err != nil {
				return err
			}
			left -= len(messages)
		}
		return nil
	})
}

// collect receives messages until none arrives for idleTimeout.
func collect(ctx context.Context, deliveries <-chan amqp.Delivery, want int) (messages [][]byte, last uint64) {
	for len(messages) < want {
		select {
		case d, open := <-deliveries:
			if !open {
				return messages, last
			}
			messages, last = append(messages, d.Body), d.DeliveryTag
		case <-time.After(idleTimeout):
			return messages, last
		case <-ctx.Done():
			return messages, last
		}
	}
	return messages, last
}

// codeOf returns the reply code of the broker; 0 if err is not a reply.
func codeOf(err error) int {
	var refused *amqp.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// explain returns why the bus could not be read, and the next step. Of the address it contains
// the host only.
func (b *Bus) explain(ctx context.Context, err error) string {
	o := b.options
	uri, noAddress := o.address()
	if noAddress != nil {
		return noAddress.Error()
	}
	where := "the notification bus at " + net.JoinHostPort(uri.Host, strconv.Itoa(uri.Port))
	if ctx.Err() != nil {
		return where + " did not answer in time"
	}
	words := httpclient.Words{
		Server: "the message broker", Address: "the address in notifications.url_file",
		Authority: "set notifications.ca_file to the authority that signed the broker's certificate",
		Expired:   "renew the broker's certificate", Host: "use a name that the broker's certificate contains",
	}
	var record tls.RecordHeaderError
	hint := cmp.Or(words.Hint(err), "check that a broker for AMQP 0.9.1 listens there, and see its log")
	switch code := codeOf(err); {
	case errors.As(err, &record):
		hint = "the broker does not use TLS on this port: use amqp:// or the right port"
	case errors.Is(err, errShared):
		hint = "give each driftd and each source its own queue with notifications.queue, now " + o.Queue
	case errors.Is(err, amqp.ErrCredentials), errors.Is(err, amqp.ErrSASL):
		hint = "the broker rejects the user and password: check the address in notifications.url_file"
	case errors.Is(err, amqp.ErrVhost), code == amqp.NotAllowed:
		hint = "the account may not use this virtual host: check the end of the address in notifications.url_file, or rabbitmqctl set_permissions -p VHOST"
	case code == amqp.AccessRefused:
		hint = fmt.Sprintf(`let the account use its queue and read the exchanges: rabbitmqctl set_permissions -p %s %s "^%s$" "^%s$" "^(%s)$"`,
			uri.Vhost, uri.Username, o.Queue, o.Queue, strings.Join(append([]string{o.Queue}, o.Exchanges...), "|"))
	}
	return fmt.Sprintf("%s could not be read: %s; %s", where, printable.Text(reason(err)), hint)
}

// reason returns the text of the broker, without that of the library.
func reason(err error) string {
	var refused *amqp.Error
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return httpclient.WithoutPort(err).Error()
}
