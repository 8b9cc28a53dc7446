package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// serverAccess holds the flags by which a subcommand finds a server.
type serverAccess struct {
	server, kubeconfig, namespace string
	snapshot                      snapshotSource
	flags                         *pflag.FlagSet
}

func (a *serverAccess) flagSet() *pflag.FlagSet {
	flags := a.connectionFlagSet()
	flags.StringVar(&a.snapshot.file, "from-snapshot", "", "`FILE` of etcdctl snapshot save, or the data directory of an etcd, to read instead of a server")
	flags.StringVar(&a.snapshot.prefix, "etcd-prefix", "/registry", "`PATH` prefix of all keys in --from-snapshot")
	flags.StringVar(&a.snapshot.encryption, "encryption-provider-config", "", "`FILE` with the EncryptionConfiguration of --from-snapshot")
	flags.StringVarP(&a.namespace, "namespace", "n", "default", "`NAMESPACE` of the object")
	return flags
}

// connectionFlagSet returns the flags that name a running server.
func (a *serverAccess) connectionFlagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&a.server, "server", "", "`URL` of a server without authentication (default: the server of --kubeconfig, else "+defaultServer+")")
	flags.StringVar(&a.kubeconfig, "kubeconfig", "", "`FILE` with the server and the credentials (default: environment variable KUBECONFIG)")
	flags.BoolP("help", "h", false, "print this help")
	a.flags = flags
	return flags
}

// config returns the address and the credentials of the running server that the flags name.
func (a *serverAccess) config() (*rest.Config, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	switch files := os.Getenv("KUBECONFIG"); {
	case a.server != "":
		return &rest.Config{Host: a.server}, nil
	case a.kubeconfig != "":
		return readKubeconfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: a.kubeconfig}, "--kubeconfig "+a.kubeconfig)
	case files != "":
		return readKubeconfig(&clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(files)}, "environment variable KUBECONFIG")
	}
	return &rest.Config{Host: defaultServer}, nil
}

// defaultServer is the URL of a miniapi without flags.
const defaultServer = "http://127.0.0.1:8080"

// readKubeconfig returns the server and the credentials of kubeconfig files. source is their name
// in errors.
func readKubeconfig(files *clientcmd.ClientConfigLoadingRules, source string) (*rest.Config, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(files, nil).ClientConfig()
	var unreadable *fs.PathError
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("%s names no server: set it to the kubeconfig of a server, or set --server", source)
	case errors.As(err, &unreadable):
		return nil, fmt.Errorf("%s: %w", source, unreadable.Err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return config, nil
}

// validate returns an error for flags that name two servers, or that have no effect.
func (a *serverAccess) validate() error {
	switch {
	case a.snapshot.file != "" && (a.server != "" || a.kubeconfig != ""):
		return errors.New("--from-snapshot is read instead of a server: remove it, or --server and --kubeconfig")
	case a.server != "" && a.kubeconfig != "":
		return errors.New("--server and --kubeconfig name two servers: remove one of them")
	case a.server != "":
		if err := checkServerURL(a.server); err != nil {
			return fmt.Errorf("--server %w", err)
		}
	}
	for _, name := range []string{"etcd-prefix", "encryption-provider-config"} {
		if a.snapshot.file == "" && a.flags.Changed(name) {
			return fmt.Errorf("--%s is for --from-snapshot: remove it, or set --from-snapshot", name)
		}
	}
	return nil
}

// checkServerURL returns an error unless a text is a URL with the scheme http or https.
func checkServerURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
		return nil
	case strings.Contains(text, "://"):
		return fmt.Errorf("%q is not the URL of a server: use one such as %s", text, defaultServer)
	}
	return fmt.Errorf("%q is not the URL of a server: use http://%s", text, text)
}

// readSubresource decodes a subresource of TYPE/NAME.
func (a *serverAccess) readSubresource(ctx context.Context, object, subresource string, into any) error {
	client, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer client.close()
	path, err := client.pathOf(ctx, object, a.namespace)
	if err != nil {
		return err
	}
	body, err := client.get(ctx, path+"/"+subresource)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// open returns a client of the server that the flags name. The caller must close it.
func (a *serverAccess) open(ctx context.Context) (*serverClient, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	if a.snapshot.file != "" {
		return a.snapshot.serve(ctx)
	}
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	return newServerClient(config)
}
