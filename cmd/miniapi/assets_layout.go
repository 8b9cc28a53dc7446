package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/miniapi/miniapi"
)

// servedVersion returns the Kubernetes version whose API is served, such as 1.36.3.
func servedVersion() string {
	version, _, _ := strings.Cut(miniapi.KubernetesVersion().GitVersion, "+")
	return strings.TrimPrefix(version, "v")
}

var fullVersion = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// layoutName returns the directory, below the one of the assets, in which setup-envtest and envtest
// look for the programs of a Kubernetes version.
func layoutName(version string) (string, error) {
	plain := strings.TrimPrefix(version, "v")
	if !fullVersion.MatchString(plain) {
		return "", fmt.Errorf("--as-version %q must have three numbers, such as %s", version, servedVersion())
	}
	return filepath.Join("k8s", plain+"-"+runtime.GOOS+"-"+runtime.GOARCH), nil
}

// writeLayout links the programs of the assets in a directory for setup-envtest.
func (a *assets) writeLayout(dir string) error {
	if err := writeServers(dir, a.path("etcd")); err != nil {
		return err
	}
	if _, err := os.Stat(a.path("kubectl")); err != nil {
		return nil // writeKubectl has printed a note
	}
	return linkTo(a.path("kubectl"), programPath(dir, "kubectl"))
}
