package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

func callAnthropic(each job) (any, error) {
	ctx := context.Background()
	client := anthropic.NewClient(
		option.WithBaseURL(each.URL), option.WithAuthToken(each.Key), option.WithMaxRetries(0),
	)
	batches := &client.Messages.Batches
	switch each.Call {
	case "batch":
		return messageBatch(batches, each.Model)
	case "batch_beta":
		return betaMessageBatch(&client.Beta.Messages.Batches, each.Model)
	case "batch_unknown":
		odd := requestOf("q0", each.Model)
		odd.Params.SetExtraFields(map[string]any{"odd": "member"})
		created, err := batches.New(ctx, anthropic.MessageBatchNewParams{
			Requests: []anthropic.MessageBatchNewParamsRequest{odd},
		})
		if err != nil {
			return nil, err
		}
		return resultsOf(batches, created.ID)
	case "batch_unknown_member":
		return batches.New(ctx, anthropic.MessageBatchNewParams{
			Requests: []anthropic.MessageBatchNewParamsRequest{requestOf("q0", each.Model)},
		}, option.WithJSONSet("odd", "member"))
	case "batches":
		return batches.List(ctx, anthropic.MessageBatchListParams{Limit: anthropic.Int(5)})
	}
	return nil, unknownCall(each)
}

func requestOf(name, model string) anthropic.MessageBatchNewParamsRequest {
	return anthropic.MessageBatchNewParamsRequest{
		CustomID: name,
		Params: anthropic.MessageBatchNewParamsRequestParams{
			Model: anthropic.Model(model), MaxTokens: 50,
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("scene: text"))},
		},
	}
}

func messageBatch(batches *anthropic.MessageBatchService, model string) (any, error) {
	ctx := context.Background()
	created, err := batches.New(ctx, anthropic.MessageBatchNewParams{
		Requests: []anthropic.MessageBatchNewParamsRequest{requestOf("q0", model), requestOf("q1", model)},
	})
	if err != nil {
		return nil, err
	}
	got, err := batches.Get(ctx, created.ID, anthropic.MessageBatchGetParams{})
	if err != nil {
		return nil, err
	}
	results, err := resultsOf(batches, got.ID)
	if err != nil {
		return nil, err
	}
	canceled, err := batches.Cancel(ctx, got.ID, anthropic.MessageBatchCancelParams{})
	if err != nil {
		return nil, err
	}
	deleted, err := batches.Delete(ctx, got.ID, anthropic.MessageBatchDeleteParams{})
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"statuses":   []any{created.ProcessingStatus, got.ProcessingStatus, canceled.ProcessingStatus},
		"processing": created.RequestCounts.Processing, "results": results, "type": deleted.Type,
	}, nil
}

func resultsOf(batches *anthropic.MessageBatchService, name string) ([][]string, error) {
	stream := batches.ResultsStreaming(context.Background(), name, anthropic.MessageBatchResultsParams{})
	defer stream.Close()
	results := [][]string{}
	for stream.Next() {
		each := stream.Current()
		text := each.Result.Error.Error.Message
		if each.Result.Type == "succeeded" {
			text = each.Result.Message.Content[0].Text
		}
		results = append(results, []string{each.CustomID, text})
	}
	return results, stream.Err()
}

func betaMessageBatch(batches *anthropic.BetaMessageBatchService, model string) (any, error) {
	ctx := context.Background()
	requests := []anthropic.BetaMessageBatchNewParamsRequest{}
	for _, name := range []string{"q0", "q1"} {
		requests = append(requests, anthropic.BetaMessageBatchNewParamsRequest{
			CustomID: name,
			Params: anthropic.BetaMessageBatchNewParamsRequestParams{
				Model: anthropic.Model(model), MaxTokens: 50,
				Messages: []anthropic.BetaMessageParam{
					anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("scene: text")),
				},
			},
		})
	}
	created, err := batches.New(ctx, anthropic.BetaMessageBatchNewParams{Requests: requests})
	if err != nil {
		return nil, err
	}
	got, err := batches.Get(ctx, created.ID, anthropic.BetaMessageBatchGetParams{})
	if err != nil {
		return nil, err
	}
	stream := batches.ResultsStreaming(ctx, got.ID, anthropic.BetaMessageBatchResultsParams{})
	defer stream.Close()
	results := [][]string{}
	for stream.Next() {
		each := stream.Current()
		results = append(results, []string{each.CustomID, each.Result.Message.Content[0].Text})
	}
	if stream.Err() != nil {
		return nil, stream.Err()
	}
	canceled, err := batches.Cancel(ctx, got.ID, anthropic.BetaMessageBatchCancelParams{})
	if err != nil {
		return nil, err
	}
	deleted, err := batches.Delete(ctx, got.ID, anthropic.BetaMessageBatchDeleteParams{})
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"statuses":   []any{created.ProcessingStatus, got.ProcessingStatus, canceled.ProcessingStatus},
		"processing": created.RequestCounts.Processing, "results": results, "type": deleted.Type,
	}, nil
}

func anthropicRefusal(err error) *refusal {
	var refused *anthropic.Error
	if !errors.As(err, &refused) {
		return nil
	}
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(refused.RawJSON()), &body) != nil {
		return nil
	}
	return &refusal{Status: refused.StatusCode, Message: body.Error.Message}
}
