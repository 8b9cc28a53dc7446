package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/miniapi/miniapi"
)

// printBanner says within a screen how to use the server.
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
		server.URL(), kubeconfig, whereData(server, opts),
		firstTry(server, kubeconfig), kubeconfig, kubeconfig)
	fmt.Fprintln(out, "Stop it with Ctrl-C.")
}

// firstTry is the shortest command that the server answers.
func firstTry(server *miniapi.Server, kubeconfig string) string {
	if plain := server.PlainURL(); plain != "" {
		return "curl " + plain + "/api/v1/namespaces"
	}
	return "kubectl --kubeconfig " + kubeconfig + " auth whoami"
}

func whereData(server *miniapi.Server, opts *options) string {
	where := "an embedded etcd in a temporary directory, gone at the end (--data-dir keeps it)"
	switch {
	case len(opts.etcdServers) > 0:
		return "etcd at " + strings.Join(opts.etcdServers, ",")
	case opts.dataDir != "":
		where = "an embedded etcd in " + opts.dataDir
	}
	if urls := server.EtcdClientURLs(); len(urls) > 0 {
		where += "\n  etcdctl     ETCDCTL_API=3 etcdctl --endpoints " + strings.Join(urls, ",") + " get --prefix --keys-only /registry"
	}
	return where
}
