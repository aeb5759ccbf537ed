// The Go SDK of MCP: what a client sees while one of several servers fails, and what it is asked.
// It takes one argument, its input as JSON, and prints one line of JSON, its result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type input struct {
	URL      string   `json:"url"`
	Version  string   `json:"version"`
	Failing  []string `json:"failing"`
	Echo     string   `json:"echo"`
	Progress string   `json:"progress"`
	Asking   []string `json:"asking"`
}

type failure struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

type output struct {
	Version    string     `json:"version"`
	Tools      []string   `json:"tools"`
	Errors     []*failure `json:"errors"`
	Echo       string     `json:"echo"`
	Progress   []float64  `json:"progress"`
	HadSession bool       `json:"hadSession"`
	Asked      []string   `json:"asked"`
}

func main() {
	found, err := run()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() (*output, error) {
	var asked input
	if err := json.Unmarshal([]byte(os.Args[1]), &asked); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()

	var lock sync.Mutex
	found := &output{Tools: []string{}, Errors: []*failure{}, Progress: []float64{}, Asked: []string{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: answerModel,
		ElicitationHandler:   answerPerson,
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			lock.Lock()
			defer lock.Unlock()
			found.Progress = append(found.Progress, request.Params.Progress)
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///home/test"})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: asked.URL}, &mcp.ClientSessionOptions{
		ProtocolVersion: asked.Version,
	})
	if err != nil {
		return nil, err
	}
	found.Version = session.InitializeResult().ProtocolVersion
	found.HadSession = session.ID() != ""

	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		found.Tools = append(found.Tools, tool.Name)
	}
	for _, name := range asked.Failing {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name})
		found.Errors = append(found.Errors, failureOf(err))
	}
	for _, name := range asked.Asking {
		answer, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name})
		if err != nil {
			return nil, err
		}
		found.Asked = append(found.Asked, textOf(answer))
	}
	if asked.Echo == "" {
		return found, session.Close()
	}
	echo, err := session.CallTool(ctx, &mcp.CallToolParams{Name: asked.Echo, Arguments: map[string]any{"message": "still here"}})
	if err != nil {
		return nil, err
	}
	found.Echo = textOf(echo)
	params := &mcp.CallToolParams{Name: asked.Progress}
	params.SetProgressToken("steps")
	if _, err := session.CallTool(ctx, params); err != nil {
		return nil, err
	}
	if err := session.Close(); err != nil {
		return nil, err
	}
	lock.Lock()
	defer lock.Unlock()
	return found, nil
}

func answerModel(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{Role: "assistant", Model: "test", Content: &mcp.TextContent{Text: "Paris"}}, nil
}

func answerPerson(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
}

func textOf(result *mcp.CallToolResult) string {
	if text, ok := result.Content[0].(*mcp.TextContent); ok {
		return text.Text
	}
	return ""
}

func failureOf(err error) *failure {
	var said *jsonrpc.Error
	if errors.As(err, &said) {
		return &failure{Code: said.Code, Message: said.Message}
	}
	if err != nil {
		return &failure{Message: err.Error()}
	}
	return nil
}
