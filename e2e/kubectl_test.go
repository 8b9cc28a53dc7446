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
	for _, path := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			story, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(story))
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

// play returns the story as it went. A line that begins with "$ " is a command,
// lines after it that begin with "> " continue it, "#" begins a comment; the
// rest is what was printed.
func play(t *testing.T, story string) string {
	server := startServerOf(t, story)
	sh, masks := newShell(t, server), newVolatile(server)
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(story, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		command, isCommand := strings.CutPrefix(lines[i], "$ ")
		if strings.HasPrefix(lines[i], "#") || isCommand || lines[i] == "" && startsNew(lines[i+1:]) {
			out.WriteString(lines[i] + "\n")
		}
		if !isCommand {
			continue
		}
		for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], "> "); i++ {
			command += "\n" + strings.TrimPrefix(lines[i+1], "> ")
			out.WriteString(lines[i+1] + "\n")
		}
		out.WriteString(masks.replace(outcome(t, sh, command)))
	}
	return out.String()
}

// startServerOf starts what a story begins with: its first line may name the
// flag for a server that decides by roles.
func startServerOf(t *testing.T, story string) *miniapi.Server {
	t.Helper()
	if strings.HasPrefix(story, "# --authorization-mode=RBAC\n") {
		return startServerWith(t, miniapi.Config{Authorization: miniapi.RBAC})
	}
	return startServer(t)
}

// startsNew tells a blank line between steps from one that a command printed.
func startsNew(rest []string) bool {
	return len(rest) > 0 && (strings.HasPrefix(rest[0], "#") || strings.HasPrefix(rest[0], "$ "))
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
