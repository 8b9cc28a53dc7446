package layout_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, path)), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestModulesCanBeInstalled checks for directives that go install module@version refuses.
func TestModulesCanBeInstalled(t *testing.T) {
	for _, path := range []string{"go.mod", "miniapitest/go.mod"} {
		if found := regexp.MustCompile(`(?m)^(replace|exclude)\b.*`).FindString(read(t, path)); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}

func TestReleaseNotes(t *testing.T) {
	notes := func(version string) (string, error) {
		out, err := exec.CommandContext(t.Context(), filepath.Join(repository, ".ci/release-notes"), version).Output()
		return string(out), err
	}
	if _, after, _ := strings.Cut(read(t, "CHANGELOG.md"), "\n## "); !strings.HasPrefix(after, "Unreleased\n") {
		t.Error("the first section of CHANGELOG.md is not Unreleased")
	}
	if out, err := notes("Unreleased"); err != nil || !strings.Contains(out, "\n### Server\n") || strings.Contains(out, "\n## ") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := notes("Unrel"); err == nil {
		t.Errorf("a section that does not exist: %s", out)
	}
}

// workflow is the part of a GitHub workflow that is checked.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		TimeoutMinutes int `json:"timeout-minutes"`
		Permissions    map[string]string
		Steps          []struct {
			Uses string
			With map[string]any
			Run  string
		}
	}
}

// TestWorkflows checks that actions are pinned by commit, that only the release may write, that
// credentials do not stay in checkouts, and that the scripts of steps exist.
func TestWorkflows(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
	for _, path := range paths {
		name := filepath.Base(path)
		var w workflow
		decode(t, ".github/workflows/"+name, &w)
		for job, j := range w.Jobs {
			if slices.Contains(slices.Collect(maps.Values(w.Permissions)), "write") || w.Permissions == nil {
				t.Errorf("%s: all jobs have the permissions %v", name, w.Permissions)
			}
			if j.Permissions != nil && name != "release.yml" || j.TimeoutMinutes == 0 {
				t.Errorf("%s: job %s has the permissions %v and the timeout %d", name, job, j.Permissions, j.TimeoutMinutes)
			}
			for _, step := range j.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned by commit", name, step.Uses)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: %s keeps credentials", name, job)
				}
				if script := strings.Fields(step.Run); len(script) > 0 && strings.HasPrefix(script[0], ".ci/") {
					info, err := os.Stat(filepath.Join(repository, script[0]))
					if err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s: %s is no program: %v", name, script[0], err)
					}
				}
			}
		}
	}
}

// TestReleaseConfiguration checks what goreleaser cannot check: that the files of archives exist
// and that the image is built from the Dockerfile.
func TestReleaseConfiguration(t *testing.T) {
	var release struct {
		Before   struct{ Hooks []string }
		Builds   []struct{ GOOS, GOARCH, Flags, Env []string }
		Archives []struct{ Files []struct{ Src string } }
		Docker   []struct {
			Dockerfile string
			BuildArgs  map[string]string `json:"build_args"`
		} `json:"dockers_v2"`
	}
	decode(t, ".goreleaser.yaml", &release)
	if len(release.Builds) != 1 || len(release.Archives) != 1 || len(release.Docker) != 1 {
		t.Fatalf("builds, archives and images: %+v", release)
	}
	build := release.Builds[0]
	if !slices.Equal(build.GOOS, []string{"linux", "darwin", "windows"}) || !slices.Equal(build.GOARCH, []string{"amd64", "arm64"}) {
		t.Errorf("the platforms %v and %v differ from docs/support.md", build.GOOS, build.GOARCH)
	}
	if !slices.Equal(build.Flags, []string{"-trimpath", "-buildvcs=true"}) || !slices.Contains(build.Env, "CGO_ENABLED=0") {
		t.Errorf("the build depends on its machine: %+v", build)
	}
	for _, file := range release.Archives[0].Files {
		folder, _, generated := strings.Cut(file.Src, "/*")
		if generated && slices.ContainsFunc(release.Before.Hooks, func(hook string) bool { return strings.HasSuffix(hook, " "+folder) }) {
			continue
		}
		read(t, file.Src)
	}
	image := release.Docker[0]
	if stage := image.BuildArgs["SOURCE"]; !strings.Contains(read(t, image.Dockerfile), " AS "+stage+"\n") {
		t.Errorf("%s has no stage %q", image.Dockerfile, stage)
	}
}
