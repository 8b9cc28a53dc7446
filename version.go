package miniapi

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/version"
)

const modulePath = "github.com/miniapi/miniapi"

// The Kubernetes release whose API is served.
const (
	kubernetesMajor, kubernetesMinor = "1", "36"
	kubernetesVersion                = "v1.36.3"
)

// KubernetesVersion returns the answer of /version: the Kubernetes release whose API is served. Its
// build metadata is "miniapi", which version comparisons ignore.
func KubernetesVersion() version.Info {
	return version.Info{
		Major: kubernetesMajor, Minor: kubernetesMinor,
		EmulationMajor: kubernetesMajor, EmulationMinor: kubernetesMinor,
		MinCompatibilityMajor: kubernetesMajor, MinCompatibilityMinor: "35",
		GitVersion: kubernetesVersion + "+miniapi",
		GoVersion:  runtime.Version(),
		Compiler:   runtime.Compiler,
		Platform:   fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH),
	}
}

// Version returns the version of the miniapi module in this program, or "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if info.Main.Path == modulePath && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			return dep.Version
		}
	}
	return "devel"
}
