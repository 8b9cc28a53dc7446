package e2e_test

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"

	watch "github.com/miniapi/miniapi/internal/process"
)

const etcdMarker = "MINIAPI_E2E_ETCD"

// beEtcdIfAsked never returns in a process with the marker in its environment: it is etcd, with
// etcd's own command line. It ends with its parent.
func beEtcdIfAsked() {
	if os.Getenv(etcdMarker) == "" {
		return
	}
	parent := watch.Parent()
	go func() { // ends with the process
		parent.AwaitEnd(nil)
		os.Exit(1)
	}()
	etcdmain.Main(append([]string{"etcd"}, os.Args[1:]...))
	os.Exit(0)
}
