package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runAssets runs miniapi assets, and returns what it printed. PATH is a
// directory of the test's own.
func runAssets(t *testing.T, path string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := command(t, append([]string{"assets"}, args...)...)
	cmd.Env = append(cmd.Env, "PATH="+path)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed := cmd.Run(); failed != nil {
		t.Fatalf("%v: %s", failed, err.String())
	}
	return out.String(), err.String()
}

func TestAssetsOfOneProgram(t *testing.T) {
	t.Parallel()
	dir, kubectl := filepath.Join(t.TempDir(), "a", "b"), script(t, "kubectl")
	for range 2 { // the second time changes nothing
		if out, _ := runAssets(t, "", "--kubectl", kubectl, dir); out != "export KUBEBUILDER_ASSETS="+dir+"\n" {
			t.Errorf("printed %s", out)
		}
		if got := names(t, dir); got != "etcd kube-apiserver kubectl" {
			t.Errorf("there are %s", got)
		}
	}
	if !os.SameFile(stat(t, filepath.Join(dir, "etcd")), stat(t, filepath.Join(dir, "kube-apiserver"))) {
		t.Error("etcd and kube-apiserver take space twice")
	}
	out, err := exec.Command(filepath.Join(dir, "etcd"), "--version").Output()
	check(t, err)
	if !strings.HasPrefix(string(out), "etcd Version: ") {
		t.Errorf("etcd printed %s", out)
	}
}

// What is written stays when miniapi goes, as that of go run does, and an older
// one is replaced.
func TestAssetsStay(t *testing.T) {
	t.Parallel()
	dir, gone := t.TempDir(), filepath.Join(t.TempDir(), "miniapi")
	data, err := os.ReadFile(program)
	check(t, err)
	check(t, os.WriteFile(gone, data, 0o700))
	check(t, exec.CommandContext(t.Context(), gone, "assets", dir, "--kubectl", script(t, "kubectl")).Run())
	check(t, os.Remove(gone))
	check(t, exec.Command(filepath.Join(dir, "kube-apiserver"), "--version").Run())
	runAssets(t, "", dir)
	if !os.SameFile(stat(t, filepath.Join(dir, "etcd")), stat(t, program)) {
		t.Error("the older program is still there")
	}
	if got := names(t, dir); got != "etcd kube-apiserver kubectl" {
		t.Errorf("there are %s", got)
	}
}

func TestAssetsCanBeEvaluatedByAShell(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's $HOME")
	out, err := exec.Command("sh", "-c", `eval "$("$0" assets "$1" --kubectl "$0")"; printf %s "$KUBEBUILDER_ASSETS"`, program, dir).Output()
	check(t, err)
	if string(out) != dir {
		t.Errorf("KUBEBUILDER_ASSETS is %s, want %s", out, dir)
	}
}

func TestKubectlOfAssets(t *testing.T) {
	t.Parallel()
	dir, found, given := t.TempDir(), script(t, "kubectl"), script(t, "kubectl")
	_, note := runAssets(t, t.TempDir(), dir)
	if strings.Count(note, "\n") != 1 || !strings.Contains(note, "--kubectl FILE") || names(t, dir) != "etcd kube-apiserver" {
		t.Errorf("without any there are %s, and it says %s", names(t, dir), note)
	}
	for want, args := range map[string][]string{found: {dir}, given: {dir, "--kubectl", given}} {
		check(t, os.RemoveAll(filepath.Join(dir, "kubectl")))
		_, note := runAssets(t, filepath.Dir(found), args...)
		if note != "" || !os.SameFile(stat(t, filepath.Join(dir, "kubectl")), stat(t, want)) {
			t.Errorf("%q did not take %s: %s", args, want, note)
		}
	}
	runAssets(t, filepath.Dir(found), dir, "--kubectl", given)
	runAssets(t, filepath.Dir(found), dir)
	if !os.SameFile(stat(t, filepath.Join(dir, "kubectl")), stat(t, given)) {
		t.Error("the kubectl that was given has not stayed")
	}
}

func TestFaultsOfAssets(t *testing.T) {
	t.Parallel()
	taken := t.TempDir()
	check(t, os.WriteFile(filepath.Join(taken, "etcd"), []byte("#!/bin/sh\n"), 0o700))
	file := script(t, "file")
	for want, args := range map[string][]string{
		"miniapi: assets takes one directory, such as ./bin/envtest (see miniapi assets --help)":           {"assets"},
		"miniapi: unknown flag: --nope (see miniapi assets --help)":                                        {"assets", "--nope"},
		"miniapi: assets: " + filepath.Join(taken, "etcd") + " is there and not miniapi: choose another d": {"assets", taken},
		"miniapi: assets: mkdir " + file + ": not a directory":                                             {"assets", file},
		"/nowhere: no such file or directory":                                                              {"assets", t.TempDir(), "--kubectl", "/nowhere"},
	} {
		if lines := refused(t, args...); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%q: got %q, want one line with %s", args, lines, want)
		}
	}
}

// script returns a program that does nothing, in a directory of its own.
func script(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
	return path
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	return info
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}
