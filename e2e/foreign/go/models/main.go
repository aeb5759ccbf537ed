// Models by name through the OpenAI library for Go: lists, calls and streams, and errors of the library's own type.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type input struct {
	URL  string `json:"url"`
	Jobs []job  `json:"jobs"`
}

type job struct {
	// `listed`, `chat` or `streamed`.
	Call  string `json:"call"`
	Model string `json:"model"`
}

type output struct {
	Text   string `json:"text,omitempty"`
	Error  string `json:"error,omitempty"`
	Status int    `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	// The message of the error.
	Message string `json:"message,omitempty"`
}

func main() {
	var in input
	if err := json.Unmarshal([]byte(os.Args[1]), &in); err != nil {
		fail(err)
	}
	client := openai.NewClient(option.WithBaseURL(in.URL+"/v1/"), option.WithAPIKey("unused"), option.WithMaxRetries(0))
	results := []output{}
	for _, each := range in.Jobs {
		text, err := run(client, each)
		results = append(results, outputOf(text, err))
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fail(err)
	}
}

func run(client openai.Client, each job) (string, error) {
	ctx := context.Background()
	params := openai.ChatCompletionNewParams{
		Model:    each.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("text")},
	}
	switch each.Call {
	case "listed":
		page, err := client.Models.List(ctx)
		if err != nil {
			return "", err
		}
		names := []string{}
		for _, model := range page.Data {
			names = append(names, model.ID)
		}
		return strings.Join(names, " "), nil
	case "chat":
		answer, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return "", err
		}
		return answer.Choices[0].Message.Content, nil
	case "streamed":
		stream := client.Chat.Completions.NewStreaming(ctx, params)
		defer stream.Close()
		text := ""
		for stream.Next() {
			for _, choice := range stream.Current().Choices {
				text += choice.Delta.Content
			}
		}
		return text, stream.Err()
	}
	return "", fmt.Errorf("unknown call %s", each.Call)
}

func outputOf(text string, err error) output {
	var refused *openai.Error
	switch {
	case err == nil:
		return output{Text: text}
	case errors.As(err, &refused):
		return output{Error: "openai.Error", Status: refused.StatusCode, Code: refused.Code, Message: refused.Message}
	default:
		return output{Error: fmt.Sprintf("%T", err), Message: err.Error()}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
