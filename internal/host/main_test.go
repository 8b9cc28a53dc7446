package host_test

import (
	"os"
	"testing"

	"github.com/miniapi/miniapi/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }
