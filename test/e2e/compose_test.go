package e2e_test

import (
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// compose is the content of docker-compose.yml.
type compose struct {
	Services map[string]composeService `json:"services"`
	Volumes  map[string]any            `json:"volumes"`
}

type composeService struct {
	Image     string      `json:"image"`
	Command   commandLine `json:"command"`
	DependsOn []string    `json:"depends_on"`
	Ports     []string    `json:"ports"`
	Volumes   []string    `json:"volumes"`
}

// commandLine is decoded from a list or from a string with spaces.
type commandLine []string

func (c *commandLine) UnmarshalJSON(data []byte) error {
	var line string
	if json.Unmarshal(data, &line) == nil {
		*c = strings.Fields(line)
		return nil
	}
	return json.Unmarshal(data, (*[]string)(c))
}

func readCompose(t *testing.T) compose {
	t.Helper()
	data, err := os.ReadFile("../../docker-compose.yml")
	check(t, err)
	var c compose
	check(t, yaml.UnmarshalStrict(withoutAnchors(data), &c))
	return c
}

// withoutAnchors removes the x- entries. They only define anchors, which the parser has resolved.
func withoutAnchors(data []byte) []byte {
	var all map[string]any
	if err := yaml.Unmarshal(data, &all); err != nil {
		return data
	}
	for key := range all {
		if strings.HasPrefix(key, "x-") {
			delete(all, key)
		}
	}
	for _, service := range all["services"].(map[string]any) {
		for _, unread := range []string{"build", "restart"} {
			delete(service.(map[string]any), unread)
		}
	}
	data, err := yaml.Marshal(all)
	if err != nil {
		panic(err)
	}
	return data
}

func TestComposeFile(t *testing.T) {
	c := readCompose(t)
	if names := c.named("etcd"); len(names) != 3 {
		t.Errorf("etcd members are %v, want three", names)
	}
	if names := c.named("miniapi"); len(names) != 2 {
		t.Errorf("replicas are %v, want two", names)
	}
	etcd := moduleVersion(t, "go.etcd.io/etcd/server/v3")
	for name, service := range c.Services {
		if image, tag, _ := strings.Cut(service.Image, ":"); strings.HasSuffix(image, "etcd") && tag != etcd {
			t.Errorf("%s runs etcd %s, go.mod has %s", name, tag, etcd)
		}
		for _, dependency := range service.DependsOn {
			if _, ok := c.Services[dependency]; !ok {
				t.Errorf("%s depends on %s, which is not defined", name, dependency)
			}
		}
		for _, volume := range service.Volumes {
			if volume, _, _ := strings.Cut(volume, ":"); !contains(c.Volumes, volume) {
				t.Errorf("%s uses volume %s, which is not defined", name, volume)
			}
		}
		for _, port := range service.Ports {
			host, err := netip.ParseAddr(port[:strings.Index(port, ":")])
			if err != nil || !host.IsLoopback() {
				t.Errorf("%s publishes %s, not on loopback only", name, port)
			}
		}
	}
}

func TestFlagsOfComposeFileAndDockerfile(t *testing.T) {
	lines := map[string][]string{"Dockerfile": dockerfileCommand(t)}
	for _, name := range readCompose(t).named("miniapi") {
		lines[name] = readCompose(t).Services[name].Command
	}
	for name, line := range lines {
		// --version exits after the flags are parsed.
		out, err := exec.CommandContext(t.Context(), filepath.Join(programsDir(t), "miniapi"), append(line, "--version")...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

func TestDockerfileUsesTheGoVersionOfTheModule(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "-C", "../..", "list", "-m", "-f", "{{.GoVersion}}").Output()
	check(t, err)
	version := strings.Join(strings.SplitN(strings.TrimSpace(string(out)), ".", 3)[:2], ".")
	dockerfile, err := os.ReadFile("../../Dockerfile")
	check(t, err)
	if !strings.Contains(string(dockerfile), "FROM golang:"+version+" ") {
		t.Errorf("go.mod requires Go %s, the Dockerfile differs:\n%s", version, dockerfile)
	}
}

// named returns the names of services that begin with prefix, in order.
func (c compose) named(prefix string) []string {
	var names []string
	for name := range c.Services {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func dockerfileCommand(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../Dockerfile")
	check(t, err)
	match := regexp.MustCompile(`(?m)^CMD (\[.*\])$`).FindSubmatch(data)
	if match == nil {
		t.Fatal("no CMD in the Dockerfile")
	}
	var line []string
	check(t, json.Unmarshal(match[1], &line))
	return line
}

func moduleVersion(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "-C", "../..", "list", "-m", "-f", "{{.Version}}", path).Output()
	check(t, err)
	return strings.TrimSpace(string(out))
}

func contains(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}
