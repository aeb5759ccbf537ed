// An HTTP/2 backend of Go's net/http, in plain text or over TLS, for the HTTP/2 client of the gateway.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
)

type input struct {
	// Files; plain text without them.
	Cert string `json:"cert"`
	Key  string `json:"key"`
	// Streams at a time on one connection.
	MaxStreams int `json:"maxStreams"`
}

func main() {
	var given input
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/bytes", bytes)
	mux.HandleFunc("/cut", cut)
	mux.HandleFunc("/early", early)
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler:   mux,
		Protocols: &protocols,
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: given.MaxStreams},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if given.Cert == "" {
		err = server.Serve(listener)
	} else {
		err = server.ServeTLS(listener, given.Cert, given.Key)
	}
	panic(err)
}

// echo sends the body back as it comes; the hash of it follows as a trailer.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("trailer", "x-hash")
	w.Header().Set("x-protocol", r.Proto)
	w.WriteHeader(http.StatusOK)
	hash := sha256.New()
	buffer := make([]byte, 32*1024)
	for {
		n, err := r.Body.Read(buffer)
		hash.Write(buffer[:n])
		w.Write(buffer[:n])
		w.(http.Flusher).Flush()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	w.Header().Set("x-hash", hex.EncodeToString(hash.Sum(nil)))
}

// bytes sends as many bytes as it is asked for, and announces them.
func bytes(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	w.Header().Set("content-length", strconv.Itoa(n))
	w.Write(make([]byte, n))
}

// cut ends a response in its middle.
func cut(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, "half")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// early answers before it has read the request.
func early(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	io.WriteString(w, "too large")
}
