package main

import (
	"context"
	"encoding/json"
	"errors"

	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/core"
	"github.com/cohere-ai/cohere-go/v2/option"
)

var documents = []string{"about cats", "about dogs", "about birds"}

func callCohere(each job) (any, error) {
	ctx := context.Background()
	client := cohereclient.NewClient(
		option.WithBaseURL(each.URL), option.WithToken(each.Key), option.WithMaxAttempts(1),
	)
	switch each.Call {
	case "rerank":
		answer, err := client.V2.Rerank(ctx, &cohere.V2RerankRequest{
			Model: each.Model, Query: "dogs", Documents: documents, TopN: cohere.Int(2),
		})
		if err != nil {
			return nil, err
		}
		results := [][]any{}
		for _, result := range answer.Results {
			results = append(results, []any{result.Index, result.RelevanceScore})
		}
		return map[string]any{"results": results, "units": *answer.Meta.BilledUnits.SearchUnits}, nil
	case "rerank_first_version":
		items := []*cohere.RerankRequestDocumentsItem{}
		for _, text := range documents {
			items = append(items, &cohere.RerankRequestDocumentsItem{RerankDocument: map[string]string{"text": text}})
		}
		answer, err := client.Rerank(ctx, &cohere.RerankRequest{
			Model: cohere.String(each.Model), Query: "dogs", Documents: items,
			TopN: cohere.Int(2), ReturnDocuments: cohere.Bool(true),
		})
		if err != nil {
			return nil, err
		}
		results := [][]any{}
		for _, result := range answer.Results {
			results = append(results, []any{result.Index, result.RelevanceScore, result.Document.Text})
		}
		return results, nil
	case "rerank_refused":
		return client.V2.Rerank(ctx, &cohere.V2RerankRequest{Model: each.Model, Query: "", Documents: documents})
	}
	return nil, unknownCall(each)
}

func cohereRefusal(err error) *refusal {
	var refused *core.APIError
	if !errors.As(err, &refused) {
		return nil
	}
	message := refused.Error()
	var bad *cohere.BadRequestError
	if errors.As(err, &bad) {
		if body, err := json.Marshal(bad.Body); err == nil {
			message = string(body)
		}
	}
	return &refusal{Status: refused.StatusCode, Message: message}
}
