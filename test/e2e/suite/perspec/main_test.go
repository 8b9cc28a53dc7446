package perspec_test

import (
	"os"
	"testing"

	"github.com/miniapi/miniapi/test/e2e/command"
)

func TestMain(m *testing.M) { os.Exit(command.Run(m)) }
