package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/test/e2e/command"
)

func TestMain(m *testing.M) {
	runAsCurl()
	beEtcdIfAsked()
	beGuardIfAsked()
	for _, step := range []string{"START", "STOP"} { // envtest's default of 20s is short for a busy machine
		os.Setenv("KUBEBUILDER_CONTROLPLANE_"+step+"_TIMEOUT", patience.String())
	}
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	code := leaktest.Run(m)
	os.RemoveAll(programs.dir)
	os.Exit(code)
}

// otherKubectl replaces the kubectl that is built from this module.
var otherKubectl = flag.String("kubectl", "", "`file` of a kubectl, of whatever release from v1.30, to run the tests with")

// programs is a PATH directory with kubectl and miniapi.
var programs struct {
	sync.Once
	dir string
	err error
}

func programsDir(t testing.TB) string {
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
	if err := makeKubectl(dir); err != nil {
		return dir, err
	}
	return dir, command.Use(dir)
}

func makeKubectl(dir string) error {
	if *otherKubectl != "" {
		file, err := filepath.Abs(*otherKubectl)
		if err != nil {
			return err
		}
		return os.Symlink(file, filepath.Join(dir, "kubectl"))
	}
	// Without the race detector, even if the tests use it: with it kubectl starts ten times slower,
	// and races of kubectl are not tested.
	return build(dir, "kubectl", ".", "./cmd/kubectl", "-race=false")
}

// build builds a package of a module.
func build(dir, program, module, pkg string, flags ...string) error {
	args := slices.Concat([]string{"build", "-C", module, "-o", filepath.Join(dir, program)}, flags, []string{pkg})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", program, err, out)
	}
	return nil
}
