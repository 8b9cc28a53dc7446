package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
)

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

// userAgent returns the user agent of all requests of subcommands.
func userAgent() string { return "miniapi/" + miniapi.Version() }

func newServerClient(config *rest.Config) (*serverClient, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = userAgent()
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
		return nil, unreachable(c.host, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode == http.StatusOK || response.StatusCode == http.StatusCreated {
		return body, err
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		status.Message, status.Code = response.Status, int32(response.StatusCode)
		if text := strings.TrimSpace(string(body)); text != "" && len(text) <= maxErrorText && !strings.ContainsAny(text, "<\n") {
			status.Message += ": " + text
		}
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}

// maxErrorText limits the bytes of an answer that an error contains.
const maxErrorText = 200

// unreachable returns the error of a server that has not answered.
func unreachable(server string, err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // without the URL
	}
	return fmt.Errorf("cannot reach the server %s: %w: check that it runs, or name another one with --server or --kubeconfig", server, err)
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
