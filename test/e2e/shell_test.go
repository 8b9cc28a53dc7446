package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
)

// shell runs command lines in a temporary directory, with kubectl on PATH and KUBECONFIG set.
type shell struct {
	t   *testing.T
	dir string
	env []string
}

func newShell(t *testing.T, server *miniapi.Server) *shell {
	t.Helper()
	dir := t.TempDir()
	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "miniapi.kubeconfig"), kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return &shell{t: t, dir: dir, env: append(os.Environ(),
		"PATH="+programsDir(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"KUBECONFIG=miniapi.kubeconfig",
		"HOME="+dir,
		"KUBECTL_KUBERC=false",
	)}
}

// run returns the output of a script, and the error of a failed command.
func (sh *shell) run(script string) (string, error) {
	cmd := exec.CommandContext(sh.t.Context(), "sh", "-eu", "-c", script)
	cmd.Dir, cmd.Env = sh.dir, sh.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// volatile replaces values that differ from run to run. Identifiers become ordinals in their order
// of appearance, so that equal and changed values remain visible.
type volatile struct {
	host string
	seen map[string]string
	next map[string]int
}

func newVolatile(server *miniapi.Server) *volatile {
	return &volatile{
		host: server.URL()[strings.Index(server.URL(), "//")+2:],
		seen: map[string]string{}, next: map[string]int{},
	}
}

var (
	uidPattern     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	versionPattern = regexp.MustCompile(`(?i)("?resource ?version"?: ?"?)([1-9]\d*)`)
	timePattern    = regexp.MustCompile(`\b\d\d:\d\d:\d\d\.\d{3}\b|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`)
	curlPattern    = regexp.MustCompile(`curl/\d[\d.]*`)
	agePattern     = regexp.MustCompile(`(?m) (\d+s|\d\d?m(\d+s)?)( +|$)`) // 100m is an amount of CPU
	ageHeader      = regexp.MustCompile(`(?m)\bAGE( *)(\S|$)`)
)

func (v *volatile) replace(text string) string {
	text = strings.ReplaceAll(text, v.host, "HOST")
	text = uidPattern.ReplaceAllStringFunc(text, func(uid string) string { return v.ordinal("UID", uid) })
	text = timePattern.ReplaceAllString(text, "TIME")
	text = curlPattern.ReplaceAllString(text, "curl/VERSION")
	text = versionPattern.ReplaceAllStringFunc(text, func(match string) string {
		parts := versionPattern.FindStringSubmatch(match)
		return parts[1] + v.ordinal("RV", parts[2])
	})
	return withoutAges(text)
}

// ageWidth is the width of a column of ages of less than 100 seconds, with the space after it.
const ageWidth = len("AGE   ")

// withoutAges replaces the ages. A column of older objects is wider, and becomes as narrow as one
// of new objects.
func withoutAges(text string) string {
	var out strings.Builder
	surplus := 0 // of the column in the present table
	for line := range strings.Lines(text) {
		if header := ageHeader.FindStringSubmatchIndex(line); header != nil { // the end of the last column has no space
			surplus = max(0, header[3]-header[0]-ageWidth)
			line = line[:header[2]] + line[header[2]+surplus:]
		}
		out.WriteString(agePattern.ReplaceAllStringFunc(line, func(match string) string {
			if !strings.HasSuffix(match, " ") { // the end of the line
				return " AGE"
			}
			return fmt.Sprintf(" %-*s", len(match)-1-surplus, "AGE")
		}))
	}
	return out.String()
}

func (v *volatile) ordinal(kind, value string) string {
	name, ok := v.seen[kind+value]
	if !ok {
		v.next[kind]++
		name = fmt.Sprint(kind, v.next[kind])
		v.seen[kind+value] = name
	}
	return name
}

func TestAgesDoNotChangeTheOutput(t *testing.T) {
	young := `NAME   STATUS    AGE   VERSION   ZONE
one    Unknown   3s              z
two    Unknown   15s             z
NAME   AGE
one    3s
two    15s
`
	old := `NAME   STATUS    AGE     VERSION   ZONE
one    Unknown   2m3s              z
two    Unknown   2m15s             z
NAME   AGE
one    119s
two    2m
`
	want := strings.NewReplacer("3s ", "AGE", "15s", "AGE", "3s\n", "AGE\n").Replace(young)
	for _, text := range []string{young, old} {
		if diff := cmp.Diff(want, withoutAges(text)); diff != "" {
			t.Errorf("of\n%s(-want +got):\n%s", text, diff)
		}
	}
}
