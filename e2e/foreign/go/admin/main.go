// The admin API as a client in Go finds it, with what comes with the language: the same calls as `admin_client.py`.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"
)

type asked struct {
	Admin, Gateway, Token, Tailed, Expression, Broken string
	Paths                                             []string
}

type request struct {
	ID, Path string
	Status   int
	Reason   struct{ Policy string }
}

type list struct {
	Requests []request
	Next     *string
}

// caller asks one admin server; what goes wrong ends the program with its reason.
type caller struct {
	base   string
	client *http.Client
	header http.Header
}

func main() {
	var in asked
	must(json.Unmarshal([]byte(os.Args[1]), &in))
	jar, err := cookiejar.New(nil)
	must(err)
	stranger := caller{in.Admin, &http.Client{Timeout: time.Minute, Jar: jar}, http.Header{}}
	out := map[string]any{"entry": enter(stranger, in.Token)}
	admin := caller{in.Admin, &http.Client{Timeout: time.Minute}, bearer(in.Token)}
	gateway := caller{in.Gateway, &http.Client{Timeout: time.Minute}, http.Header{}}
	for _, path := range in.Paths {
		gateway.status(path, nil)
	}
	out["tailed"] = tail(admin, gateway, in.Tailed)
	limited := admin.list(url.Values{"outcome": {"limited"}}).Requests[0]
	var explanation struct {
		Headline  string
		DecidedBy struct{ Place struct{ Line int } }
	}
	admin.read("/api/requests/"+limited.ID+"/explain", &explanation)
	out["limited"] = []any{limited.Path, limited.Status, limited.Reason.Policy}
	out["explained"] = []any{explanation.Headline, explanation.DecidedBy.Place.Line}
	out["pages"] = pages(admin)
	out["chosen"] = pathsOf(admin.list(url.Values{"expression": {in.Expression}}))
	out["refused"] = admin.status("/api/requests?status=many", nil)
	out["downloaded"] = downloaded(admin)
	out["checked"] = checked(admin, in.Broken)
	out["sent"] = sent(admin, in.Paths[0])
	must(json.NewEncoder(os.Stdout).Encode(out))
}

// enter shows the token itself, then a session as a page has it.
func enter(stranger caller, token string) map[string]int {
	opened := stranger.send("POST", "/ui/session", nil, bearer(token), http.Header{"X-Portico-Same-Origin": {"1"}})
	var session struct{ Proof string }
	decode(opened, &session)
	rebound := bearer(token)
	rebound.Set("Host", "evil.example")
	unsaid := stranger.send("POST", "/api/config/check", []byte(`{"text":""}`), bearer(token))
	defer unsaid.Body.Close()
	return map[string]int{
		"other":   stranger.status("/api/state", bearer("other")),
		"token":   stranger.status("/api/state", bearer(token)),
		"cookie":  stranger.status("/api/state", nil),
		"session": stranger.status("/api/state", http.Header{"X-Portico-Session": {session.Proof}}),
		"rebound": stranger.status("/api/state", rebound),
		"unsaid":  unsaid.StatusCode,
	}
}

// pages lists two at a time, to the end.
func pages(admin caller) [][]string {
	found := [][]string{}
	query := url.Values{"limit": {"2"}}
	for {
		page := admin.list(query)
		found = append(found, pathsOf(page))
		if page.Next == nil {
			return found
		}
		query.Set("before", *page.Next)
	}
}

// tail is what the live tail tells of what is asked once it is open.
func tail(admin, gateway caller, path string) []string {
	stream := admin.send("GET", "/api/requests/stream?status=404", nil)
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), ": ready") {
	}
	gateway.status(path, nil)
	var batch list
	if !nextEvent(lines, &batch) {
		fail("the tail ended")
	}
	return pathsOf(batch)
}

func downloaded(admin caller) int {
	answer := admin.send("GET", "/api/requests/download", nil)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		var record map[string]any
		must(json.Unmarshal(lines.Bytes(), &record))
		if _, isWhole := record["requestHeaders"]; isWhole {
			count++
		}
	}
	return count
}

func checked(admin caller, text string) []int {
	body, err := json.Marshal(map[string]string{"text": text})
	must(err)
	var answer struct{ Problems []struct{ Line, Column int } }
	decode(admin.send("POST", "/api/config/check", body, http.Header{"X-Portico-Same-Origin": {"1"}}), &answer)
	return []int{answer.Problems[0].Line, answer.Problems[0].Column}
}

func sent(admin caller, path string) []any {
	var routes struct {
		Binds []struct {
			Key       string
			Listeners []struct{ Key string }
		}
	}
	admin.read("/api/routes", &routes)
	bind := routes.Binds[0]
	body, err := json.Marshal(map[string]string{
		"bind": bind.Key, "listener": bind.Listeners[0].Key, "method": "GET", "path": path,
	})
	must(err)
	stream := admin.send("POST", "/api/send", body, http.Header{"X-Portico-Same-Origin": {"1"}})
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	var text, last string
	status := 0
	record := request{}
	for {
		var event struct {
			Type, Text string
			Status     int
			Record     *request
		}
		if !nextEvent(lines, &event) {
			return []any{status, text, last, record.Path}
		}
		last = event.Type
		text += event.Text
		if event.Type == "head" {
			status = event.Status
		}
		if event.Record != nil {
			record = *event.Record
		}
	}
}

func nextEvent(lines *bufio.Scanner, into any) bool {
	for lines.Scan() {
		if data, isData := strings.CutPrefix(lines.Text(), "data: "); isData {
			must(json.Unmarshal([]byte(data), into))
			return true
		}
	}
	return false
}

func (c caller) list(query url.Values) (found list) {
	c.read("/api/requests?"+query.Encode(), &found)
	return found
}

func (c caller) read(path string, into any) {
	decode(c.send("GET", path, nil), into)
}

func (c caller) status(path string, header http.Header) int {
	answer := c.send("GET", path, nil, header)
	defer answer.Body.Close()
	_, err := io.Copy(io.Discard, answer.Body)
	must(err)
	return answer.StatusCode
}

func (c caller) send(method, path string, body []byte, more ...http.Header) *http.Response {
	made, err := http.NewRequest(method, c.base+path, bytes.NewReader(body))
	must(err)
	for _, header := range append([]http.Header{c.header}, more...) {
		for name, values := range header {
			made.Header[name] = values
		}
	}
	if body != nil {
		made.Header.Set("Content-Type", "application/json")
	}
	if host := made.Header.Get("Host"); host != "" {
		made.Host = host
	}
	answer, err := c.client.Do(made)
	must(err)
	return answer
}

func decode(answer *http.Response, into any) {
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		fail(fmt.Sprintf("%s: %s", answer.Request.URL, answer.Status))
	}
	must(json.NewDecoder(answer.Body).Decode(into))
}

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

func pathsOf(found list) []string {
	paths := []string{}
	for _, each := range found.Requests {
		paths = append(paths, each.Path)
	}
	return paths
}

func must(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(reason string) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}
