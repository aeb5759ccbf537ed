package main

import (
	"context"
	"errors"

	"google.golang.org/genai"
)

func callGoogle(each job) (any, error) {
	ctx := context.Background()
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: each.Key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: each.URL},
	})
	if err != nil {
		return nil, err
	}
	unknown := &genai.HTTPOptions{ExtraBody: map[string]any{"odd": "member"}}
	switch each.Call {
	case "generate":
		answer, err := client.Models.GenerateContent(ctx, each.Model, genai.Text("scene: system"),
			&genai.GenerateContentConfig{
				SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
				Temperature:       genai.Ptr[float32](0.5), MaxOutputTokens: 50,
			})
		if err != nil {
			return nil, err
		}
		usage := answer.UsageMetadata
		tokens := []int32{usage.PromptTokenCount, usage.CandidatesTokenCount}
		return map[string]any{"text": answer.Text(), "tokens": tokens}, nil
	case "generate_streamed":
		text := ""
		for chunk, err := range client.Models.GenerateContentStream(ctx, each.Model, genai.Text("scene: text"), nil) {
			if err != nil {
				return nil, err
			}
			text += chunk.Text()
		}
		return text, nil
	case "generate_unknown":
		return client.Models.GenerateContent(ctx, each.Model, genai.Text("scene: text"),
			&genai.GenerateContentConfig{HTTPOptions: unknown})
	case "generate_failed":
		return client.Models.GenerateContent(ctx, each.Model, genai.Text("scene: error-permission"), nil)
	case "count":
		answer, err := client.Models.CountTokens(ctx, each.Model, genai.Text("How many tokens are these?"), nil)
		if err != nil {
			return nil, err
		}
		return answer.TotalTokens > 3 && answer.TotalTokens < 100, nil
	case "embed":
		contents := append(genai.Text("one text"), genai.Text("another")...)
		return vectorsOf(client.Models.EmbedContent(ctx, each.Model, contents,
			&genai.EmbedContentConfig{OutputDimensionality: genai.Ptr[int32](6)}))
	case "embed_settings":
		return vectorsOf(client.Models.EmbedContent(ctx, each.Model, genai.Text("one text"),
			&genai.EmbedContentConfig{TaskType: "RETRIEVAL_DOCUMENT", Title: "One"}))
	case "embed_unknown":
		return client.Models.EmbedContent(ctx, each.Model, genai.Text("one text"),
			&genai.EmbedContentConfig{HTTPOptions: unknown})
	}
	return nil, unknownCall(each)
}

func vectorsOf(answer *genai.EmbedContentResponse, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	vectors := [][]float32{}
	for _, embedding := range answer.Embeddings {
		vectors = append(vectors, embedding.Values)
	}
	return vectors, nil
}

func googleRefusal(err error) *refusal {
	var refused genai.APIError
	if !errors.As(err, &refused) {
		return nil
	}
	return &refusal{Status: refused.Code, Message: refused.Message}
}
