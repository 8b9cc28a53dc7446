package upstreamstorage

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// result is the result of a case.
type result struct {
	passed bool // neither failed nor skipped
	output string
}

var (
	caseBegins = regexp.MustCompile(`^=== (?:RUN|CONT|NAME) +(\S+)$`)
	caseEnds   = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(.*\)$`)
)

// parseResults reads the output of a verbose test. Names are relative to root;
// complete reports whether that has ended.
func parseResults(output, root string) (results map[string]*result, complete bool) {
	results = map[string]*result{}
	of := func(name string) *result {
		name = strings.TrimPrefix(strings.TrimPrefix(name, root), "/")
		if results[name] == nil {
			results[name] = &result{}
		}
		return results[name]
	}
	current := of(root)
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if begin := caseBegins.FindStringSubmatch(line); begin != nil {
			current = of(begin[1])
		} else if end := caseEnds.FindStringSubmatch(line); end != nil {
			of(end[2]).passed = end[1] == "PASS"
			complete = complete || end[2] == root
		} else {
			current.output += line + "\n"
		}
	}
	delete(results, "")
	return results, complete
}

// failures returns the names of the cases that did not pass for themselves, and
// not just because of one below them.
func failures(results map[string]*result) []string {
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if !results[name].passed {
			failed = append(failed, name)
		}
	}
	isParent := func(name string) bool {
		return slices.ContainsFunc(failed, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	}
	return slices.DeleteFunc(slices.Clone(failed), isParent)
}

// parseDifferences returns the names in a list of differences. Its blocks are
// separated by empty lines, and have lines with a reason, which begin with #, and
// then the names of cases: store/case, where * is every store.
func parseDifferences(text string, stores []string) (map[string]bool, error) {
	names := map[string]bool{}
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		hasReason := false
		for line := range strings.SplitSeq(block, "\n") {
			if strings.HasPrefix(line, "# ") {
				hasReason = true
				continue
			}
			if !hasReason {
				return nil, fmt.Errorf("%s has no reason", line)
			}
			store, name, found := strings.Cut(line, "/")
			if !found {
				return nil, fmt.Errorf("%q names no case", line)
			}
			of := []string{store}
			if store == "*" {
				of = stores
			}
			for _, store := range of {
				if names[store+"/"+name] {
					return nil, fmt.Errorf("%s is listed twice", line)
				}
				names[store+"/"+name] = true
			}
		}
	}
	return names, nil
}

// compare returns the differences between the results and the list.
func compare(expected map[string]bool, results map[string]*result) []string {
	var problems []string
	failed := failures(results)
	for _, name := range failed {
		if !expected[name] {
			problems = append(problems, fmt.Sprintf("%s differs from kube-apiserver's store:\n%s", name, results[name].output))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		if !slices.Contains(failed, name) {
			problems = append(problems, name+" is listed as a difference, but does not differ")
		}
	}
	return problems
}

func TestCompare(t *testing.T) {
	const output = `=== RUN   TestX
=== RUN   TestX/Etcd/A
    a.go:1: no
=== RUN   TestX/Etcd/B
=== RUN   TestX/Etcd/B/b
    b.go:1: no either
--- FAIL: TestX (0.00s)
    --- FAIL: TestX/Etcd/A (0.00s)
    --- FAIL: TestX/Etcd/B (0.00s)
        --- SKIP: TestX/Etcd/B/b (0.00s)
    --- PASS: TestX/Etcd/C (0.00s)
`
	results, complete := parseResults(output, "TestX")
	if !complete {
		t.Error("the test has ended, and does not count as such")
	}
	if _, complete := parseResults(output[:100], "TestX"); complete {
		t.Error("the test has not ended, and counts as such")
	}
	expected, err := parseDifferences("# A reason,\n# at length.\n*/A\nEtcd/C", []string{"Etcd"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Etcd/B/b differs from kube-apiserver's store:\n    b.go:1: no either\n",
		"Etcd/C is listed as a difference, but does not differ",
	}
	if got := compare(expected, results); !slices.Equal(got, want) {
		t.Errorf("problems are %q, want %q", got, want)
	}
	for _, list := range []string{"*/A", "# Twice.\nEtcd/A\n*/A", "# No case.\nEtcd"} {
		if _, err := parseDifferences(list, []string{"Etcd"}); err == nil {
			t.Errorf("list %q is accepted", list)
		}
	}
}
