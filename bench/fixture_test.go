package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/miniapi/miniapi"
)

// payload makes a ConfigMap of about 1 KiB.
var payload = strings.Repeat("0123456789abcdef", 56)

// fixture is a server and both ways into it.
type fixture struct {
	b      *testing.B
	server *miniapi.Server
	http   *http.Client
	etcd   *clientv3.Client
}

func newFixture(b *testing.B) *fixture {
	b.Helper()
	server, err := miniapi.Start(b.Context(), miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:0"}})
	if err != nil {
		b.Fatal(err)
	}
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints: server.EtcdClientURLs(), DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	f := &fixture{b: b, server: server, etcd: etcd,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}}
	b.Cleanup(func() {
		etcd.Close()
		f.http.CloseIdleConnections()
		if err := server.Stop(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	return f
}

func (f *fixture) url(name string) string {
	return f.server.URL() + "/api/v1/namespaces/default/configmaps" + name
}

// send does one request and reads the answer to its end.
func (f *fixture) send(method, url string, body []byte) error {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := f.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode > 201 {
		text, _ := io.ReadAll(resp.Body)
		return &statusError{code: resp.StatusCode, text: string(text)}
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// statusError is an answer that is not a success.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

func configMap(name, extra string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"payload":%q,"extra":%q}}`, name, payload, extra)
}

// fill creates n ConfigMaps, and as many keys of the same size beside them.
func (f *fixture) fill(n int) {
	f.b.Helper()
	create := &side{name: "fill", workers: 16, do: func(_, i int) error {
		name := fmt.Sprintf("item-%05d", i)
		if err := f.send(http.MethodPost, f.url(""), configMap(name, "")); err != nil {
			return err
		}
		_, err := f.etcd.Put(f.b.Context(), "/raw/"+name, payload)
		return err
	}}
	create.run(f.b, n)
}
