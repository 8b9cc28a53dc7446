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
)

// packages lists the packages with the types of the API.
var packages = []string{
	"k8s.io/api/admissionregistration/v1",
	"k8s.io/api/apps/v1",
	"k8s.io/api/authentication/v1",
	"k8s.io/api/authorization/v1",
	"k8s.io/api/autoscaling/v1",
	"k8s.io/api/autoscaling/v2",
	"k8s.io/api/batch/v1",
	"k8s.io/api/certificates/v1",
	"k8s.io/api/coordination/v1",
	"k8s.io/api/core/v1",
	"k8s.io/api/discovery/v1",
	"k8s.io/api/events/v1",
	"k8s.io/api/flowcontrol/v1",
	"k8s.io/api/networking/v1",
	"k8s.io/api/node/v1",
	"k8s.io/api/policy/v1",
	"k8s.io/api/rbac/v1",
	"k8s.io/api/resource/v1",
	"k8s.io/api/scheduling/v1",
	"k8s.io/api/scheduling/v1alpha3", // for Job
	"k8s.io/api/storage/v1",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
	"k8s.io/apimachinery/pkg/api/resource",
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/util/intstr",
	"k8s.io/apimachinery/pkg/version",
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1",
}

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
	if err := run(append(args, packages...)...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(filepath.Join("dump", generated))) }()
	return run("run", "-tags", "generated", "./dump", target)
}

// run runs the go command in the current directory.
func run(args ...string) error {
	command := exec.Command("go", args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}
