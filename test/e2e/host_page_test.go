package e2e_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostPage runs the shell blocks of docs/host.md in one shell: a host starts, and a server
// without and one with a lease.
func TestHostPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/host.md")
	check(t, err)
	var script strings.Builder
	for _, block := range blocksOf(string(page)) {
		if block.info == "sh" {
			script.WriteString(block.text)
		}
	}
	dir := t.TempDir()
	sh := &shell{t: t, dir: dir, env: append(os.Environ(), "XDG_CACHE_HOME="+dir,
		"PATH="+programsDir(t)+string(os.PathListSeparator)+pathWithCurl(t))}
	out, err := sh.run(script.String())
	check(t, err)
	type server struct{ ID, URL, Kubeconfig string }
	var first, second server
	decoder := json.NewDecoder(strings.NewReader(out))
	check(t, decoder.Decode(&first))
	check(t, decoder.Decode(&second))
	if first.URL == "" || second.URL == "" || first.URL == second.URL || !strings.Contains(first.Kubeconfig, first.URL) {
		t.Errorf("output:\n%s", out)
	}
	deleteServer(t, filepath.Join(dir, "miniapi", "host.sock"), first.ID)
}

// deleteServer deletes a server of a host, which then ends because its socket is removed.
func deleteServer(t *testing.T, socket, id string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://host/v1/servers/"+id, nil)
	check(t, err)
	response, err := client.Do(request)
	check(t, err)
	check(t, response.Body.Close())
	if response.StatusCode != http.StatusNoContent {
		t.Errorf("deletion: %s", response.Status)
	}
}
