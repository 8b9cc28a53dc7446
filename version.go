package miniapi

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"

	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/kinds/feature"
)

const modulePath = "github.com/miniapi/miniapi"

// kubernetesPatch is the patch release of feature.Latest that the libraries belong to.
const kubernetesPatch = 1

// KubernetesVersion returns the answer of /version without emulation: the Kubernetes release whose
// API is served. Its build metadata is "miniapi", which version comparisons ignore.
func KubernetesVersion() version.Info { return kubernetesVersion(feature.Latest) }

// kubernetesVersion returns the answer of /version for an emulated release. As in kube-apiserver,
// only the emulation fields and the minimum compatibility change.
func kubernetesVersion(emulated feature.Release) version.Info {
	return version.Info{
		Major: "1", Minor: minor(feature.Latest),
		EmulationMajor: "1", EmulationMinor: minor(emulated),
		MinCompatibilityMajor: "1", MinCompatibilityMinor: minor(emulated - 1),
		GitVersion: fmt.Sprintf("v%s.%d+miniapi", feature.Latest, kubernetesPatch),
		GoVersion:  runtime.Version(),
		Compiler:   runtime.Compiler,
		Platform:   fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH),
	}
}

func minor(r feature.Release) string { return strconv.Itoa(int(r)) }

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
