package e2e_test

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/test/e2e/cast"
)

// TestReadmePicture checks that the picture of the README shows what the commands print.
func TestReadmePicture(t *testing.T) {
	picture, err := os.ReadFile("../../docs/assets/miniapi.svg")
	check(t, err)
	shown := regexp.MustCompile(`(?s)<desc[^>]*>(.*)</desc>`).FindSubmatch(picture)
	if shown == nil {
		t.Fatal("the picture has no description")
	}
	module, err := filepath.Abs(".")
	check(t, err)
	transcript, err := cast.Record(programsDir(t), module)
	check(t, err)
	if diff := cmp.Diff(withoutTimes(html.UnescapeString(string(shown[1]))), withoutTimes(transcript)); diff != "" {
		t.Errorf("the picture is out of date, make cast draws it again (-picture +commands):\n%s", diff)
	}
}

// withoutTimes returns the lines of a transcript without times, and without revisions, which depend
// on writes in the background. They are in the order of their text, because parallel tests end in
// any order.
func withoutTimes(transcript string) []string {
	transcript = regexp.MustCompile(`\(\d+\.\d+s\)`).ReplaceAllString(transcript, "(TIME)")
	transcript = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d+`).ReplaceAllString(transcript, "TIME")
	transcript = regexp.MustCompile(`revision \d+`).ReplaceAllString(transcript, "revision N")
	return slices.Sorted(slices.Values(strings.Split(transcript, "\n")))
}
