package backend_test

import (
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

// A database is a server for version 3 of the PostgreSQL protocol with one table.
type database struct {
	net.Listener
	mu sync.Mutex
	// asked are the received statements with their parameters.
	asked []string
}

func startDatabase(t *testing.T) *database {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &database{Listener: listener}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				if err := errors.Join(d.serve(pgproto3.NewBackend(conn, conn)), conn.Close()); err != nil {
					t.Error(err)
				}
			})
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		served.Wait()
	})
	return d
}

func (d *database) serve(b *pgproto3.Backend) error {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return err
	}
	b.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := errors.Join(b.Flush(), b.SetAuthType(pgproto3.AuthTypeCleartextPassword)); err != nil {
		return err
	}
	message, err := b.Receive()
	if err != nil {
		return err
	}
	if p, ok := message.(*pgproto3.PasswordMessage); !ok || p.Password != "hunter2" {
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"})
		return b.Flush()
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for {
		if err := b.Flush(); err != nil {
			return err
		}
		message, err := b.Receive()
		if err != nil {
			return err
		}
		if _, over := message.(*pgproto3.Terminate); over {
			return nil
		}
		d.answer(b, message)
	}
}

func (d *database) answer(b *pgproto3.Backend, message pgproto3.FrontendMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch m := message.(type) {
	case *pgproto3.Query:
		d.asked = append(d.asked, m.String)
		b.Send(&pgproto3.CommandComplete{CommandTag: []byte("BEGIN")})
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
	case *pgproto3.Parse:
		d.asked = append(d.asked, m.Query)
		b.Send(&pgproto3.ParseComplete{})
	case *pgproto3.Bind:
		for _, parameter := range m.Parameters {
			d.asked[len(d.asked)-1] += " <- " + string(parameter)
		}
		b.Send(&pgproto3.BindComplete{})
	case *pgproto3.Describe:
		b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("x"), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1}}})
	case *pgproto3.Execute:
		d.rows(b, d.asked[len(d.asked)-1])
	case *pgproto3.Sync:
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
	}
}

func (d *database) rows(b *pgproto3.Backend, statement string) {
	rows := map[string][]string{
		`SELECT name FROM "tf"."states" LIMIT 10001`:                            {"default", "prod", "test"},
		`SELECT data FROM "tf"."states" WHERE name = $1 LIMIT 10001 <- default`: {content},
		`SELECT data FROM "tf"."states" WHERE name = $1 LIMIT 10001 <- prod`:    {"prod"},
		`SELECT data FROM "tf"."states" WHERE name = $1 LIMIT 10001 <- gone`:    {},
	}
	found, ok := rows[statement]
	if !ok {
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "42P01", Message: "no such table"})
		return
	}
	for _, row := range found {
		b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(row)}})
	}
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT")})
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	password := file(t, "hunter2\n")
	cases := map[string]struct {
		reason     string
		settings   backend.Postgres
		workspaces []string
		want       []string
		wantErr    string
	}{
		"Default":   {"the default workspace", backend.Postgres{PasswordFile: password, Schema: "tf", Table: "states"}, nil, []string{"default: " + content}, ""},
		"Workspace": {"some workspaces", backend.Postgres{PasswordFile: password, Schema: "tf", Table: "states"}, []string{"p*", "default"}, []string{"default: " + content, "prod: prod"}, ""},
		"Absent":    {"no such workspace", backend.Postgres{PasswordFile: password, Schema: "tf", Table: "states"}, []string{"gone"}, nil, "there is no state"},
		"Table":     {"a name that needs quotes", backend.Postgres{PasswordFile: password, Schema: `t"f`, Table: "states"}, nil, nil, "no such table (SQLSTATE 42P01); check backend.pg.schema"},
		"Denied":    {"a wrong password", backend.Postgres{PasswordFile: file(t, "other"), Schema: "tf", Table: "states"}, nil, nil, "check the user, the database and backend.pg.password_file"},
		"NoFile":    {"no password file", backend.Postgres{PasswordFile: "/nowhere/file"}, nil, nil, "read secret file /nowhere/file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDatabase(t)
			s := settings()
			s.Postgres, s.Workspaces = tc.settings, tc.workspaces
			checkStates(t, tc.reason, open(t, "pg://ci@"+d.Addr().String()+"/infra?sslmode=disable", s), "pg://"+d.Addr().String()+"/infra/", tc.want, tc.wantErr)
			if tc.wantErr != "" {
				return
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			for pair := range slices.Chunk(d.asked, 2) {
				if pair[0] != "BEGIN READ ONLY" || !strings.HasPrefix(pair[1], "SELECT ") {
					t.Errorf("the transaction can write: %q", pair)
				}
			}
		})
	}
}

func TestPostgresDown(t *testing.T) {
	t.Parallel()
	_, err := all(t.Context(), open(t, "pg://ci@127.0.0.1:1/infra?sslmode=disable", settings()))
	if err == nil || !strings.Contains(err.Error(), "check the address, and that the server runs") {
		t.Errorf("got %v", err)
	}
}
