package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
)

// serversEnv makes the test binary start this many servers and print the measurements. A first
// start and the memory of the servers can only be measured in a separate process.
const serversEnv = "MINIAPI_BENCH_SERVERS"

func TestMain(m *testing.M) {
	for env, run := range map[string]func(servers int) error{serversEnv: startServers, serveEnv: serve} {
		if n, err := strconv.Atoi(os.Getenv(env)); err == nil {
			if err := run(n); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// process is the report of a process with servers.
type process struct {
	// FirstObject is the time from the first start until client-go has created the first object.
	FirstObject time.Duration
	// AllObjects is the same for all servers, started one after the other, each with an object.
	AllObjects time.Duration
	// Before and After measure the process before and after the start of all servers but the
	// first.
	Before, After memory
}

// BenchmarkFirstStart measures the first server of a process, from its start until client-go
// has created the first object.
func BenchmarkFirstStart(b *testing.B) {
	var spent time.Duration
	for b.Loop() {
		spent += inProcess(b, 1).FirstObject
	}
	b.ReportMetric(milliseconds(spent)/float64(b.N), "ms/start")
}

// BenchmarkManyServers measures a hundred servers in one process, and the cost of each idle one
// after the first.
func BenchmarkManyServers(b *testing.B) {
	const n = 100
	var further time.Duration
	var before, after memory
	for b.Loop() {
		p := inProcess(b, n)
		further += p.AllObjects - p.FirstObject
		before, after = p.Before, p.After
	}
	b.ReportMetric(milliseconds(further)/float64(b.N)/(n-1), "ms/further-start")
	b.ReportMetric(after.Resident, "MB-RSS")
	b.ReportMetric((after.Resident-before.Resident)/(n-1), "MB-RSS/server")
	b.ReportMetric((after.Virtual-before.Virtual)/(n-1), "MB-virtual/server")
}

// inProcess starts servers in a separate process.
func inProcess(b *testing.B, servers int) process {
	b.Helper()
	child := exec.CommandContext(b.Context(), os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d", serversEnv, servers))
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		b.Fatal(err)
	}
	var p process
	if err := json.Unmarshal(out, &p); err != nil {
		b.Fatal(err)
	}
	return p
}

func startServers(n int) error {
	var p process
	began := time.Now()
	for i := range n {
		server, err := startForClient(context.Background())
		if err != nil {
			return err
		}
		defer server.Stop(context.Background())
		if i == 0 {
			p.FirstObject = time.Since(began)
			p.Before = measureMemory()
		}
	}
	p.AllObjects, p.After = time.Since(began), measureMemory()
	return json.NewEncoder(os.Stdout).Encode(p)
}

func startForClient(ctx context.Context) (*miniapi.Server, error) {
	server, err := miniapi.Start(ctx, miniapi.Config{})
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		return nil, err
	}
	first := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "first"}}
	_, err = client.CoreV1().ConfigMaps("default").Create(ctx, first, metav1.CreateOptions{})
	return server, err
}

// memory returns the memory of this process in MB, 0 if the system does not report it.
type memory struct{ Resident, Virtual float64 }

// measureMemory returns the memory in use after a garbage collection.
func measureMemory() memory {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return memory{}
	}
	return memory{Resident: megabytes(status, "VmRSS:"), Virtual: megabytes(status, "VmSize:")}
}

func megabytes(status []byte, key string) float64 {
	_, rest, _ := bytes.Cut(status, []byte(key))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseFloat(string(fields[0]), 64)
	if err != nil {
		return 0
	}
	return kilobytes / 1024
}
