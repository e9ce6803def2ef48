package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

func (c *command) audit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read, verify and prove the audit log",
		Long: `The audit log records each scan that changed findings, each decision, and what
happened to the database. It is a Merkle tree with a signed head: an entry that was
edited, removed or added is found, and a proof shows others that an entry is in it.`,
		Example: "  driftd audit list\n  driftd audit verify\n  driftd audit prove 42 > proof.txt",
		Args:    known,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.auditList(), c.auditShow(), c.auditVerify(), c.auditProve(), c.auditCheck(), c.auditExport(), c.auditWitness(),
		c.auditTrust(), c.auditErase(), c.auditKeys())
	return cmd
}

func (c *command) auditList() *cobra.Command {
	var before int64
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List entries of the audit log, newest first",
		Example: "  driftd audit list\n  driftd audit list --limit 1000 -o json\n  driftd audit list --before 4711",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				list, err := client.AuditEntries(ctx, before, limit)
				if err != nil {
					return err
				}
				if slices.ContainsFunc(list, func(e audit.Entry) bool { return e.State != "" }) {
					fmt.Fprintln(c.streams.Err, "driftd: warning: entries are not those that were signed: driftd audit verify says what was found, and whether a person settled it")
				}
				return report.WriteAudit(c.streams.Out, c.output, list, c.reportOptions())
			})
		},
	}
	cmd.Flags().Int64Var(&before, "before", 0, "list entries before the one with this index (default: from the newest)")
	cmd.Flags().IntVar(&limit, "limit", 20, "list at most this many entries, up to 1000")
	c.outputFlag(cmd, "table", "json")
	return cmd
}

// entryIndex parses the index of an entry.
func entryIndex(text string) (int64, error) {
	index, err := strconv.ParseInt(text, 10, 64)
	if err != nil || index < 0 {
		return 0, fmt.Errorf("%q is not the index of an entry: driftd audit list shows the entries", text)
	}
	return index, nil
}

// proof gives use an entry with its proof, and with the names in it if withNames is set.
func (c *command) proof(cmd *cobra.Command, text string, withNames bool, use func(*server.AuditProof) error) error {
	index, err := entryIndex(text)
	if err != nil {
		return err
	}
	return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
		p, err := client.AuditEntry(ctx, index, withNames)
		if err != nil {
			return err
		}
		return use(&p)
	})
}

func (c *command) auditShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show INDEX",
		Short:   "Show an entry of the audit log as JSON",
		Example: "  driftd audit show 42",
		Args:    one("index"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.proof(cmd, args[0], false, func(p *server.AuditProof) error {
				if p.Unproved != "" {
					fmt.Fprintf(c.streams.Err, "driftd: warning: %s; driftd audit verify says whether a person settled it\n", phrase.Visible(p.Unproved))
				}
				return c.printJSON(p.Entry)
			})
		},
	}
}

func (c *command) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = fmt.Fprintln(c.streams.Out, visible(string(b)))
	return err
}

func (c *command) auditProve() *cobra.Command {
	var withNames bool
	cmd := &cobra.Command{
		Use:   "prove INDEX",
		Short: "Print the proof that an entry is in the audit log",
		Long: `Print the proof that an entry is in the audit log, in the form of
c2sp.org/tlog-proof. driftd audit check verifies it on any machine, with the public
key that driftd audit key prints. The proof contains the entry, with references in
the place of names. With --names, the names of the persons in the entry and the salts
of their references follow it, and driftd audit check verifies them: whoever has them
recognizes the person in other entries too.`,
		Example: "  driftd audit prove 42 > proof.txt\n  driftd audit prove 42 --names > proof.txt",
		Args:    one("index"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.proof(cmd, args[0], withNames, func(p *server.AuditProof) error {
				if err := checkOwn(p); err != nil {
					return err
				}
				for _, person := range p.Erased {
					fmt.Fprintf(c.streams.Err, "driftd: the name of %s was erased: it is not in the proof\n", phrase.Visible(person))
				}
				fmt.Fprintf(c.streams.Err, "verify it with: driftd audit check FILE --key '%s'\n", phrase.Visible(p.Key))
				_, err := io.WriteString(c.streams.Out, p.Proof)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&withNames, "names", false, "add the names of the persons in the entry")
	return cmd
}

// checkOwn returns an error unless a proof verifies with the key that came with it.
func checkOwn(p *server.AuditProof) error {
	if p.Unproved != "" {
		return fmt.Errorf("%s: driftd audit verify says whether a person settled it", p.Unproved)
	}
	key, err := audit.ParsePublicKey(p.Key)
	if err == nil {
		_, _, _, err = audit.CheckDisclosed([]byte(p.Proof), key)
	}
	if err != nil {
		return fmt.Errorf("the proof of entry %d does not verify: %w: run driftd audit verify", p.Entry.Index, err)
	}
	return nil
}

func (c *command) auditCheck() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "check FILE --key KEY",
		Short: "Verify a proof of the audit log, without the database",
		Long: `Verify that the entry in a proof is part of the log whose head the key signed.
It needs neither a configuration nor a database. FILE - is standard input. The key must come from someone
you trust, not with the proof. Names that driftd audit prove --names added are
verified too.

Exit codes:
  0  the proof is valid: the entry is in the log
  1  the proof is not valid, or it or the key could not be read`,
		Example: "  driftd audit check proof.txt --key 'driftd.example.org/4b1d+7a3f10c2+AY…'\n" +
			"  driftd audit prove 42 | ssh other driftd audit check - --key 'driftd.example.org/4b1d+7a3f10c2+AY…'",
		Args: one("file"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.checkProof(cmd.InOrStdin(), args[0], key) },
	}
	cmd.Flags().StringVar(&key, "key", "", "public key of the log, as driftd audit key prints it (required)")
	return cmd
}

// checkProof verifies the proof in a file; "-" is in.
func (c *command) checkProof(in io.Reader, path, key string) error {
	if key == "" {
		return errors.New("--key is missing: driftd audit key prints the public key on the daemon's host")
	}
	public, err := audit.ParsePublicKey(key)
	if err != nil {
		return fmt.Errorf("read --key: %w", err)
	}
	read := func() ([]byte, error) { return bounded.ReadRegular(path, int64(audit.MaxDisclosed)) }
	if path == "-" {
		path, read = "standard input", func() ([]byte, error) { return bounded.ReadAll(in, int64(audit.MaxDisclosed)) }
	}
	text, err := read()
	if err != nil {
		return fmt.Errorf("read proof: %w", err)
	}
	entry, head, people, err := audit.CheckDisclosed(text, public)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(c.streams.Out, "entry %d is in the log %s of %d entries, root %s\n", entry.Index, phrase.Visible(head.Origin), head.Size, head.Root)
	for _, p := range people {
		fmt.Fprintf(c.streams.Out, "%s: %s (verified)\n", p.Field, phrase.Visible(p.Name))
	}
	return c.printJSON(entry)
}

func (c *command) auditTrust() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "trust --reason TEXT",
		Short: "Let an audit log continue that is in doubt",
		Long: `Let the audit log continue as it is, after the database was restored or moved, the
clock was set back, or the log was changed. The faults are recorded in the log with
the reason, driftd audit verify lists them from then on, and later edits are found
again. Entries that were edited stay marked and cannot be proved. Look at driftd audit
verify first.`,
		Example: "  driftd audit trust --reason \"restored the backup of Monday after a disk failure, OPS-77\"",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := require(cmd, "reason"); err != nil {
				return err
			}
			return c.change(cmd, func(ctx context.Context, client *server.Client) error {
				t, err := client.TrustAudit(ctx, reason)
				if err != nil {
					return err
				}
				if t.Doubt != "" {
					fmt.Fprintln(c.streams.Out, "settled: "+phrase.Visible(t.Doubt))
				}
				for _, fault := range t.Faults {
					fmt.Fprintln(c.streams.Out, "settled: "+phrase.Visible(fault))
				}
				_, err = fmt.Fprintln(c.streams.Out, "the audit log continues; an entry records this with the reason")
				return err
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what was found, and why the log may continue")
	return cmd
}

func (c *command) auditErase() *cobra.Command {
	return &cobra.Command{
		Use:   "erase NAME",
		Short: "Erase the name of a person from the audit log",
		Long: `Erase the name of a person from the audit log and from the stored decisions. Entries
hold a reference in the place of the name, so they and their proofs stay valid, and
decisions have the reference from then on. A name that a file declares in a decision must
be removed there first. The name may also be in past versions of findings, in backups of
the database, and in the texts of reasons.`,
		Example: "  driftd audit erase alice",
		Args:    one("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, func(ctx context.Context, client *server.Client) error {
				if err := client.EraseName(ctx, args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(c.streams.Out, "erased %s; an entry records it\n", phrase.Visible(args[0]))
				return err
			})
		},
	}
}

func (c *command) auditKeys() *cobra.Command {
	var file, origin string
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the public key of the audit log, or make a new key",
		Long: `Print the public key of the audit log, which verifies proofs and heads. With --new,
write a new private key to a file, for audit.key_file of the configuration. A log
that has begun keeps its origin: give that of its key, and then driftd audit key rotate.`,
		Example: "  driftd audit key\n  driftd audit key --new /etc/driftd/credentials/audit.key\n" +
			"  driftd audit key --new new.key --origin \"$(driftd audit key | sed 's/+.*//')\"",
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" {
				return c.newAuditKey(file, origin)
			}
			if origin != "" {
				return errors.New("--origin names the log of a new key: give --new FILE too")
			}
			return c.printAuditKey(cmd)
		},
	}
	cmd.Flags().StringVar(&file, "new", "", "file to create with a new private key")
	cmd.Flags().StringVar(&origin, "origin", "", "name of the log, unique (default: the name of this host with random letters)")
	cmd.AddCommand(c.auditRotate())
	return cmd
}

func (c *command) printAuditKey(cmd *cobra.Command) error {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return err
	}
	key, err := auditKey(cfg, false)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.streams.Out, key.Public())
	return err
}

func (c *command) newAuditKey(file, origin string) error {
	if origin == "" {
		var err error
		if origin, err = store.NewOrigin(); err != nil {
			return err
		}
	}
	text, err := audit.GenerateKey(origin)
	if err != nil {
		return err
	}
	key, err := audit.ParseKey(text)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the key: %w: name a new file; a key is never written over, because its log would be in doubt", err)
	}
	if err != nil {
		return fmt.Errorf("create the key: %w", err)
	}
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the key %s: %w", file, err)
	}
	_, err = fmt.Fprintln(c.streams.Out, key.Public())
	return err
}

func (c *command) auditRotate() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate FILE",
		Short: "Give the audit log a new key, while the daemon is stopped",
		Long: `Give the audit log the new private key in FILE, whose origin must be that of the
log: an entry that names both keys is appended, and both sign the head. Then name
FILE in audit.key_file of the configuration, and start the daemon.`,
		Example: "  driftd audit key --new new.key --origin \"$(driftd audit key | sed 's/+.*//')\"\n  driftd audit key rotate new.key",
		Args:    one("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := credential.Read(args[0])
			if err != nil {
				return fmt.Errorf("read the new key: %w", err)
			}
			next, err := audit.ParseKey(text)
			if err != nil {
				return fmt.Errorf("read the new key %s: %w", args[0], err)
			}
			return c.openedStore(cmd, func(st *store.Store) error {
				if err := st.RotateKey(next); err != nil {
					return err
				}
				_, err := fmt.Fprintf(c.streams.Out, "the log has the key %s: name %s in audit.key_file\n", phrase.Visible(next.Public().String()), phrase.Visible(args[0]))
				return err
			})
		},
	}
}

func (c *command) auditExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write the audit log to a folder, in the form of c2sp.org/tlog-tiles",
		Long: `Write a copy of the audit log to a new folder, as checkpoint, tile/L/N and
tile/entries/N (c2sp.org/tlog-tiles). Entries hold references in the place of names.`,
		Example: "  driftd audit export /srv/www/driftd-log",
		Args:    one("folder"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.exportAudit(cmd, args[0]) },
	}
}

func (c *command) exportAudit(cmd *cobra.Command, folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return fmt.Errorf("create the folder: %w: name a new one", err)
	}
	files := 0
	write := func(name string, b []byte) error {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		files++
		return os.WriteFile(path, b, 0o644)
	}
	err := c.copiedStore(cmd, func(st *store.Store) error { return st.ExportAudit(write) })
	if changed := (*audit.TamperedError)(nil); errors.As(err, &changed) {
		err = fmt.Errorf("%w: run driftd audit verify", err)
	}
	if err != nil && !errors.Is(err, audit.ErrDropped) {
		return errors.Join(err, os.RemoveAll(folder))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.streams.Out, "%s: %d files\n", phrase.Visible(folder), files)
	return err
}

func (c *command) auditWitness() *cobra.Command {
	return &cobra.Command{
		Use:     "witness",
		Short:   "Send the head of the audit log to the witnesses now, and read them",
		Long:    "Send the head of the audit log to each witness of the configuration, read the heads\nthat they keep, and print the result for each. The daemon does this after each change,\nat most once a minute.",
		Example: "  driftd audit witness",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.loadConfig(cmd.Flags())
			if err != nil {
				return err
			}
			if len(cfg.Audit.Witness) == 0 {
				return errors.New("the configuration has no witness: add one to audit.witness, on another host than the database")
			}
			return c.change(cmd, c.sendAuditHead)
		},
	}
}

// sendAuditHead sends the head of the log to the witnesses, reads them, and prints the results.
func (c *command) sendAuditHead(ctx context.Context, client *server.Client) error {
	answer, err := client.SendAuditHead(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, w := range answer.Sent {
		if w.Error != "" {
			errs = append(errs, fmt.Errorf("send the head to %s: %s", w.Name, w.Error))
			continue
		}
		fmt.Fprintln(c.streams.Out, phrase.Visible(fmt.Sprintf("sent the head of %d entries to %s", answer.Size, w.Name)))
	}
	h, err := client.VerifyAudit(ctx)
	for i := range h.Witnesses {
		fmt.Fprintln(c.streams.Out, phrase.Visible(witnessLine(&h.Witnesses[i])))
	}
	return errors.Join(append(errs, err)...)
}
