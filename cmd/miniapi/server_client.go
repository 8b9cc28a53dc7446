package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/miniapi/miniapi"
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
	flags.StringVar(&a.server, "server", "", "`URL` of a server without authentication (default: the server of --kubeconfig, else http://127.0.0.1:8080)")
	flags.StringVar(&a.kubeconfig, "kubeconfig", "", "`FILE` with the server and the credentials (default: environment variable KUBECONFIG)")
	flags.BoolP("help", "h", false, "print this help")
	a.flags = flags
	return flags
}

// config returns the address and the credentials of the running server that the flags name.
func (a *serverAccess) config() (*rest.Config, error) {
	if file := cmp.Or(a.kubeconfig, os.Getenv("KUBECONFIG")); file != "" && a.server == "" {
		return clientcmd.BuildConfigFromFlags("", file)
	}
	return &rest.Config{Host: cmp.Or(a.server, "http://127.0.0.1:8080")}, nil
}

// validate returns an error if the flags name two servers.
func (a *serverAccess) validate() error {
	if a.snapshot.file != "" && (a.server != "" || a.kubeconfig != "") {
		return errors.New("--from-snapshot is read instead of a server: remove it, or --server and --kubeconfig")
	}
	return nil
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

// serverClient reads from a server.
type serverClient struct {
	host string
	http *http.Client
	stop func() // ends a server that was started for the client
}

func (c *serverClient) close() {
	c.http.CloseIdleConnections()
	c.stop()
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

func newServerClient(config *rest.Config) (*serverClient, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "miniapi/" + miniapi.Version()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return &serverClient{host: strings.TrimSuffix(config.Host, "/"), http: client, stop: func() {}}, nil
}

// get returns the body of a path. The error of a Status is its message.
func (c *serverClient) get(ctx context.Context, path string) ([]byte, error) {
	return c.do(ctx, http.MethodGet, path, nil)
}

// do sends a body in JSON and returns the body of the answer. The error of a Status is its message.
func (c *serverClient) do(ctx context.Context, method, path string, sent []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.host+path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if sent != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: set --server or --kubeconfig", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode == http.StatusOK || response.StatusCode == http.StatusCreated {
		return body, err
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		status.Message, status.Code = response.Status, int32(response.StatusCode)
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}

// pathOf returns the path of TYPE/NAME. TYPE is what kubectl accepts: a plural or singular name, a
// short name or a kind, also with the group, such as deployments.apps.
func (c *serverClient) pathOf(ctx context.Context, object, namespace string) (string, error) {
	kind, name, _ := strings.Cut(object, "/")
	kind, group, hasGroup := strings.Cut(strings.ToLower(kind), ".")
	roots, err := c.roots(ctx)
	if err != nil {
		return "", err
	}
	for _, root := range roots {
		if hasGroup && !strings.HasPrefix(root, "/apis/"+group+"/") {
			continue
		}
		body, err := c.get(ctx, root)
		if err != nil {
			continue // of an APIService that is not available
		}
		var list metav1.APIResourceList
		if err := json.Unmarshal(body, &list); err != nil {
			return "", err
		}
		i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return isNamed(r, kind) })
		if i < 0 {
			continue
		}
		if found := list.APIResources[i]; found.Namespaced {
			return root + "/namespaces/" + namespace + "/" + found.Name + "/" + name, nil
		}
		return root + "/" + list.APIResources[i].Name + "/" + name, nil
	}
	return "", fmt.Errorf("the server has no resource type %q", strings.TrimSuffix(kind+"."+group, "."))
}

// isNamed reports whether a name in lower case stands for a resource.
func isNamed(r metav1.APIResource, name string) bool {
	return !strings.Contains(r.Name, "/") &&
		(r.Name == name || r.SingularName == name || strings.ToLower(r.Kind) == name || slices.Contains(r.ShortNames, name))
}

// roots returns the paths of the preferred versions of all groups, the core group first.
func (c *serverClient) roots(ctx context.Context) ([]string, error) {
	body, err := c.get(ctx, "/apis")
	if err != nil {
		return nil, err
	}
	var groups metav1.APIGroupList
	if err := json.Unmarshal(body, &groups); err != nil {
		return nil, err
	}
	roots := []string{"/api/v1"}
	for _, g := range groups.Groups {
		roots = append(roots, "/apis/"+g.PreferredVersion.GroupVersion)
	}
	return roots, nil
}
