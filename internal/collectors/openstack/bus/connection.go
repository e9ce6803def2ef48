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
)

// What driftd's queue holds at most, and how long it is there when nobody takes
// from it: a driftd that is gone must not fill the broker, nor one that comes back
// its memory with the messages of one batch, large as they may be.
const (
	maxQueued     = 200_000
	maxQueuedSize = 128 << 20
	expires       = 14 * 24 * time.Hour
)

// Bounds of one look: how many messages it takes, how many it keeps at once, and
// how long it waits for the next one.
const (
	maxTaken = 200_000
	batch    = 2000
	patience = 2 * time.Second
)

// maxDial bounds how long the broker may take to let driftd in.
const maxDial = 10 * time.Second

// A connection is one to the broker, for the length of one look.
type connection struct {
	options Options
	conn    *amqp.Connection
	release func() bool
}

// errAddress shows nothing of an address, which holds a password.
var errAddress = errors.New("its content is no address of a message broker: want one such as amqps://user:password@rabbit.example.org/")

// errShared is a queue whose messages go to others too: each would miss what the
// other took.
var errShared = errors.New("something else takes from its queue")

// errCleartext tells an address by which the password would be sent in the clear.
var errCleartext = errors.New("its password would cross the network in the clear: use amqps://, or allow it with notifications.cleartext")

// address reads where the broker is. An address of oslo.messaging is taken as
// well; of several hosts the first.
func (o Options) address() (amqp.URI, error) {
	text, err := credential.Read(o.URLFile)
	if err != nil {
		return amqp.URI{}, fmt.Errorf("read url_file: %w", err)
	}
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "rabbit://"); ok {
		text = "amqp://" + rest
	}
	// A password may hold a comma as well.
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

// dial logs in. It ends when the context does, and so does everything that is
// asked of the connection.
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
			// The deadline is lifted once the broker let driftd in.
			return socket, socket.SetDeadline(time.Now().Add(maxDial))
		},
	})
	if err != nil {
		release()
		return nil, err
	}
	return &connection{options: o, conn: conn, release: release}, nil
}

// close ends the connection. Nothing is lost where that fails: what was not
// acknowledged comes again.
func (c *connection) close() {
	c.release()
	_ = c.conn.CloseDeadline(time.Now().Add(patience))
}

// queue sees that there is a queue, and tells how much waits in it. One that is
// there is taken as it is: an operator may have made it with bounds of his own.
func (c *connection) queue() (waiting int, made bool, err error) {
	name := c.options.Queue
	var found amqp.Queue
	err = c.do(func(ch *amqp.Channel) (err error) {
		found, err = ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return err
	})
	switch {
	case err == nil && found.Consumers > 0:
		// Between looks driftd is none itself.
		return 0, false, errShared
	case codeOf(err) != amqp.NotFound:
		return found.Messages, false, err
	}
	err = c.do(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(name, true, false, false, false, amqp.Table{
			"x-max-length": int64(maxQueued), "x-max-length-bytes": int64(maxQueuedSize), "x-expires": expires.Milliseconds(),
		})
		return err
	})
	return 0, true, err
}

// do asks something of the broker over a channel of its own: one that is refused
// anything is closed by the broker.
func (c *connection) do(ask func(*amqp.Channel) error) error {
	ch, err := c.conn.Channel()
	if err != nil {
		return err
	}
	// It is closed already where the answer was no.
	defer func() { _ = ch.Close() }()
	return ask(ch)
}

// versioned is the topic of Nova's versioned notifications.
// https://docs.openstack.org/nova/latest/configuration/config.html
const versioned = "versioned_notifications"

// bind lets notices into the queue: those of success, since what failed did
// nothing. Absent are the exchanges that are not there.
func (c *connection) bind() (absent []string, err error) {
	for _, exchange := range c.options.Exchanges {
		refused := c.do(func(ch *amqp.Channel) error {
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

// take hands over messages, some at a time, until all are taken that wait, and
// acknowledges those that were kept.
func (c *connection) take(ctx context.Context, waiting int, keep func([][]byte) error) error {
	if waiting == 0 {
		return nil
	}
	return c.do(func(ch *amqp.Channel) error {
		if err := ch.Qos(batch, 0, false); err != nil {
			return err
		}
		deliveries, err := ch.Consume(c.options.Queue, "", false, false, false, false, nil)
		if err != nil {
			return err
		}
		for left := min(waiting, maxTaken); left > 0; {
			messages, last := collect(ctx, deliveries, min(left, batch))
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

// collect waits for messages, and gives up when none comes any more.
func collect(ctx context.Context, deliveries <-chan amqp.Delivery, want int) (messages [][]byte, last uint64) {
	for len(messages) < want {
		select {
		case d, open := <-deliveries:
			if !open {
				return messages, last
			}
			messages, last = append(messages, d.Body), d.DeliveryTag
		case <-time.After(patience):
			return messages, last
		case <-ctx.Done():
			return messages, last
		}
	}
	return messages, last
}

// codeOf returns what the broker says; 0 where it did not say anything.
func codeOf(err error) int {
	var refused *amqp.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// explain says why the bus could not be heard, and what to do. It shows nothing
// of the address but the host.
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
		Expired:   "renew the broker's certificate", Host: "use a name that the broker's certificate speaks of",
	}
	var record tls.RecordHeaderError
	hint := cmp.Or(words.Hint(err), "see that a broker for AMQP 0.9.1 answers there, and its log")
	switch code := codeOf(err); {
	case errors.As(err, &record):
		hint = "the broker does not speak TLS there: use amqp:// or the right port"
	case errors.Is(err, errShared):
		hint = "give each driftd, and each source, a queue of its own: notifications.queue, now " + o.Queue
	case errors.Is(err, amqp.ErrCredentials), errors.Is(err, amqp.ErrSASL):
		hint = "the broker does not take user and password: check the address in notifications.url_file"
	case errors.Is(err, amqp.ErrVhost), code == amqp.NotAllowed:
		hint = "the account may not use this virtual host: check the end of the address in notifications.url_file, or rabbitmqctl set_permissions -p VHOST"
	case code == amqp.AccessRefused:
		hint = fmt.Sprintf(`let the account use its queue and read the exchanges: rabbitmqctl set_permissions -p %s %s "^%s$" "^%s$" "^(%s)$"`,
			uri.Vhost, uri.Username, o.Queue, o.Queue, strings.Join(append([]string{o.Queue}, o.Exchanges...), "|"))
	}
	return fmt.Sprintf("%s could not be read: %s; %s", where, httpclient.Printable(reason(err)), hint)
}

// reason takes the broker's words, without the SDK's.
func reason(err error) string {
	var refused *amqp.Error
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return httpclient.WithoutPort(err).Error()
}
