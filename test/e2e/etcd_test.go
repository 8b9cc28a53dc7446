package e2e_test

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

const etcdMarker = "MINIAPI_E2E_ETCD"

// beEtcdIfAsked never returns in a process with the marker in its environment:
// it is etcd, with etcd's own command line.
func beEtcdIfAsked() {
	if os.Getenv(etcdMarker) == "" {
		return
	}
	etcdmain.Main(append([]string{"etcd"}, os.Args[1:]...))
	os.Exit(0)
}
