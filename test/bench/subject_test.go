package bench

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/miniapi/miniapi"
)

// kubeAPIServerEnv names a directory with the programs etcd and kube-apiserver. The benchmarks of
// subjects then measure them too.
const kubeAPIServerEnv = "BENCH_KUBE_APISERVER"

// serveEnv makes the test binary serve this many servers until its standard input ends.
const serveEnv = "MINIAPI_BENCH_SERVE"

// subject is an API server in processes of its own, over TLS, with an etcd that does not sync its
// data to disk.
type subject struct {
	fixture
	name      string
	address   address
	processes []int
	requests  int // sent by earlier benchmarks
}

// address is the access to a server.
type address struct{ URL, Token, Etcd string }

// subjectNames returns the names of the subjects to measure, miniapi first.
func subjectNames() []string {
	if os.Getenv(kubeAPIServerEnv) == "" {
		return []string{"miniapi"}
	}
	return []string{"miniapi", "kube-apiserver"}
}

func newSubject(b *testing.B, name string) *subject {
	b.Helper()
	if name == "kube-apiserver" {
		return connect(b, startKubeAPIServer(b, os.Getenv(kubeAPIServerEnv)))
	}
	return newMiniapi(b, 1)
}

// newMiniapi starts servers in one process. The subject has the access to the first one.
func newMiniapi(b *testing.B, servers int) *subject {
	b.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d", serveEnv, servers))
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := child.Wait(); err != nil {
			b.Error(err)
		}
	})
	s := &subject{name: "miniapi", processes: []int{child.Process.Pid}}
	if err := json.NewDecoder(out).Decode(&s.address); err != nil {
		b.Fatal(err)
	}
	return connect(b, s)
}

// serve is the process of newMiniapi.
func serve(servers int) error {
	ctx := context.Background()
	var first *miniapi.Server
	for range servers {
		server, err := miniapi.Start(ctx, miniapi.Config{
			Secure: &miniapi.Secure{}, EtcdListenClientURLs: []string{"http://127.0.0.1:0"},
		})
		if err != nil {
			return err
		}
		defer server.Stop(ctx)
		first = cmp.Or(first, server)
	}
	config := first.RESTConfig()
	access := address{URL: config.Host, Token: config.BearerToken, Etcd: first.EtcdClientURLs()[0]}
	if err := json.NewEncoder(os.Stdout).Encode(access); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// connect creates the clients of a subject.
func connect(b *testing.B, s *subject) *subject {
	b.Helper()
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints: []string{s.address.Etcd}, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableCompression: true,
	}
	s.b, s.etcd = b, etcd
	s.http = &http.Client{Transport: bearer{transport, s.address.Token}}
	b.Cleanup(func() {
		etcd.Close()
		transport.CloseIdleConnections()
	})
	return s
}

// bearer sends a token with each request.
type bearer struct {
	http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (t bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.RoundTripper.RoundTrip(r)
}

func (s *subject) url(path string) string {
	return s.address.URL + "/api/v1/namespaces/default/configmaps" + path
}

// request sends a request to a path of the server and reads the whole response.
func (s *subject) request(method, path string, body []byte) error {
	return s.send(method, s.address.URL+path, body)
}

// usage is the CPU time and the memory of the processes of a subject.
type usage struct {
	cpu      time.Duration
	resident float64 // in MB
}

// tick is the unit of the CPU times in /proc: USER_HZ is 100 on all platforms of Go.
const tick = 10 * time.Millisecond

// usage returns zeros on a system without /proc.
func (s *subject) usage() usage {
	var sum usage
	for _, pid := range s.processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		// The name of the program is in parentheses and can contain spaces.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		for _, field := range fields[11:13] { // utime, stime
			ticks, _ := strconv.ParseInt(string(field), 10, 64)
			sum.cpu += time.Duration(ticks) * tick
		}
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
			sum.resident += megabytes(status, "VmRSS:")
		}
	}
	return sum
}

// measure runs an operation b.N times and reports the CPU time of the server for each.
func (s *subject) measure(b *testing.B, do func(i int) error) {
	b.Helper()
	if err := do(-1); err != nil { // encodes what is encoded once
		b.Fatal(err)
	}
	before := s.usage()
	b.ResetTimer()
	for i := range b.N {
		if err := do(i); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64((s.usage().cpu-before.cpu).Microseconds())/float64(b.N), "cpu-us/op")
}
