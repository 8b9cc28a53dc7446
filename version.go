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

// Version returns the version of the miniapi module in this program: a release such as v0.1.0, a
// pseudo-version of a commit, or "devel" if it is unknown.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return moduleVersion(info)
}

// Revision returns the commit that this program was built from, followed by "-modified" if files
// differed from it. It is "" unless the program was built in a checkout of miniapi.
func Revision() string {
	info, _ := debug.ReadBuildInfo()
	return revision(info)
}

func moduleVersion(info *debug.BuildInfo) string {
	const unknown = "devel"
	if info == nil {
		return unknown
	}
	for _, module := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if module.Path != modulePath {
			continue
		}
		if module.Replace != nil {
			module = module.Replace // has no version if it is a directory
		}
		if module.Version != "" && module.Version != "(devel)" {
			return module.Version
		}
	}
	return unknown
}

func revision(info *debug.BuildInfo) string {
	if info == nil || info.Main.Path != modulePath {
		return ""
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	if settings["vcs.revision"] != "" && settings["vcs.modified"] == "true" {
		return settings["vcs.revision"] + "-modified"
	}
	return settings["vcs.revision"]
}
