package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/e2e/kubectl"
)

func TestMain(m *testing.M) {
	kubectl.BeIfAsked()
	beCurlIfAsked()
	beEtcdIfAsked()
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(programs.dir)
		os.Exit(code)
	}))
}

// startServer returns a server of the test's own, which ends with it.
func startServer(t *testing.T) *miniapi.Server {
	t.Helper()
	server, err := miniapi.Start(t.Context(), miniapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server
}

// programs is a directory for a PATH: kubectl, which is this program under
// another name, and miniapi as a user would build it.
var programs struct {
	sync.Once
	dir string
	err error
}

func programsDir(t *testing.T) string {
	t.Helper()
	programs.Do(func() { programs.dir, programs.err = makePrograms() })
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	return programs.dir
}

func makePrograms() (string, error) {
	dir, err := os.MkdirTemp("", "miniapi-e2e-")
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return dir, err
	}
	if err := os.Symlink(self, filepath.Join(dir, "kubectl")); err != nil {
		return dir, err
	}
	build := exec.Command("go", "build", "-C", "..", "-o", filepath.Join(dir, "miniapi"), "./cmd/miniapi")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
}
