package integration_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(failingEtcdEnv); dir != "" {
		runUntilEtcdFails(dir)
		return
	}
	goleak.VerifyTestMain(m)
}
