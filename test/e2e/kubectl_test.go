package e2e_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

var update = flag.Bool("update", false, "rewrite testdata/kubectl with the current output of kubectl; review the diff")

// TestKubectl plays every story in testdata/kubectl against a new server and compares the output:
// standard output and standard error in their order, and the exit code of failed commands.
func TestKubectl(t *testing.T) {
	stories, err := filepath.Glob("testdata/kubectl/*.txt")
	if err != nil || len(stories) == 0 {
		t.Fatal("no stories", err)
	}
	by := releaseOfKubectl(t)
	programsDir(t) // built before the servers start, since the stories show the ages of objects
	for _, path := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			story, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(story), by)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(story), got); diff != "" {
				t.Error("what kubectl prints differs (-want +got):\n" + diff)
			}
		})
	}
}

// play runs a story with a kubectl of the given release and returns it with the actual output.
func play(t *testing.T, text string, by release) string {
	server := startServerOf(t, text)
	sh, masks := newShell(t, server), newVolatile(server)
	story := parseStory(text)
	for i := range story.steps {
		step := &story.steps[i]
		step.record(by, masks.replace(outcome(t, sh, step.command())))
	}
	return story.String()
}

// startServerOf starts the server of a story. The first line of the story may contain its flags.
func startServerOf(t *testing.T, story string) *miniapi.Server {
	t.Helper()
	flags, _, _ := strings.Cut(story, "\n")
	return servertest.Start(t, map[string]miniapi.Config{
		"# --controllers=-*":                          {Controllers: []string{"-*"}},
		"# --pods=instant and all controllers":        {Pods: miniapi.PodsInstant, Controllers: allControllers()},
		"# --authorization-mode=RBAC":                 {Authorization: miniapi.RBAC},
		"# --secure-port=0 --authorization-mode=RBAC": {Authorization: miniapi.RBAC, Secure: &miniapi.Secure{}},
		"# --enable-test-apis":                        {TestAPIs: true},
	}[flags])
}

// allControllers returns the controllers of workloads in addition to the default controllers.
func allControllers() []string {
	return []string{"*", "serviceaccount", "deployment", "replicaset", "job", "cronjob", "endpointslice", "disruption"}
}

// logPattern matches a line of client-go's log that appears only sometimes, when a watch reaches
// its deadline.
var logPattern = regexp.MustCompile(`(?m)^[IWE]\d{4} \d\d:.*\n`)

func outcome(t *testing.T, sh *shell, command string) string {
	printed, err := sh.run(command)
	printed = logPattern.ReplaceAllString(printed, "")
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		printed += exit.String() + "\n"
	case err != nil:
		t.Fatal(err)
	}
	// A blank line before the next command belongs to the story.
	return strings.TrimRight(printed, "\n") + strings.Repeat("\n", min(1, len(printed)))
}
