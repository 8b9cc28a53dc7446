package main

import (
	"cmp"
	"context"
	"encoding/json"
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
)

// serverAccess holds the flags by which a subcommand finds a server.
type serverAccess struct{ server, kubeconfig, namespace string }

func (a *serverAccess) flagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	flags.StringVar(&a.server, "server", "", "`URL` of a server without authentication (default: the server of --kubeconfig, else http://127.0.0.1:8080)")
	flags.StringVar(&a.kubeconfig, "kubeconfig", "", "`FILE` with the server and the credentials (default: environment variable KUBECONFIG)")
	flags.StringVarP(&a.namespace, "namespace", "n", "default", "`NAMESPACE` of the object")
	flags.BoolP("help", "h", false, "print this help")
	return flags
}

// readSubresource decodes a subresource of TYPE/NAME.
func (a *serverAccess) readSubresource(ctx context.Context, object, subresource string, into any) error {
	client, err := a.client()
	if err != nil {
		return err
	}
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
}

// client returns a client of the server that the flags name.
func (a *serverAccess) client() (*serverClient, error) {
	config := &rest.Config{Host: cmp.Or(a.server, "http://127.0.0.1:8080")}
	if file := cmp.Or(a.kubeconfig, os.Getenv("KUBECONFIG")); file != "" && a.server == "" {
		var err error
		if config, err = clientcmd.BuildConfigFromFlags("", file); err != nil {
			return nil, err
		}
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return &serverClient{host: strings.TrimSuffix(config.Host, "/"), http: client}, nil
}

// get returns the body of a path. The error of a Status is its message.
func (c *serverClient) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: set --server or --kubeconfig", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode == http.StatusOK {
		return body, err
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		status.Message = response.Status
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
