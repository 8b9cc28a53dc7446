package miniapi

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/version"
)

// The Kubernetes release whose API is served.
const (
	kubernetesMajor, kubernetesMinor = "1", "36"
	kubernetesVersion                = "v1.36.3"
)

// KubernetesVersion is what /version answers: the Kubernetes release whose API
// is served, with miniapi named in the build metadata, which version
// comparisons leave out.
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

// Version is miniapi's own: the module version it was built from, or "devel".
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

const modulePath = "github.com/miniapi/miniapi"
