package robustness_test

import (
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/test/robustness/cluster"
)

var (
	seed     = flag.Uint64("seed", 0, "`seed` of the faults and of the operations of clients; 0: any, which is logged")
	duration = flag.Duration("duration", 20*time.Second, "time of all scenarios of TestRobustness together")
	etcd     = flag.String("etcd", "", "`program` of the members of etcd clusters, such as another version; default: the linked etcd")
	only     = flag.String("scenario", "", "`name` of the only scenario to run")
)

func TestMain(m *testing.M) {
	if tool := cluster.Tool(); tool != "" {
		runTool(tool)
		os.Exit(0)
	}
	flag.Parse()
	klog.SetLogger(logr.Discard())
	code := leaktest.Run(m,
		// Idle connections of clients, which have no Close.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
	os.RemoveAll(commands.dir)
	os.Exit(code)
}

// runTool runs a program of etcd with the arguments of this process.
func runTool(tool string) {
	switch tool {
	case "etcdctl":
		ctlv3.MustStart()
	case "etcdutl":
		root := &cobra.Command{Use: tool}
		root.PersistentFlags().StringVar(&etcdutl.OutputFormat, "write-out", "simple", "")
		root.AddCommand(etcdutl.NewSnapshotCommand())
		if root.Execute() != nil {
			os.Exit(1)
		}
	default:
		etcdmain.Main(append([]string{tool}, os.Args[1:]...))
	}
}

// commands are the built commands.
var commands struct {
	sync.Mutex // guards the fields below
	dir        string
	files      map[string]string
}

// program returns the file of the miniapi command.
func program(t *testing.T) string {
	t.Helper()
	return build(t, "miniapi", cluster.Miniapi)
}

// build returns the file of a command, which is built once.
func build(t *testing.T, name, command string, flags ...string) string {
	t.Helper()
	commands.Lock()
	defer commands.Unlock()
	if commands.dir == "" {
		dir, err := os.MkdirTemp("", "miniapi-robustness-")
		check(t, err)
		commands.dir, commands.files = dir, map[string]string{}
	}
	if commands.files[name] == "" {
		file := filepath.Join(commands.dir, name)
		check(t, cluster.Build(t.Context(), file, command, flags...))
		commands.files[name] = file
	}
	return commands.files[name]
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
