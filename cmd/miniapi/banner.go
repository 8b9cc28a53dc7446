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
%s  kubeconfig  %s
  data        %s

Try it:
  %s
%s
`, miniapi.Version(), miniapi.KubernetesVersion().GitVersion,
		server.URL(), page(server), kubeconfig, dataLocation(server, opts),
		firstCommand(server, kubeconfig), kubectlCommands(kubeconfig, opts))
	fmt.Fprintln(out, "Stop it with Ctrl-C.")
}

// page returns the line with the URL of the page, "" if it is off.
func page(server *miniapi.Server) string {
	if address := server.PageURL(); address != "" {
		return "  page        " + address + "\n"
	}
	return ""
}

// firstCommand returns the shortest command that gets a response from the server.
func firstCommand(server *miniapi.Server, kubeconfig string) string {
	if plain := server.PlainURL(); plain != "" {
		return "curl " + plain + "/api/v1/namespaces"
	}
	return "kubectl --kubeconfig " + kubeconfig + " auth whoami"
}

// kubectlCommands returns two commands of kubectl that succeed on a new server.
func kubectlCommands(kubeconfig string, opts *options) string {
	commands := []string{"create configmap hello --from-literal=a=b", "get configmap hello -o yaml"}
	if opts.fromSnapshot != "" || opts.readOnly {
		commands = []string{"get all --all-namespaces", "get customresourcedefinitions"}
	}
	var lines strings.Builder
	for _, command := range commands {
		fmt.Fprintf(&lines, "  kubectl --kubeconfig %s %s\n", kubeconfig, command)
	}
	return lines.String()
}

// readOnlyRevisions returns the revision that a read-only server shows and the ones that it keeps.
func readOnlyRevisions(server *miniapi.Server) string {
	r := server.Revisions()
	shown := "the latest revision"
	if r.Shown != 0 {
		shown = fmt.Sprintf("revision %d", r.Shown)
	}
	return fmt.Sprintf(", read-only, at %s\n              (etcd keeps the revisions %d to %d)", shown, r.Oldest, r.Latest)
}

func dataLocation(server *miniapi.Server, opts *options) string {
	location := "embedded etcd in a temporary directory, removed on exit (use --data-dir to keep it)"
	switch {
	case opts.fromSnapshot != "":
		return "snapshot " + opts.fromSnapshot + readOnlyRevisions(server)
	case opts.readOnly:
		return "etcd at " + strings.Join(opts.etcdServers, ",") + readOnlyRevisions(server)
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
