package envtest_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain leaves the suite out where there are no binaries for envtest.
func TestMain(m *testing.M) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Println("skipped: KUBEBUILDER_ASSETS names no directory with kube-apiserver and etcd")
		os.Exit(0)
	}
	os.Exit(m.Run())
}
