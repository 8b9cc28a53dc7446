package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// transcript is a parsed story. A line that begins with "$ " is a command, following lines that
// begin with "> " continue it, "#" begins a comment; other lines are the output. Different output
// of older releases of kubectl follows in lines that begin with the last of these releases, as in
// "<=1.33| ".
type transcript struct {
	lead  string // comments before the first step
	steps []step
}

// step is a command with its output, in the text of the story.
type step struct {
	lines   string // of the command
	printed string // by the newest release
	older   []printout
	after   string // comments and blank lines
}

// printout is the output of older releases up to a given one. The printouts of a step begin with
// the newest release.
type printout struct {
	upTo release
	text string
}

// release is the minor version of a kubectl.
type release int

// newest is the release of the kubectl that this module is built with.
const newest release = math.MaxInt

// Earlier releases print the outcome of "kubectl delete" without the namespace.
const deletedFromNamespace release = 34

// releaseOfKubectl returns the release of the kubectl that the tests use.
func releaseOfKubectl(t *testing.T) release {
	t.Helper()
	if *otherKubectl == "" {
		return newest
	}
	out, err := exec.Command(*otherKubectl, "version", "--client", "--output", "json").Output()
	check(t, err)
	var versions struct {
		ClientVersion struct{ GitVersion string }
	}
	check(t, json.Unmarshal(out, &versions))
	var minor release
	if _, err := fmt.Sscanf(versions.ClientVersion.GitVersion, "v1.%d.", &minor); err != nil {
		t.Fatalf("%s is kubectl %s: %v", *otherKubectl, versions.ClientVersion.GitVersion, err)
	}
	return minor
}

var (
	commandPattern = regexp.MustCompile(`(?m)^\$ .*\n(> .*\n)*`)
	olderPattern   = regexp.MustCompile(`(?m)^<=1\.(\d+)\|(?: (.*\n)|\n)`)
	afterPattern   = regexp.MustCompile(`(?ms)(^\n?#.*|^\n)\z`)
	deletedPattern = regexp.MustCompile(`( deleted) from \S+ namespace`)
)

func parseStory(text string) transcript {
	commands := commandPattern.FindAllStringIndex(text, -1)
	s := transcript{lead: text[:commands[0][0]]}
	for i, at := range commands {
		end := len(text)
		if i+1 < len(commands) {
			end = commands[i+1][0]
		}
		s.steps = append(s.steps, parseStep(text[at[0]:at[1]], text[at[1]:end]))
	}
	return s
}

func parseStep(lines, rest string) step {
	s := step{lines: lines, after: afterPattern.FindString(rest)}
	rest = strings.TrimSuffix(rest, s.after)
	s.printed = olderPattern.ReplaceAllString(rest, "")
	for _, match := range olderPattern.FindAllStringSubmatch(rest, -1) {
		minor, _ := strconv.Atoi(match[1]) // digits
		if n := len(s.older); n == 0 || s.older[n-1].upTo != release(minor) {
			s.older = append(s.older, printout{upTo: release(minor)})
		}
		s.older[len(s.older)-1].text += match[2]
	}
	return s
}

func (s transcript) String() string {
	var out strings.Builder
	out.WriteString(s.lead)
	for _, step := range s.steps {
		out.WriteString(step.lines + step.printed)
		for _, older := range step.older {
			for line := range strings.Lines(older.text) {
				fmt.Fprintf(&out, "<=1.%d| %s", older.upTo, line)
			}
			if older.text == "" {
				fmt.Fprintf(&out, "<=1.%d|\n", older.upTo)
			}
		}
		out.WriteString(step.after)
	}
	return out.String()
}

// command returns the command for the shell.
func (s step) command() string {
	return strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(s.lines, "$ "), "\n> ", "\n"))
}

// record adds the output of a release. Output that the story already contains is not changed.
func (s *step) record(by release, text string) {
	switch {
	case by == newest:
		s.printed = text
	case text != s.printedBy(by):
		s.older = slices.DeleteFunc(s.older, func(p printout) bool { return p.upTo == by })
		s.older = append(s.older, printout{upTo: by, text: text})
		slices.SortFunc(s.older, func(a, b printout) int { return int(b.upTo - a.upTo) })
		s.older = slices.CompactFunc(s.older, func(a, b printout) bool { return a.text == b.text })
	}
}

// printedBy returns the expected output of a release.
func (s step) printedBy(by release) string {
	text := s.printed
	for _, older := range s.older {
		if by <= older.upTo {
			text = older.text
		}
	}
	if by < deletedFromNamespace {
		text = deletedPattern.ReplaceAllString(text, "$1")
	}
	return text
}
