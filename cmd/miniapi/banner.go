package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/miniapi/miniapi"
)

// printBanner prints how to use the server, in less than a screen.
func printBanner(out io.Writer, server *miniapi.Server, kubeconfig string, opts *options) {
	fmt.Fprintf(out, `miniapi %s serves the Kubernetes API %s

  URL         %s
  kubeconfig  %s
  data        %s

Try it:
  %s
  kubectl --kubeconfig %s create configmap hello --from-literal=a=b
  kubectl --kubeconfig %s get configmap hello -o yaml

`, miniapi.Version(), miniapi.KubernetesVersion().GitVersion,
		server.URL(), kubeconfig, dataLocation(server, opts),
		firstCommand(server, kubeconfig), kubeconfig, kubeconfig)
	fmt.Fprintln(out, "Stop it with Ctrl-C.")
}

// firstCommand returns the shortest command that gets a response from the server.
func firstCommand(server *miniapi.Server, kubeconfig string) string {
	if plain := server.PlainURL(); plain != "" {
		return "curl " + plain + "/api/v1/namespaces"
	}
	return "kubectl --kubeconfig " + kubeconfig + " auth whoami"
}

func dataLocation(server *miniapi.Server, opts *options) string {
	location := "embedded etcd in a temporary directory, removed on exit (use --data-dir to keep it)"
	switch {
	case len(opts.etcdServers) > 0:
		return "etcd at " + strings.Join(opts.etcdServers, ",")
	case opts.dataDir != "":
		location = "embedded etcd in " + opts.dataDir
	}
	if urls := server.EtcdClientURLs(); len(urls) > 0 {
		location += "\n  etcdctl     ETCDCTL_API=3 etcdctl --endpoints " + strings.Join(urls, ",") + " get --prefix --keys-only /registry"
	}
	return location
}
