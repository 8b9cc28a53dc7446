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

// payload returns a ConfigMap of about 1 KiB.
var payload = strings.Repeat("0123456789abcdef", 56)

// fixture is a server with a client of its API and a client of its etcd.
type fixture struct {
	b      *testing.B
	server *miniapi.Server
	http   *http.Client
	etcd   *clientv3.Client
}

func newFixture(b *testing.B) *fixture { return newFixtureWith(b, miniapi.Config{}) }

func newFixtureWith(b *testing.B, config miniapi.Config) *fixture {
	b.Helper()
	config.EtcdListenClientURLs = []string{"http://127.0.0.1:0"}
	server, err := miniapi.Start(b.Context(), config)
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

// send sends one request and reads the whole response.
func (f *fixture) send(method, url string, body []byte) error {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	return f.do(req)
}

func (f *fixture) do(req *http.Request) error {
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

// statusError is a response without a success code.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

func configMap(name, extra string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"payload":%q,"extra":%q}}`, name, payload, extra)
}

// filledAtOnce is the number of objects per transaction. As many keys are written beside them,
// and etcd allows 128 operations.
const filledAtOnce = 60

// fill stores n ConfigMaps, and as many raw keys of the same size. It creates the first
// ConfigMap and copies its stored bytes to the others.
func (f *fixture) fill(n int) {
	f.b.Helper()
	const first, stored = "item-00000", "/registry/configmaps/default/"
	if err := f.send(http.MethodPost, f.url(""), configMap(first, "")); err != nil {
		f.b.Fatal(err)
	}
	resp, err := f.etcd.Get(f.b.Context(), stored+first)
	if err != nil || len(resp.Kvs) != 1 {
		f.b.Fatalf("%v: %v", resp, err)
	}
	value := string(resp.Kvs[0].Value)
	ops := []clientv3.Op{clientv3.OpPut("/raw/"+first, payload)}
	for i := 1; i <= n; i++ {
		if i == n || len(ops) >= 2*filledAtOnce {
			if _, err := f.etcd.Txn(f.b.Context()).Then(ops...).Commit(); err != nil {
				f.b.Fatal(err)
			}
			ops = ops[:0]
		}
		name := fmt.Sprintf("item-%05d", i)
		ops = append(ops, clientv3.OpPut(stored+name, strings.ReplaceAll(value, first, name)), clientv3.OpPut("/raw/"+name, payload))
	}
}
