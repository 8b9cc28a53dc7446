// Command screenshots draws the pictures of docs/page.md in the folder of its argument.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/test/e2e/browser/chrome"
	"github.com/miniapi/miniapi/test/e2e/browser/scene"
)

// picture is one screenshot.
type picture struct {
	name, route, scheme string
	// ready is the selector of an element that shows that the view is complete.
	ready string
	// before are actions on the complete view.
	before []chromedp.Action
}

func pictures() []picture {
	return []picture{
		{name: "objects", route: "#/objects/apps/v1/deployments", scheme: "light", ready: ".grid tbody tr:nth-child(7)"},
		{name: "timeline", route: "#/object/apps/v1/deployments/shop/web/timeline", scheme: "light", ready: ".diff ins"},
		{name: "conflicts", route: "#/conflicts", scheme: "dark", ready: ".grid tbody tr", before: []chromedp.Action{
			chromedp.Click(".grid tbody tr td:nth-child(2)", chromedp.ByQuery), chromedp.WaitVisible(".detail table", chromedp.ByQuery),
		}},
		{name: "faults", route: "#/faults", scheme: "light", ready: "#switch-short-watches", before: []chromedp.Action{
			chromedp.Click("#switch-short-watches", chromedp.ByQuery), chromedp.WaitVisible("#switch-short-watches[aria-checked=true]", chromedp.ByQuery),
		}},
		{name: "requests", route: "#/requests", scheme: "dark", ready: ".grid tbody tr", before: []chromedp.Action{
			chromedp.Sleep(time.Minute), // for the graph
		}},
	}
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) != 2 {
		return errors.New("usage: screenshots FOLDER")
	}
	server, err := miniapi.Start(ctx, miniapi.Config{TestAPIs: true, UI: true})
	if err != nil {
		return err
	}
	defer server.Stop(context.Background())
	if err := scene.Play(ctx, server.RESTConfig()); err != nil {
		return err
	}
	client, err := scene.Client(server.RESTConfig(), "deploy-bot/2.1")
	if err != nil {
		return err
	}
	watch, err := client.AppsV1().Deployments("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watch.Stop()
	browser, stop, err := chrome.Start(ctx, chrome.Find())
	if err != nil {
		return err
	}
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	traffic := make(chan error, 1)
	go func() { traffic <- scene.Traffic(ctx, server.RESTConfig()) }() // ends with ctx
	for _, p := range pictures() {
		if err := draw(ctx, browser, server.PlainURL(), p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	cancel()
	return <-traffic
}

func draw(ctx context.Context, browser *chrome.Browser, url string, p picture) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tab, closeTab, err := browser.Open()
	if err != nil {
		return err
	}
	defer closeTab()
	scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: p.scheme}}
	actions := []chromedp.Action{
		chromedp.EmulateViewport(1280, 720), emulation.SetEmulatedMedia().WithFeatures(scheme),
		chromedp.Navigate(url + "/ui/" + p.route), chromedp.WaitVisible(p.ready, chromedp.ByQuery), chromedp.WaitVisible("#status dd", chromedp.ByQuery),
	}
	actions = append(actions, p.before...)
	var image []byte
	actions = append(actions, chromedp.Sleep(500*time.Millisecond), chromedp.CaptureScreenshot(&image))
	if err := tab.Run(ctx, actions...); err != nil {
		return errors.Join(err, errors.New(strings.Join(tab.Problems(), "\n")))
	}
	if problems := tab.Problems(); len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	if image, err = withPalette(image); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(os.Args[1], "page-"+p.name+".png"), image, 0o644)
}
