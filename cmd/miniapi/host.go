package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/miniapi/miniapi/internal/host"
	"github.com/miniapi/miniapi/internal/listener"
	"github.com/miniapi/miniapi/internal/loopback"
)

const hostHelp = `Runs a host: one process for any number of isolated API servers, which clients start and stop
over a small HTTP API. Package miniapitest uses it for tests in Go; docs/host.md documents the API
with curl.

The host listens on a unix socket that only its user can open, or, with --listen, on a loopback
port for clients that send the bearer token of --token-file. It ends when it has had no server for
the idle timeout.`

const hostExample = `  miniapi host --background                    start a host, or join the running one
  curl --unix-socket ~/.cache/miniapi/host.sock -d '{}' http://host/v1/servers`

// hostOptions are the flags of `miniapi host`.
type hostOptions struct {
	socket      string
	listen      string
	tokenFile   string
	idleTimeout time.Duration
	maxServers  int
	background  bool
	verbosity   int
}

// newHost returns the subcommand that runs a host.
func newHost() *cobra.Command {
	var o hostOptions
	flags := pflag.NewFlagSet("host", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&o.socket, "socket", "", "`FILE` of the unix socket (default: host.sock in the user's cache directory of miniapi)")
	flags.StringVar(&o.listen, "listen", "", "loopback `HOST:PORT` to listen on instead of a unix socket; port 0 takes a free one")
	flags.StringVar(&o.tokenFile, "token-file", "", "`FILE` with the bearer token of --listen; it is written if it does not exist")
	flags.DurationVar(&o.idleTimeout, "idle-timeout", host.DefaultIdleTimeout, "`DURATION` without a server after which the host ends; 0 means never")
	flags.IntVar(&o.maxServers, "max-servers", host.DefaultMaxServers, "`NUMBER` of servers that run at the same time; 0 means without limit")
	flags.BoolVar(&o.background, "background", false, "start the host as a process of its own, unless it runs already, and return when it serves")
	flags.IntVarP(&o.verbosity, "v", "v", 2, "log `LEVEL`: 0 warnings, 2 starts and stops of servers, 4 debugging")
	addConfigFlag(flags, hostEnvPrefix, "idle-timeout")
	flags.BoolP("help", "h", false, "print this help")
	cmd := &cobra.Command{
		Use:     "host",
		Short:   "Run many servers in one process, for tests in any language",
		Long:    hostHelp,
		Example: hostExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if o.background {
				return o.startInBackground(cmd.Context())
			}
			return o.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	addFlags(cmd, []flagSet{{"Flags", flags}})
	readFlagSources(cmd, hostEnvPrefix)
	return cmd
}

// complete sets the default of --socket and checks the flags.
func (o *hostOptions) complete() error {
	switch {
	case o.maxServers < 0:
		return fmt.Errorf("--max-servers %d is negative: use 0 for a host without limit", o.maxServers)
	case o.listen == "" && o.tokenFile != "":
		return errors.New("--token-file is used with --listen only: a unix socket needs no token")
	case o.listen != "" && o.socket != "":
		return errors.New("--listen and --socket exclude each other")
	case o.listen != "" && o.tokenFile == "":
		return errors.New("--listen needs --token-file, because every local user can reach a port")
	case o.listen != "" && o.background:
		return errors.New("--background is used with a unix socket only")
	case o.listen != "":
		return o.checkListen()
	case o.socket != "":
		var err error
		o.socket, err = filepath.Abs(o.socket)
		return err
	}
	dir, err := cacheDir()
	if err != nil {
		return fmt.Errorf("no directory for the socket, use --socket: %w", err)
	}
	o.socket = filepath.Join(dir, "host.sock")
	return nil
}

func (o *hostOptions) checkListen() error {
	address, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return fmt.Errorf("--listen %q is not HOST:PORT, such as 127.0.0.1:0", o.listen)
	}
	if !loopback.IsHost(address) {
		return fmt.Errorf("--listen %q is not on loopback: use 127.0.0.1", o.listen)
	}
	return nil
}

// run serves until ctx ends or the host is idle.
func (o *hostOptions) run(ctx context.Context, out io.Writer) error {
	opened, token, release, err := o.open(ctx)
	if err != nil {
		return err
	}
	config := host.Config{Token: token, IdleTimeout: o.idleTimeout, MaxServers: o.maxServers, Logger: newLogger(o.verbosity, nil)}
	if o.idleTimeout == 0 {
		config.IdleTimeout = -1
	}
	if o.maxServers == 0 {
		config.MaxServers = -1
	}
	if o.socket != "" {
		config.Reachable = func() bool { return host.Serves(o.socket) }
	}
	fmt.Fprintf(out, "miniapi host: listening on %s\n", opened.Addr())
	defer removeAbandoned(ctx)()
	return errors.Join(host.New(config).Run(ctx, opened), release())
}

// open opens the listener. release must be called after the listener was closed.
func (o *hostOptions) open(ctx context.Context) (opened net.Listener, token string, release func() error, err error) {
	if o.listen == "" {
		opened, release, err = host.ListenUnix(ctx, o.socket)
		var path *fs.PathError
		var bind *net.OpError
		if errors.As(err, &path) || errors.As(err, &bind) {
			err = fmt.Errorf("cannot listen on the socket %s: %w: choose a shorter path or another directory with --socket FILE", o.socket, err)
		}
		return opened, "", release, err
	}
	if token, err = readOrWriteToken(o.tokenFile); err != nil {
		return nil, "", nil, err
	}
	opened, err = net.Listen("tcp", o.listen)
	return opened, token, func() error { return nil }, listener.AdviseInUse(err, "--listen 127.0.0.1:0")
}

// readOrWriteToken returns the token of a file, which it creates with a random token if it does
// not exist.
func readOrWriteToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(data)) == "" {
		err = errors.New("it is empty")
	}
	if err == nil {
		return strings.TrimSpace(string(data)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("--token-file %s: %w", path, err)
	}
	random := make([]byte, 16)
	rand.Read(random) // never fails
	token := hex.EncodeToString(random)
	return token, os.WriteFile(path, []byte(token+"\n"), 0o600)
}

// backgroundTimeout bounds the start of a host in the background, on a busy machine too.
const backgroundTimeout = 5 * time.Minute

// startInBackground starts this command as a detached process whose output goes to a log file
// beside the socket. It returns when a host serves the socket, this one or another.
func (o *hostOptions) startInBackground(ctx context.Context) error {
	if o.served() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	if err := os.MkdirAll(filepath.Dir(o.socket), 0o700); err != nil {
		return err
	}
	logPath := strings.TrimSuffix(o.socket, ".sock") + ".log"
	logFile, err := openLog(logPath)
	if err != nil {
		return err
	}
	defer logFile.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, "host", "--socket", o.socket,
		"--idle-timeout", o.idleTimeout.String(), fmt.Sprintf("--max-servers=%d", o.maxServers), fmt.Sprintf("--v=%d", o.verbosity))
	child.Stdout, child.Stderr, child.SysProcAttr = logFile, logFile, detached()
	if err := child.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }() // ends with the child, or with this process
	return o.awaitServed(ctx, ended, logPath)
}

// maxLogBytes is the size from which the log of earlier hosts is dropped.
const maxLogBytes = 1 << 20

// openLog opens the log file of a host, to append to it: of two hosts that start at the same
// time, both write to it and one ends.
func openLog(path string) (*os.File, error) {
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}

// awaitServed returns when a host serves the socket, or with the error of the child.
func (o *hostOptions) awaitServed(ctx context.Context, ended <-chan error, logPath string) error {
	for !o.served() {
		select {
		case <-ended:
			if o.served() { // by a host that another process started at the same time
				return nil
			}
			data, _ := os.ReadFile(logPath)
			return fmt.Errorf("the host ended: %s", strings.TrimSpace(string(data)))
		case <-ctx.Done():
			return fmt.Errorf("the host does not serve %s: %w (its log is %s)", o.socket, ctx.Err(), logPath)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// served reports whether a host accepts connections.
func (o *hostOptions) served() bool {
	conn, err := net.Dial("unix", o.socket)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
