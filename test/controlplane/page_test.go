package controlplane

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// page holds the commands of docs/control-plane.md: the programs in the order of the page, and the
// scripts that use them.
type page struct {
	programs map[string]string // by the name of the program
	nodes    string
	flunders string
}

// ports of the page are replaced, because they may be in use on this machine.
func readPage(t *testing.T, ports map[string]string) page {
	t.Helper()
	data, err := os.ReadFile("../../docs/control-plane.md")
	check(t, err)
	p := page{programs: map[string]string{}}
	for _, match := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		text := match[1]
		for from, to := range ports {
			text = strings.ReplaceAll(text, from, to)
		}
		name, _, _ := strings.Cut(text, " ")
		switch {
		case name != "export":
			p.programs[name] = strings.TrimSpace(text)
		case strings.Contains(text, "kind: Node"):
			p.nodes = text
		default:
			p.flunders = text
		}
	}
	for _, name := range []string{"miniapi", "kube-controller-manager", "kube-scheduler", "kwok", "sample-apiserver"} {
		if p.programs[name] == "" {
			t.Fatalf("docs/control-plane.md has no command %s", name)
		}
	}
	if p.nodes == "" || p.flunders == "" || len(p.programs) != 5 {
		t.Fatalf("docs/control-plane.md has unknown commands: %q", p.programs)
	}
	return p
}
