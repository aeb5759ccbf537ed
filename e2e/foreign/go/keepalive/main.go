// A client that sends one POST after another on kept-alive connections, and counts those that get no response.
package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

type input struct {
	URL         string `json:"url"`
	Connections int    `json:"connections"`
	// Requests of all connections together; 0 goes on until connections are refused.
	Requests int `json:"requests"`
	// The longest pause between two requests of a connection, in microseconds.
	PauseMicros int `json:"pauseMicros"`
}

type result struct {
	Answered int            `json:"answered"`
	Failed   map[string]int `json:"failed"`
	// Different certificates that the server has shown.
	Certificates int `json:"certificates"`
	// Connections that a client could not open any more, before it had sent anything of a request.
	Refused int `json:"refused"`
	// Those of them that were reset and not refused: they came while the listener closed.
	Reset int `json:"reset"`
}

func main() {
	var asked input
	if err := json.Unmarshal([]byte(os.Args[1]), &asked); err != nil {
		panic(err)
	}
	total := result{Failed: map[string]int{}}
	serials := map[string]bool{}
	var mutex sync.Mutex
	var all sync.WaitGroup
	for i := 0; i < asked.Connections; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			run(asked, func(serial string, err error) bool {
				mutex.Lock()
				defer mutex.Unlock()
				switch {
				case err == nil:
					total.Answered++
					serials[serial] = true
				case asked.Requests == 0 && errors.Is(err, errNotOpened):
					total.Refused++
					if errors.Is(err, syscall.ECONNRESET) {
						total.Reset++
					}
					return false
				default:
					total.Failed[fmt.Sprint(err)]++
				}
				return true
			})
		}()
	}
	all.Wait()
	total.Certificates = len(serials)
	if err := json.NewEncoder(os.Stdout).Encode(total); err != nil {
		panic(err)
	}
}

// run sends the requests of one connection. A POST is never sent again by net/http, so every lost one is an error.
func run(asked input, tell func(serial string, err error) bool) {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		MaxConnsPerHost: 1,
	}
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	for sent := 0; asked.Requests == 0 || sent < asked.Requests/asked.Connections; sent++ {
		serial, err := post(client, asked.URL)
		if !tell(serial, err) {
			return
		}
		time.Sleep(time.Duration(rand.Intn(asked.PauseMicros+1)) * time.Microsecond)
	}
}

// errNotOpened is a connection that was refused, or reset before its handshake was complete, as by a listener that closes.
var errNotOpened = errors.New("not opened")

func post(client *http.Client, url string) (string, error) {
	opened := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { opened = true }}
	request, err := http.NewRequest("POST", url, strings.NewReader("hello"))
	if err != nil {
		return "", err
	}
	request.Header.Set("content-type", "text/plain")
	response, err := client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if err != nil {
		if !opened && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)) {
			return "", errors.Join(errNotOpened, err)
		}
		// The address differs from run to run.
		var inner interface{ Unwrap() error }
		if errors.As(err, &inner) {
			return "", inner.Unwrap()
		}
		return "", err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return "", err
	}
	if response.StatusCode != 200 {
		return "", fmt.Errorf("status %d", response.StatusCode)
	}
	if response.TLS == nil {
		return "", nil
	}
	return response.TLS.PeerCertificates[0].SerialNumber.String(), nil
}
