package integration_test

import (
	"os"
	"testing"

	"github.com/miniapi/miniapi/internal/leaktest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(failingEtcdEnv); dir != "" {
		runUntilEtcdFails(dir)
		return
	}
	os.Exit(leaktest.Run(m))
}
