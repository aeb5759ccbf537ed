// Counterparts of a gateway in an Istio mesh: the certificate authority, an HBONE server and an HBONE client.
//
//	mesh ca -listen 127.0.0.1:15012 -state DIR -tokens FILE -ttl 1h
//	mesh server -listen 127.0.0.1:15008 -ca 127.0.0.1:15012 -token TEXT -root FILE
//	mesh dial -proxy 127.0.0.1:15008 -ca 127.0.0.1:15012 -token TEXT -root FILE URL
//
// Every event is one line of JSON on standard output.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

func main() {
	commands := map[string]func([]string) error{"ca": runCA, "server": runServer, "dial": runDial}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: mesh ca|server|dial [flags]")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var output sync.Mutex

// say prints an event as a line of JSON.
func say(event map[string]any) {
	output.Lock()
	defer output.Unlock()
	_ = json.NewEncoder(os.Stdout).Encode(event)
}
