// The vendors' libraries for Go on endpoints that are no chats: what each call returned, or the error that it raised.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type job struct {
	Library string `json:"library"`
	Call    string `json:"call"`
	URL     string `json:"url"`
	Key     string `json:"key"`
	Model   string `json:"model"`
}

type outcome struct {
	Value any      `json:"value,omitempty"`
	Error *refusal `json:"error,omitempty"`
}

// refusal is an error response as the library read it.
type refusal struct {
	Status  int    `json:"status"`
	Message string `json:"message"`
}

func main() {
	var in struct {
		Jobs []job `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(os.Args[1]), &in); err != nil {
		fail(err)
	}
	outcomes := []outcome{}
	for _, each := range in.Jobs {
		outcomes = append(outcomes, run(each))
	}
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		fail(err)
	}
}

func run(each job) outcome {
	var value any
	var err error
	var refused *refusal
	switch each.Library {
	case "openai":
		value, err = callOpenai(each)
		refused = openaiRefusal(err)
	case "anthropic":
		value, err = callAnthropic(each)
		refused = anthropicRefusal(err)
	case "google":
		value, err = callGoogle(each)
		refused = googleRefusal(err)
	case "cohere":
		value, err = callCohere(each)
		refused = cohereRefusal(err)
	default:
		err = fmt.Errorf("no library %s", each.Library)
	}
	if err == nil {
		return outcome{Value: value}
	}
	if refused == nil {
		fail(fmt.Errorf("%s %s: %w", each.Library, each.Call, err))
	}
	return outcome{Error: refused}
}

func unknownCall(each job) error {
	return fmt.Errorf("no call %s of %s", each.Call, each.Library)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
