package shoutrrr

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net"
	"net/mail"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/notifytest"
)

// A mailServer is an SMTP server that serves one client at a time. replies overrides its
// reply to a command. The key "" is the greeting, and "." the end of a mail.
type mailServer struct {
	replies map[string]string
	mails   chan string
}

// listen starts the server and returns its address.
func (s *mailServer) listen(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.mails = make(chan string, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.serve(textproto.NewConn(conn))
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String()
}

// reply sends the reply to command: the one in replies, or text.
func (s *mailServer) reply(c *textproto.Conn, command, text string) {
	if other, ok := s.replies[command]; ok {
		text = other
	}
	// The client may have closed the connection.
	_ = c.PrintfLine("%s", text)
}

// serve serves one client.
func (s *mailServer) serve(c *textproto.Conn) {
	defer func() { _ = c.Close() }()
	s.reply(c, "", "220 mail.example.org ESMTP")
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		command, _, _ := strings.Cut(line, " ")
		switch command {
		case "EHLO":
			s.reply(c, command, "250-mail.example.org\r\n250 AUTH PLAIN")
		case "AUTH":
			s.reply(c, command, "235 welcome")
		case "DATA":
			s.reply(c, command, "354 go on")
			if _, refused := s.replies[command]; refused {
				continue
			}
			body, err := io.ReadAll(c.DotReader())
			if err != nil {
				return
			}
			s.mails <- string(body)
			s.reply(c, ".", "250 taken")
		case "QUIT":
			s.reply(c, command, "221 bye")
			return
		default:
			s.reply(c, command, "250 fine")
		}
	}
}

const mailAddress = "smtp://me:" + secret + "@HOST/?from=driftd@example.org&to=ops@example.org"

func TestMail(t *testing.T) {
	t.Parallel()
	server := &mailServer{}
	s := openSender(t, strings.Replace(mailAddress, "HOST", server.listen(t), 1), "")
	entry := notifytest.Entry()
	title := "geändert: " + strings.Repeat("web 🚀 ", 20) + "\r\nBcc: all@example.org\r\n\r\nbody"
	entry.Message.Title = title
	entry.Message.News[0].Finding.Name = "<b>\r\n.\r\nQUIT\r\n" + strings.Repeat("é", 10000)
	if _, err := s.Notify(t.Context(), entry); err != nil {
		t.Fatal(err)
	}
	text := <-server.mails
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || !strings.HasPrefix(got, "geändert: web 🚀 ") || !strings.HasSuffix(got, `\r\nBcc: all@example.org\r\n\r\nbody`) {
		t.Errorf("subject %q, error %v", got, err)
	}
	if len(m.Header) != 6 || m.Header.Get("Content-Type") != `text/plain; charset="UTF-8"` || m.Header.Get("To") != "ops@example.org" {
		t.Errorf("headers %v", m.Header)
	}
	body, err := io.ReadAll(m.Body)
	if err != nil || !strings.Contains(string(body), "[new] changed: Deployment shop/web (<b>\\r\\n.\\r\\nQUIT") ||
		!strings.Contains(string(body), "missing: qemu 100") {
		t.Errorf("body %s, error %v", body, err)
	}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if len(lines.Text()) > 998 {
			t.Errorf("a line has %d bytes, want at most 998", len(lines.Text()))
		}
	}
}

func TestMailFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		replies map[string]string
		mark    error
		want    string
	}{
		"password":   {map[string]string{"AUTH": "535 wrong: " + secret}, notify.ErrPermanent, "answers 535: check user"},
		"recipient":  {map[string]string{"RCPT": "550 no such user " + secret}, notify.ErrPermanent, "answers 550: check the addresses"},
		"content":    {map[string]string{".": "554 spam"}, notify.ErrRefused, "answers 554"},
		"size":       {map[string]string{"DATA": "552 too much"}, notify.ErrRefused, "answers 552"},
		"greylisted": {map[string]string{"RCPT": "451 later"}, nil, "answers 451"},
		"busy":       {map[string]string{"": "421 " + secret}, nil, "answers 421"},
		"not SMTP":   {map[string]string{"": "HTTP/1.1 200 " + secret}, nil, "send by smtp: "},
		"at the end": {map[string]string{"QUIT": "421 " + secret}, nil, "answers 421"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &mailServer{replies: test.replies}
			s := openSender(t, strings.Replace(mailAddress, "HOST", server.listen(t), 1), "")
			_, err := s.Notify(t.Context(), notifytest.Entry())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Fatalf("error %v, want one with %q and without secrets", err, test.want)
			}
			for _, mark := range []error{notify.ErrPermanent, notify.ErrRefused} {
				if errors.Is(err, mark) != errors.Is(test.mark, mark) {
					t.Errorf("error %v: errors.Is(err, %v) = %t", err, mark, errors.Is(err, mark))
				}
			}
		})
	}
}

// TestMailHangs checks the timeout: the library waits without a limit for a server that
// sends no greeting.
func TestMailHangs(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := openSender(t, strings.Replace(mailAddress, "HOST", listener.Addr().String(), 1), "")
	s.timeout = 100 * time.Millisecond
	var slow *httpclient.Timeout
	if _, err := s.Notify(t.Context(), notifytest.Entry()); !errors.As(err, &slow) {
		t.Errorf("error %v, want a timeout", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	s.timeout = time.Minute
	if _, err := s.Notify(t.Context(), model.OutboxEntry{}); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("refused connection: error %v", err)
	}
}
