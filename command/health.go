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

// healthPatience is how long the health of a server may take to tell, in real
// time.
const healthPatience = 4 * time.Second

func commandHealth() *cli.Command {
	return &cli.Command{
		Name: "health", Usage: "ask the server on this machine whether it takes work: exit code 0 when it does, 1 when not",
		Description: "Asks /readyz where serve listens with the same --addr or BLUEPRINTD_ADDR; it is what the container image checks itself with.\n" +
			"Without --url it tries TLS as well where plain HTTP is not answered. A certificate is not verified at localhost, 127.0.0.1 and\n" +
			"::1, since it is for a name that others use; at any other address it is.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8787", Usage: "the `HOST:PORT` that serve was given"},
			&cli.StringFlag{Name: "url", Usage: "ask the server at this `URL` instead", EnvVars: noVariable},
		},
		Action: health,
	}
}

func health(c *cli.Context) error {
	ctx, end := context.WithTimeout(c.Context, healthPatience)
	defer end()
	where, err := healthURL(c)
	if err != nil {
		return err
	}
	answer, err := askReady(ctx, where, c.String("url") == "")
	switch {
	case err != nil:
		return blueprint.Hinted("blueprintd serve runs a server; --addr HOST:PORT or --url says where it is", "%s does not answer: %s", where, fileio.Cause(err))
	case answer != "ready":
		return blueprint.Hinted("it finishes its start or its end; ask again", "%s is %s", where, answer)
	}
	_, err = fmt.Fprintln(c.App.Writer, where+" is ready")
	return err
}

// healthURL says where to ask. What stands for all addresses of the machine is
// reached at the first of them.
func healthURL(c *cli.Context) (string, error) {
	if text := c.String("url"); text != "" {
		if onLine(c, "addr") {
			return "", usage("leave one of them out", "--addr and --url name two places")
		}
		where, err := url.Parse(text)
		if err != nil || where.Host == "" || where.Scheme != "http" && where.Scheme != "https" {
			return "", usage("--url http://127.0.0.1:8787", "%s %s: is no address of a server", given(c, "url"), text)
		}
		return where.Scheme + "://" + where.Host, nil
	}
	address, err := parseAddr(c, "addr", "127.0.0.1:8787")
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "0" {
		return "", usage("--url http://127.0.0.1:8787", "%s %s: which port the server chose stands in its ready file", given(c, "addr"), c.String("addr"))
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	scheme := "http://"
	if os.Getenv(variableOf("tls-cert")) != "" || os.Getenv(variableOf("acme-domain")) != "" {
		scheme = "https://" // as serve reads it too
	}
	return scheme + net.JoinHostPort(host, port), nil
}

// askReady returns the status that a server tells of itself. Whether it speaks TLS
// is found by trying, if both will do.
func askReady(ctx context.Context, where string, both bool) (string, error) {
	status, err := readyStatus(ctx, where)
	if both && err != nil {
		other := "https://" + strings.TrimPrefix(where, "http://")
		if strings.HasPrefix(where, "https://") {
			other = "http://" + strings.TrimPrefix(where, "https://")
		}
		if told, otherErr := readyStatus(ctx, other); otherErr == nil {
			return told, nil
		}
	}
	return status, err
}

func readyStatus(ctx context.Context, where string) (string, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	parsed, err := url.Parse(where)
	if err != nil {
		return "", err
	}
	// On this machine nobody stands between, and certificates are for names.
	ip, err := netip.ParseAddr(parsed.Hostname())
	config.InsecureSkipVerify = parsed.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if domain, _, _ := strings.Cut(os.Getenv(variableOf("acme-domain")), ","); config.InsecureSkipVerify {
		config.ServerName = domain // by which the server finds its certificate
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true} // and no proxy
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
	var told server.Readiness
	if json.Unmarshal(body, &told) != nil || told.Status == "" {
		return "", fmt.Errorf("HTTP %d, which is no answer of blueprintd", response.StatusCode)
	}
	return told.Status, nil
}
