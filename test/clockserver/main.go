// Command clockserver is a server whose clock jumps on request, for test/robustness. It has some of
// the flags of miniapi.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/miniapi/miniapi"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "clockserver:", err)
		os.Exit(1)
	}
}

// run runs a server until ctx ends.
func run(ctx context.Context) error {
	var config miniapi.Config
	var servers string
	flag.StringVar(&config.Listen, "listen", "", "`ADDRESS` of the server")
	flag.StringVar(&servers, "etcd-servers", "", "comma-separated `URLS` of an etcd cluster")
	flag.String("write-kubeconfig", "", "`FILE` that is not written")
	control := flag.String("clock", "", "`ADDRESS` at which POST /?by=DURATION advances the clock")
	flag.Parse()
	config.EtcdServers, config.TestAPIs = strings.Split(servers, ","), true
	listener, err := net.Listen("tcp", *control)
	if err != nil {
		return err
	}
	server, err := miniapi.Start(ctx, config)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	go func() { _ = http.Serve(listener, clock{server}) }() // ends with the listener
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	return errors.Join(listener.Close(), server.Stop(context.WithoutCancel(ctx)))
}

// clock advances the clock of a server.
type clock struct{ server *miniapi.Server }

// ServeHTTP implements http.Handler.
func (c clock) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	by, err := time.ParseDuration(req.URL.Query().Get("by"))
	if err == nil {
		err = c.server.Advance(by)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}
