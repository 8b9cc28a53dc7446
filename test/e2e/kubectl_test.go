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
)

var update = flag.Bool("update", false, "rewrite testdata/kubectl with what kubectl prints now; review it as prose")

// TestKubectl plays every story in testdata/kubectl against a server of its
// own and compares what a user would see: standard output and standard error
// as they come, and the exit code of what failed.
func TestKubectl(t *testing.T) {
	stories, err := filepath.Glob("testdata/kubectl/*.txt")
	if err != nil || len(stories) == 0 {
		t.Fatal("no stories", err)
	}
	by := releaseOfKubectl(t)
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

// play returns the story as it went with a kubectl of the given release.
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

// startServerOf starts what a story begins with: its first line may name the
// flags of another server than the default one.
func startServerOf(t *testing.T, story string) *miniapi.Server {
	t.Helper()
	flags, _, _ := strings.Cut(story, "\n")
	return startServerWith(t, map[string]miniapi.Config{
		"# --authorization-mode=RBAC":                 {Authorization: miniapi.RBAC},
		"# --secure-port=0 --authorization-mode=RBAC": {Authorization: miniapi.RBAC, Secure: &miniapi.Secure{}},
	}[flags])
}

// logPattern is a line of client-go's log: when a watch meets its deadline, it
// depends on the moment whether there is one.
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
	// A printed blank line before the next command is the story's own.
	return strings.TrimRight(printed, "\n") + strings.Repeat("\n", min(1, len(printed)))
}
