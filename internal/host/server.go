package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/kubeconfig"
	"github.com/miniapi/miniapi/internal/loopback"
	"github.com/miniapi/miniapi/internal/suggest"
)

// Numbers of requests that a server keeps: by default, and at most.
const (
	recentRequests    = 50
	maxRecentRequests = 100_000
)

// server is a running server of the host.
type server struct {
	id      string
	name    string
	created time.Time
	log     *logBuffer
	options ServerOptions
	running *miniapi.Server
	users   []User // the users in the options
	kept    kept
	// snapshots are the snapshots of clients.
	snapshots snapshots

	// stop stops the server, once, and returns the error of its end.
	stop func() error
}

// start starts a server and adds it to the host. The server is independent of ctx.
func (h *Host) start(ctx context.Context, options ServerOptions) (*server, error) {
	options, initial, err := h.fork(ctx, options)
	if err != nil {
		return nil, err
	}
	config, err := options.config()
	if err != nil {
		return nil, err
	}
	config.Snapshot = initial
	h.idle.add()
	s, err := h.add(options.Name)
	if err != nil {
		h.idle.remove()
		return nil, err
	}
	s.options = options
	config.Logger = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: options.level()}))
	if s.running, err = miniapi.Start(ctx, config); err != nil {
		h.remove(s)
		return nil, invalid(err)
	}
	s.kept.idleTimeout = h.config.KeptIdleTimeout
	s.stop = sync.OnceValue(func() error {
		defer h.remove(s)
		err := errors.Join(s.running.Stop(context.Background()), s.kept.remove())
		s.log.close()
		h.config.Logger.Info("stopped a server", "id", s.id, "name", s.name, "error", err)
		return err
	})
	return s, h.complete(ctx, s, options)
}

// complete adds the users of the options and publishes the server, or stops it.
func (h *Host) complete(ctx context.Context, s *server, options ServerOptions) error {
	for _, user := range options.Users {
		added, err := s.addUser(user)
		if err != nil {
			return errors.Join(err, s.stop())
		}
		s.users = append(s.users, *added)
	}
	h.mu.Lock()
	if h.closed || ctx.Err() != nil {
		h.mu.Unlock()
		_ = s.stop()
		return errClosed
	}
	h.servers[s.id] = s
	h.mu.Unlock()
	go func() { // ends with the server, which may end by itself
		<-s.running.Done()
		_ = s.stop()
	}()
	h.config.Logger.Info("started a server", "id", s.id, "name", s.name, "url", s.running.URL())
	return nil
}

// add reserves an ID until remove. The caller must have added a user to the idle timer.
func (h *Host) add(name string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	if h.config.MaxServers >= 0 && h.added >= h.config.MaxServers {
		return nil, full(h.added)
	}
	h.added++
	h.nextID++
	return &server{id: strconv.Itoa(h.nextID), name: name, created: time.Now(), log: newLogBuffer()}, nil
}

func (h *Host) remove(s *server) {
	h.mu.Lock()
	delete(h.servers, s.id)
	h.added--
	h.mu.Unlock()
	h.idle.remove()
}

// config returns the configuration of the server, without a logger.
func (o ServerOptions) config() (miniapi.Config, error) {
	config := miniapi.Config{
		Authorization:           miniapi.AuthorizationMode(o.Authorization),
		EnableAdmissionPlugins:  o.EnableAdmissionPlugins,
		DisableAdmissionPlugins: o.DisableAdmissionPlugins,
		Controllers:             o.Controllers,
		Pods:                    miniapi.PodsMode(o.Pods),
		ServiceClusterIPRange:   o.ServiceClusterIPRange,
		ServiceNodePortRange:    o.ServiceNodePortRange,
		EmulatedVersion:         o.EmulatedVersion,
		FeatureGates:            o.FeatureGates,
		Bootstrap:               bootstrap.Mode(o.Bootstrap),
		DataDir:                 o.DataDir,
		CRDs:                    o.CRDs,
		Manifests:               o.Manifests,
		Faults:                  o.Faults,
		LogRequests:             o.LogRequests,
		RecentRequests:          cmp.Or(o.KeepRequests, recentRequests),
		TestAPIs:                !o.DisableTestAPIs,
		UI:                      !o.DisableTestAPIs,
	}
	setClock(&config, o.FrozenAt)
	if o.TLS {
		config.Secure = &miniapi.Secure{Listen: o.Address}
	} else {
		config.Listen = o.Address
	}
	if err := o.validate(); err != nil {
		return config, invalid(err)
	}
	return config, invalid(config.Validate())
}

func (o ServerOptions) validate() error {
	switch o.Lease {
	case "", LeaseConnection:
		if o.PID != 0 {
			return fmt.Errorf("pid %d is set without lease %q", o.PID, LeasePID)
		}
	case LeasePID:
		if o.PID <= 0 {
			return fmt.Errorf("lease %q needs the pid of a process", LeasePID)
		}
	default:
		return fmt.Errorf("lease %q is not one of %q, %q%s", o.Lease, LeaseConnection, LeasePID,
			suggest.DidYouMean(o.Lease, []string{LeaseConnection, LeasePID}))
	}
	var level slog.Level
	if o.LogLevel != "" && level.UnmarshalText([]byte(o.LogLevel)) != nil {
		return fmt.Errorf("logLevel %q is not one of debug, info, warn, error%s", o.LogLevel,
			suggest.DidYouMean(o.LogLevel, []string{"debug", "info", "warn", "error"}))
	}
	if o.KeepRequests < 0 || o.KeepRequests > maxRecentRequests {
		return fmt.Errorf("keepRequests %d is not a number from 0 to %d", o.KeepRequests, maxRecentRequests)
	}
	if err := validateAddress(o.Address); err != nil {
		return err
	}
	paths := slices.Clone(o.CRDs)
	for _, path := range []string{o.Manifests, o.DataDir} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return validatePaths(paths)
}

func (o ServerOptions) level() slog.Level {
	level := slog.LevelWarn
	if o.LogLevel != "" {
		_ = level.UnmarshalText([]byte(o.LogLevel)) // validate has checked it
	}
	return level
}

// validateAddress rejects an address that is not on loopback. An empty address is valid.
func validateAddress(address string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q is not HOST:PORT, such as 127.0.0.1:8080", address)
	}
	if !loopback.IsHost(host) {
		return fmt.Errorf("address %q is not on loopback", address)
	}
	return nil
}

// validatePaths rejects relative paths: the host has another working directory than its clients.
func validatePaths(paths []string) error {
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("path %q is not absolute", path)
		}
	}
	return nil
}

// describe returns the server as clients see it.
func (s *server) describe() (*Server, error) {
	client := s.running.RESTConfig()
	config, err := kubeconfig.Encode(client)
	if err != nil {
		return nil, err
	}
	described := &Server{
		ID: s.id, Name: s.name, Created: s.created, URL: s.running.URL(),
		CA: string(client.CAData), ServerName: client.ServerName, Token: client.BearerToken,
		Kubeconfig: string(config), Users: s.users,
	}
	if client.CAData != nil {
		ca, err := s.running.FrontProxyCA()
		if err != nil {
			return nil, err
		}
		described.FrontProxyCA = string(ca)
	}
	return described, nil
}

func (s *server) addUser(options UserOptions) (*User, error) {
	if options.Name == "" {
		return nil, invalid(fmt.Errorf("a user needs a name"))
	}
	client, err := s.running.AddUser(options.Name, options.Groups...)
	if err != nil {
		return nil, err
	}
	config, err := kubeconfig.Encode(client)
	if err != nil {
		return nil, err
	}
	return &User{
		Name: options.Name, Groups: options.Groups,
		Certificate: string(client.CertData), Key: string(client.KeyData), Kubeconfig: string(config),
	}, nil
}
