package command

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/server"

	"github.com/urfave/cli/v2"
)

// healthTimeout bounds the whole check, in real time.
const healthTimeout = 4 * time.Second

func commandHealth() *cli.Command {
	return &cli.Command{
		Name: "health", Usage: "report whether a server is ready: exit code 0 if it is, 1 if not",
		Description: "Requests /readyz at the address of serve: --addr or BLUEPRINTD_ADDR. The container image uses it as its health check.\n" +
			"Without --url, tries both HTTP and HTTPS. The certificate is verified unless the host is localhost, 127.0.0.1 or ::1.",
		UsageText: "blueprintd health\nblueprintd health --url https://flows.example.org",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: defaultAddr, Usage: "`HOST:PORT` of the server, as given to serve"},
			&cli.StringFlag{Name: "url", Usage: "check the server at this `URL` instead", EnvVars: noVariable},
		},
		Action: health,
	}
}

func health(c *cli.Context) error {
	ctx, end := context.WithTimeout(c.Context, healthTimeout)
	defer end()
	where, err := healthURL(c)
	if err != nil {
		return err
	}
	status, err := readyStatus(ctx, where)
	if err != nil && c.String("url") == "" {
		other := "https://" + strings.TrimPrefix(where, "http://")
		if strings.HasPrefix(where, "https://") {
			other = "http://" + strings.TrimPrefix(where, "https://")
		}
		if otherStatus, otherErr := readyStatus(ctx, other); otherErr == nil {
			status, err = otherStatus, nil
		}
	}
	switch {
	case err != nil:
		return blueprint.Hinted("start it with blueprintd serve, or name its address with --addr or --url", "%s does not answer: %s", where, fileio.Cause(err))
	case status != "ready":
		return blueprint.Hinted("wait for it to start or stop", "%s is %s", where, status)
	}
	_, err = fmt.Fprintln(c.App.Writer, where+" is ready")
	return err
}

// healthURL returns the address to check. A server that listens on all addresses of the
// machine is reached at the loopback one.
func healthURL(c *cli.Context) (string, error) {
	if text := c.String("url"); text != "" {
		if onLine(c, "addr") {
			return "", exclude("--addr and --url name two addresses")
		}
		where, err := url.Parse(text)
		if err != nil || where.Host == "" || where.Scheme != "http" && where.Scheme != "https" {
			return "", usage("--url http://127.0.0.1:8787", "%s %s: write an http or https address", given(c, "url"), text)
		}
		return where.Scheme + "://" + where.Host, nil
	}
	address, err := parseAddr(c, "addr", defaultAddr)
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "0" {
		return "", usage("--url http://127.0.0.1:8787", "%s %s: read the port that the server chose from its ready file", given(c, "addr"), c.String("addr"))
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	scheme := "http://"
	if os.Getenv(variableOf("tls-cert")) != "" || os.Getenv(variableOf("acme-domain")) != "" {
		scheme = "https://" // serve reads the same variables
	}
	return scheme + net.JoinHostPort(host, port), nil
}

// readyStatus returns the status that a server reports at /readyz.
func readyStatus(ctx context.Context, where string) (string, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	parsed, err := url.Parse(where)
	if err != nil {
		return "", err
	}
	// The loopback interface cannot be intercepted, and certificates are for other names.
	ip, err := netip.ParseAddr(parsed.Hostname())
	config.InsecureSkipVerify = parsed.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if domain, _, _ := strings.Cut(os.Getenv(variableOf("acme-domain")), ","); config.InsecureSkipVerify {
		config.ServerName = domain // selects the certificate
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true} // without a proxy
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where+"/readyz", nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return "", err
	}
	var readiness server.Readiness
	if json.Unmarshal(body, &readiness) != nil || readiness.Status == "" {
		return "", fmt.Errorf("HTTP %d, which is not a response of blueprintd", response.StatusCode)
	}
	return readiness.Status, nil
}
