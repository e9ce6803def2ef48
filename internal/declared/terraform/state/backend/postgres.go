package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/driftd/driftd/internal/credential"
)

// A table is the table of states in a PostgreSQL database.
type table struct {
	settings Postgres
	url      string
}

func openPostgres(rest string, s Settings) (site, error) {
	u, err := url.Parse("postgres://" + rest)
	if err != nil {
		return site{}, errors.New("not a URL (not shown, because it may contain a password)")
	}
	_, secret := u.User.Password()
	if secret || u.Query().Has("password") {
		return site{}, errors.New("the URL contains a password; set backend.pg.password_file")
	}
	if _, err := pgconn.ParseConfig(u.String()); err != nil {
		return site{}, errors.New("want pg://user@host:port/database?sslmode=verify-full")
	}
	return site{
		place: &table{settings: s.Postgres, url: u.String()},
		root:  "pg://" + u.Host + "/" + strings.Trim(u.Path, "/") + "/",
		name:  func(workspace string) string { return workspace },
	}, nil
}

func (t *table) connect(ctx context.Context) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(t.url)
	if err != nil {
		return nil, errors.New("the URL or the PG… variables of the environment are invalid")
	}
	if t.settings.PasswordFile != "" {
		if config.Password, err = credential.Read(t.settings.PasswordFile); err != nil {
			return nil, err
		}
	}
	config.ConnectTimeout = 15 * time.Second
	config.RuntimeParams["application_name"] = "driftd"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if refused := new(pgconn.PgError); errors.As(err, &refused) {
		return nil, fmt.Errorf("%w; check the user, the database and backend.pg.password_file", err)
	}
	return conn, err
}

// query returns one column of the rows that match, from a read-only transaction.
func (t *table) query(ctx context.Context, column, where string, values ...[]byte) (found [][]byte, err error) {
	conn, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "BEGIN READ ONLY").ReadAll(); err != nil {
		return nil, err
	}
	sql := fmt.Sprintf("SELECT %s FROM %s.%s%s LIMIT %d", column, quote(t.settings.Schema), quote(t.settings.Table), where, maxStates+1)
	result := conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, fmt.Errorf("%w; check backend.pg.schema and backend.pg.table, and grant USAGE and SELECT", result.Err)
	}
	for _, row := range result.Rows {
		found = append(found, row[0])
	}
	return found, nil
}

// quote quotes a name for SQL.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (t *table) open(ctx context.Context, workspace string) (io.ReadCloser, error) {
	found, err := t.query(ctx, "data", " WHERE name = $1", []byte(workspace))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errAbsent
	}
	return io.NopCloser(bytes.NewReader(found[0])), nil
}

func (t *table) list(ctx context.Context, p pattern) ([]string, error) {
	return list(p, func(string) (page, error) {
		found, err := t.query(ctx, "name", "")
		var all page
		for _, name := range found {
			all.names = append(all.names, string(name))
		}
		return all, err
	})
}
