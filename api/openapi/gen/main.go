// Gen writes definitions.json.gz: the OpenAPI schemas of the built-in types, generated from the
// markers and comments in their sources. It needs only Go.
//
// openapi-gen generates Go code from the sources; dump converts it to JSON. The large intermediate
// code is removed at the end. The versions of the types are those in go.mod and must equal those in
// go.mod of the main module.
package main

import (
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sharedPackages are the packages of types that the API groups use.
var sharedPackages = []string{
	"k8s.io/api/scheduling/v1alpha3", // for Job
	"k8s.io/apimachinery/pkg/api/resource",
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/util/intstr",
	"k8s.io/apimachinery/pkg/version",
}

// groupPackage matches the packages of the versions of an API group.
var groupPackage = regexp.MustCompile(`^k8s\.io/(api|.*/pkg/apis/[a-z]+)/`)

const generated = "zz_generated.go"

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gen FILE")
	}
	if err := generate(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func generate(target string) (err error) {
	header, err := os.CreateTemp("", "header")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, header.Close(), os.Remove(header.Name())) }()
	args := []string{
		"tool", "openapi-gen", "--go-header-file", header.Name(), "--report-filename", os.DevNull,
		"--output-dir", "dump", "--output-pkg", "main", "--output-file", generated,
	}
	groups, err := groupPackages()
	if err != nil {
		return err
	}
	if err := run(slices.Concat(args, sharedPackages, groups)...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(filepath.Join("dump", generated))) }()
	return run("run", "-tags", "generated", "./dump", target)
}

// groupPackages returns the packages with the types of the built-in groups, which are the imports
// of package kinds.
func groupPackages() ([]string, error) {
	command := exec.Command("go", "-C", "../../..", "list", "-f", `{{join .Imports "\n"}}`, "./kinds")
	command.Stderr = os.Stderr
	out, err := command.Output()
	imports := strings.Fields(string(out))
	return slices.DeleteFunc(imports, func(path string) bool { return !groupPackage.MatchString(path) }), err
}

// run runs the go command in the current directory.
func run(args ...string) error {
	command := exec.Command("go", args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}
