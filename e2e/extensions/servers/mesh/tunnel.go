package main

import (
	"context"
	"crypto/tls"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"istio.io/istio/pkg/hbone"
)

// runServer serves HBONE: it connects each tunnel to the authority of its CONNECT, or to the address of -forward.
func runServer(args []string) error {
	flags := flag.NewFlagSet("server", flag.ExitOnError)
	credential := newCredential(flags)
	listen := flags.String("listen", "127.0.0.1:0", "address of the server")
	forward := flags.String("forward", "", "address that every tunnel leads to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := credential.start(); err != nil {
		return err
	}
	listener, err := tls.Listen("tcp", *listen, credential.config())
	if err != nil {
		return err
	}
	server := hbone.NewServer()
	tunnels := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event := map[string]any{"event": "connect", "method": r.Method, "authority": r.Host, "headers": r.Header}
		if r.TLS != nil {
			event["peer"] = identityOf(*r.TLS)
		}
		say(event)
		if *forward != "" {
			r.Host = *forward
		}
		tunnels.ServeHTTP(w, r)
	})
	say(map[string]any{"event": "listening", "address": listener.Addr().String()})
	return server.Serve(listener)
}

// runDial sends HTTP requests through an HBONE proxy to the host of the URL, and prints each outcome.
func runDial(args []string) error {
	flags := flag.NewFlagSet("dial", flag.ExitOnError)
	credential := newCredential(flags)
	proxy := flags.String("proxy", "", "address of the HBONE proxy")
	target := flags.String("target", "", "authority of the CONNECT; the host of the URL when empty")
	count := flags.Int("count", 1, "number of requests, one after the other")
	pause := flags.Duration("pause", 0, "pause between requests")
	isNew := flags.Bool("new", false, "whether each request opens a tunnel of its own")
	method := flags.String("method", http.MethodGet, "method of the requests")
	body := flags.String("body", "", "body of the requests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := credential.start(); err != nil {
		return err
	}
	dialer := hbone.NewDialer(hbone.Config{ProxyAddress: *proxy, TLS: credential.config()})
	client := &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: *isNew,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if *target != "" {
					address = *target
				}
				return dialer.DialContext(ctx, network, address)
			},
		},
	}
	for index := range *count {
		if index > 0 {
			time.Sleep(*pause)
		}
		say(exchange(client, *method, flags.Arg(0), *body))
	}
	return nil
}

func exchange(client *http.Client, method, url, body string) map[string]any {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return map[string]any{"event": "failed", "error": err.Error()}
	}
	response, err := client.Do(request)
	if err != nil {
		return map[string]any{"event": "failed", "error": err.Error()}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	event := map[string]any{
		"event": "response", "status": response.StatusCode, "headers": response.Header, "body": string(text),
	}
	if err != nil {
		event["error"] = err.Error()
	}
	return event
}
