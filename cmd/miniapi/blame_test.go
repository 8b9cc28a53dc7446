package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestBlamePrintsFields(t *testing.T) {
	server, created, patched := startWithConfigMap(t)
	want := regexp.MustCompile(`^RESOURCEVERSION +TIME +WRITER +FIELD +VALUE
` + patched + ` +\S+Z +patcher +\.data\.k +"v"
` + created + ` +\S+Z +writer +\.data\.kept +"same"
` + created + ` +\S+Z +writer +\.metadata\.name +"c"
` + created + ` +\S+Z +writer +\.metadata\.namespace +"default"
$`)
	out, err := runMiniapi(t, "blame", "cm/c", "--server", server.URL())
	if err != nil || !want.MatchString(out) {
		t.Errorf("%v\n%s", err, out)
	}
	revision, err := strconv.ParseInt(patched, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.EtcdClient().Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	out, err = runMiniapi(t, "blame", "cm/c", "--server", server.URL())
	if err != nil || !regexp.MustCompile(`(?m)^<=`+patched+` +- +<unknown> +\.data\.kept +"same"$`).MatchString(out) {
		t.Errorf("after a compaction: %v\n%s", err, out)
	}
	for object, text := range map[string]string{
		"c":        "blame takes an object such as deploy/web",
		"cm/other": `blame of cm/other: configmaps "other" not found`,
	} {
		if _, err := runMiniapi(t, "blame", object, "--server", server.URL()); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", object, err, text)
		}
	}
}

func TestShortenKeepsCharactersWhole(t *testing.T) {
	long := strings.Repeat("a", maxBlameValue-1) + "é" + "b"
	if got, want := shorten(long), strings.Repeat("a", maxBlameValue-1)+"..."; got != want {
		t.Errorf("got %q", got)
	}
	if short := long[:maxBlameValue-1]; shorten(short) != short {
		t.Errorf("a short value became %q", shorten(short))
	}
}
