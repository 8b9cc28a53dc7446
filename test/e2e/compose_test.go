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
	Name     string                    `json:"name"`
	Services map[string]composeService `json:"services"`
	Volumes  map[string]any            `json:"volumes"`
}

type composeService struct {
	Image       string             `json:"image"`
	Command     commandLine        `json:"command"`
	DependsOn   map[string]depends `json:"depends_on"`
	Healthcheck healthcheck        `json:"healthcheck"`
	Ports       []string           `json:"ports"`
	Volumes     []string           `json:"volumes"`
	User        string             `json:"user"`
	ReadOnly    bool               `json:"read_only"`
	Tmpfs       []string           `json:"tmpfs"`
	CapDrop     []string           `json:"cap_drop"`
	SecurityOpt []string           `json:"security_opt"`
}

type depends struct {
	Condition string `json:"condition"`
}

type healthcheck struct {
	Test          []string `json:"test"`
	Interval      string   `json:"interval"`
	Timeout       string   `json:"timeout"`
	StartPeriod   string   `json:"start_period"`
	StartInterval string   `json:"start_interval"`
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
		for dependency, depends := range service.DependsOn {
			if _, ok := c.Services[dependency]; !ok || depends.Condition != "service_healthy" {
				t.Errorf("%s depends on %s (%s): it must be defined and healthy", name, dependency, depends.Condition)
			}
		}
		if len(service.Healthcheck.Test) < 2 || service.Healthcheck.Test[0] != "CMD" { // the images have no shell
			t.Errorf("%s has the health check %q", name, service.Healthcheck.Test)
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
	lines := map[string][]string{"Dockerfile": dockerfileWords(t, "CMD ")}
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

// The containers of miniapi run as a user without rights on a read-only file system.
func TestContainersHaveNoPrivileges(t *testing.T) {
	c := readCompose(t)
	for _, name := range c.named("miniapi") {
		s := c.Services[name]
		if s.User != "65532:65532" || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) || !slices.Equal(s.Tmpfs, []string{"/tmp"}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if dockerfile := readDockerfile(t); !strings.Contains(dockerfile, "\nUSER 65532:65532\n") {
		t.Errorf("the image has no user:\n%s", dockerfile)
	}
}

// The health checks of the image and of docker-compose.yml succeed at a server with the flags of
// the image.
func TestHealthChecksOfContainers(t *testing.T) {
	server := startMiniapi(t, []string{"--listen", "127.0.0.1:0", "--write-kubeconfig", filepath.Join(t.TempDir(), "kubeconfig")})
	checks := map[string][]string{"Dockerfile": dockerfileWords(t, "HEALTHCHECK .* CMD ")}
	for _, name := range readCompose(t).named("miniapi") {
		checks[name] = readCompose(t).Services[name].Healthcheck.Test[1:]
	}
	for name, words := range checks {
		if words[0] != "/miniapi" {
			t.Fatalf("%s: the health check %q does not run /miniapi", name, words)
		}
		// Containers use the default address.
		args := append(words[1:], server.url)
		out, err := exec.CommandContext(t.Context(), filepath.Join(programsDir(t), "miniapi"), args...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

func TestDockerfileUsesTheGoVersionOfTheModule(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "-C", "../..", "list", "-m", "-f", "{{.GoVersion}}").Output()
	check(t, err)
	version := strings.Join(strings.SplitN(strings.TrimSpace(string(out)), ".", 3)[:2], ".")
	image := regexp.MustCompile(`(?m)^FROM .*golang:(\d+\.\d+)\.\d+ AS build$`).FindStringSubmatch(readDockerfile(t))
	if image == nil || image[1] != version {
		t.Errorf("go.mod requires Go %s, the Dockerfile has %q", version, image)
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

func readDockerfile(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../Dockerfile")
	check(t, err)
	return string(data)
}

// dockerfileWords returns the JSON list behind an instruction of the Dockerfile.
func dockerfileWords(t *testing.T, instruction string) []string {
	t.Helper()
	match := regexp.MustCompile(`(?m)^` + instruction + `(\[.*\])$`).FindStringSubmatch(readDockerfile(t))
	if match == nil {
		t.Fatalf("no %s in the Dockerfile", instruction)
	}
	var words []string
	check(t, json.Unmarshal([]byte(match[1]), &words))
	return words
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
