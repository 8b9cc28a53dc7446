// Package chrome drives a headless Chromium and collects the errors of its pages.
package chrome

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// names are the names of Chromium in PATH.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Find returns the path of Chromium, "" if there is none.
func Find() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Browser is a running Chromium. It ends with the context of Start.
type Browser struct{ ctx context.Context }

// startTimeout is the time within which Chromium must start, also on a busy machine.
const startTimeout = 10 * time.Minute

// Start starts Chromium. The caller must call stop.
func Start(ctx context.Context, path string) (browser *Browser, stop func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("hide-scrollbars", false),
		chromedp.IgnoreCertErrors, chromedp.WSURLReadTimeout(startTimeout))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(ctx, options...)
	ctx, stopBrowser := chromedp.NewContext(allocator)
	stop = func() {
		_ = chromedp.Cancel(ctx) // waits for the end of the process
		stopBrowser()
		stopAllocator()
	}
	if err := chromedp.Run(ctx); err != nil {
		stop()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &Browser{ctx}, stop, nil
}

// Tab is a tab. All tabs of a browser share their localStorage.
type Tab struct {
	ctx context.Context

	mu       sync.Mutex // guards problems
	problems []string
}

// Open opens a tab. The caller must call the second result.
func (b *Browser) Open() (tab *Tab, close func(), err error) {
	ctx, cancel := chromedp.NewContext(b.ctx)
	tab = &Tab{ctx: ctx}
	chromedp.ListenTarget(ctx, tab.observe)
	if err := chromedp.Run(ctx, log.Enable(), runtime.Enable(), page.BringToFront()); err != nil {
		cancel()
		return nil, nil, err
	}
	return tab, cancel, nil
}

// observe collects exceptions, errors and warnings of the console, and errors of the browser such
// as violations of the Content-Security-Policy and failed requests.
func (t *Tab) observe(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning || e.Type == runtime.APITypeAssert {
			problem = "console"
			for _, argument := range e.Args {
				problem += " " + argument.Description + string(argument.Value)
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			problem = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
	if problem != "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.problems = append(t.problems, problem)
	}
}

// Problems returns the errors so far and forgets them.
func (t *Tab) Problems() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	problems := t.problems
	t.problems = nil
	return problems
}

// Run performs actions in the tab until ctx ends.
func (t *Tab) Run(ctx context.Context, actions ...chromedp.Action) error {
	bounded, cancel := context.WithCancel(t.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return chromedp.Run(bounded, actions...)
}
