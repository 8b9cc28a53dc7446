package integration_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dyingEnv); dir != "" {
		dieWithEtcd(dir)
		return
	}
	goleak.VerifyTestMain(m)
}
