package miniapi

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	checkout := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{
			Main:     debug.Module{Path: modulePath, Version: "v0.1.1-0.20261122120000-0123456789ab"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: modified}},
		}
	}
	dependency := func(module debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{
			Main:     debug.Module{Path: "example.com/operator", Version: "v3.0.0"},
			Deps:     []*debug.Module{{Path: "example.com/other", Version: "v2.0.0"}, &module},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "fedcba9876543210"}},
		}
	}
	for name, tc := range map[string]struct {
		info              *debug.BuildInfo
		version, revision string
	}{
		"go install of a release":         {&debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "v0.1.0"}}, "v0.1.0", ""},
		"a checkout":                      {checkout("false"), "v0.1.1-0.20261122120000-0123456789ab", "0123456789abcdef"},
		"a modified checkout":             {checkout("true"), "v0.1.1-0.20261122120000-0123456789ab", "0123456789abcdef-modified"},
		"a checkout without its history":  {&debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "(devel)"}}, "devel", ""},
		"a dependency":                    {dependency(debug.Module{Path: modulePath, Version: "v0.2.0"}), "v0.2.0", ""},
		"a dependency with a replacement": {dependency(debug.Module{Path: modulePath, Version: "v0.2.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.2.1"}}), "v0.2.1", ""},
		"a dependency in a directory":     {dependency(debug.Module{Path: modulePath, Version: "v0.0.0", Replace: &debug.Module{Path: "../miniapi"}}), "devel", ""},
		"a program without the module":    {dependency(debug.Module{Path: "example.com/third", Version: "v1.0.0"}), "devel", ""},
		"no build information":            {nil, "devel", ""},
	} {
		if got := moduleVersion(tc.info); got != tc.version {
			t.Errorf("%s: version %q, want %q", name, got, tc.version)
		}
		if got := revision(tc.info); got != tc.revision {
			t.Errorf("%s: revision %q, want %q", name, got, tc.revision)
		}
	}
}
