package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/miniapi/miniapi/internal/freeport"
)

// Config describes a topology.
type Config struct {
	// Program is the file of the miniapi command.
	Program string
	// Dir receives the data and the logs of all processes.
	Dir string
	// DataDir is the data directory of an embedded etcd. Default: a folder in Dir.
	DataDir string
	// Members is the number of etcd members. Default: none, the etcd is embedded.
	Members int
	// ElectionTimeout is the time without a leader after which members elect another one. Default:
	// 500 ms, so that a failed leader is replaced soon. A process that the machine does not run for
	// so long fails, too.
	ElectionTimeout time.Duration
	// Etcd is the file of the program of the members. Default: the etcd that this program links.
	Etcd string
	// Replicas is the number of servers. Default: 1.
	Replicas int
	// Clocks is set if Program is a ClockServer, whose clock can be advanced.
	Clocks bool
	// Args are further arguments of the servers.
	Args []string
}

const defaultElectionTimeout = 500 * time.Millisecond

// Validate returns all errors in the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Program == "" || c.Dir == "" {
		errs = append(errs, errors.New("Program and Dir are required"))
	}
	if c.Members == 0 && c.Replicas > 1 {
		errs = append(errs, errors.New("an embedded etcd has one server"))
	}
	return errors.Join(errs...)
}

// Topology is a set of running servers and etcd members.
type Topology struct {
	Servers []*Server
	Members []*Member // empty if etcd is embedded
	// etcd are the addresses of etcd for observers, which no link can cut.
	etcd []string
}

// Start starts all processes and waits until the servers are ready. The caller must call Close.
func Start(ctx context.Context, config Config) (*Topology, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	t := &Topology{}
	err := t.start(ctx, config)
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Topology) start(ctx context.Context, config Config) error {
	if config.Members == 0 {
		return t.startEmbedded(ctx, config)
	}
	var err error
	if t.Members, err = newMembers(config); err != nil {
		return err
	}
	for _, m := range t.Members {
		t.etcd = append(t.etcd, m.ClientURL)
	}
	if err := t.StartMembers(ctx); err != nil {
		return err
	}
	for i := range max(1, config.Replicas) {
		if err := t.startReplica(ctx, config, i); err != nil {
			return err
		}
	}
	return nil
}

func (t *Topology) startEmbedded(ctx context.Context, config Config) error {
	free, err := freeport.Addresses("127.0.0.1", 1)
	if err != nil {
		return err
	}
	t.etcd = []string{"http://" + free[0]}
	if config.DataDir == "" {
		config.DataDir = filepath.Join(config.Dir, "data")
	}
	return t.startServer(ctx, config, &Server{}, "--data-dir", config.DataDir, "--etcd-listen-client-url", t.etcd[0])
}

func (t *Topology) startReplica(ctx context.Context, config Config, n int) error {
	s := &Server{}
	var urls []string
	for _, m := range t.Members {
		link, err := newLink("127.0.0.1:0", []string{strings.TrimPrefix(m.ClientURL, "http://")}, nil)
		if err != nil {
			return err
		}
		s.links = append(s.links, link)
		urls = append(urls, link.URL())
	}
	return t.startServer(ctx, config, s, "--etcd-servers", strings.Join(urls, ","))
}

func (t *Topology) startServer(ctx context.Context, config Config, s *Server, args ...string) error {
	t.Servers = append(t.Servers, s)
	name := fmt.Sprintf("miniapi%d", len(t.Servers))
	free, err := freeport.Addresses("127.0.0.1", 2)
	if err != nil {
		return err
	}
	address, clock := free[0], free[1]
	args = append(args, "--listen", address, "--write-kubeconfig", filepath.Join(config.Dir, name+".kubeconfig"))
	if config.Clocks {
		s.clock, args = "http://"+clock, append(args, "--clock", clock)
	}
	s.URL = "http://" + address
	s.slowDisk = filepath.Join(config.Dir, name+".slow")
	s.Process = &Process{
		Name: name, path: config.Program, args: append(args, config.Args...), log: filepath.Join(config.Dir, name+".log"),
		env: []string{slowDiskMarker + "=" + s.slowDisk},
	}
	return s.Restart(ctx)
}

// Client returns a client of etcd that no link can cut.
func (t *Topology) Client() (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: t.etcd, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second,
	})
}

// Close ends all processes at once.
func (t *Topology) Close() {
	for _, s := range t.Servers {
		if s.Process != nil && s.Process.cmd != nil {
			s.Kill()
		}
	}
	for _, m := range t.Members {
		if m.cmd != nil {
			m.Kill()
		}
	}
	for _, s := range t.Servers {
		for _, link := range s.links {
			link.Close()
		}
	}
	for _, m := range t.Members {
		m.link.Close()
	}
}
