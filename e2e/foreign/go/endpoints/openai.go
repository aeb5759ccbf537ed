package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

var (
	sound    = bytes.Repeat([]byte("s"), 100_000)
	pictures = [][]byte{[]byte("first picture"), []byte("second picture")}
	mask     = []byte("mask")
)

func file(content []byte, name string) io.Reader {
	return openai.File(bytes.NewReader(content), name, "application/octet-stream")
}

func callOpenai(each job) (any, error) {
	client := openai.NewClient(
		option.WithBaseURL(each.URL+"/v1/"), option.WithAPIKey(each.Key), option.WithMaxRetries(0),
	)
	prefix, _, _ := strings.Cut(each.Call, "_")
	switch prefix {
	case "image", "edit", "variation":
		return drawn(&client.Images, each)
	case "speech", "transcription", "translation":
		return heard(&client.Audio, each)
	case "moderation":
		return moderated(&client.Moderations, each)
	case "batch":
		return batched(&client, each)
	}
	return nil, unknownCall(each)
}

func drawn(images *openai.ImageService, each job) (any, error) {
	ctx := context.Background()
	generation := openai.ImageGenerateParams{Model: each.Model, Prompt: "a cat"}
	edit := openai.ImageEditParams{
		Model: each.Model, Prompt: "a hat",
		Image: openai.ImageEditParamsImageUnion{OfFile: file(pictures[0], "0.png")},
	}
	switch each.Call {
	case "image":
		generation.N = openai.Int(2)
		generation.Size = openai.ImageGenerateParamsSize1024x1024
		generation.User = openai.String("ann")
		answer, err := images.Generate(ctx, generation)
		return imagesAndTokens(answer, err)
	case "image_streamed":
		generation.PartialImages = openai.Int(1)
		stream := images.GenerateStreaming(ctx, generation)
		defer stream.Close()
		events := [][]string{}
		for stream.Next() {
			events = append(events, []string{stream.Current().Type, stream.Current().B64JSON})
		}
		return events, stream.Err()
	case "image_unknown":
		return images.Generate(ctx, generation, option.WithJSONSet("odd", "member"))
	case "edit":
		edit.Image = openai.ImageEditParamsImageUnion{
			OfFileArray: []io.Reader{file(pictures[0], "0.png"), file(pictures[1], "1.png")},
		}
		edit.Mask = file(mask, "mask.png")
		edit.Quality = openai.ImageEditParamsQualityHigh
		edit.N = openai.Int(1)
		answer, err := images.Edit(ctx, edit)
		return imagesAndTokens(answer, err)
	case "edit_streamed":
		edit.PartialImages = openai.Int(1)
		stream := images.EditStreaming(ctx, edit)
		defer stream.Close()
		events := [][]string{}
		for stream.Next() {
			events = append(events, []string{stream.Current().Type, stream.Current().B64JSON})
		}
		return events, stream.Err()
	case "edit_unknown":
		edit.SetExtraFields(map[string]any{"odd": "member"})
		return images.Edit(ctx, edit)
	case "variation":
		answer, err := images.NewVariation(ctx, openai.ImageNewVariationParams{
			Model: each.Model, Image: file(pictures[0], "0.png"), N: openai.Int(2),
			ResponseFormat: openai.ImageNewVariationParamsResponseFormatB64JSON,
		})
		if err != nil {
			return nil, err
		}
		return encodedImages(answer), nil
	}
	return nil, unknownCall(each)
}

func imagesAndTokens(answer *openai.ImagesResponse, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	tokens := []int64{answer.Usage.InputTokens, answer.Usage.OutputTokens}
	return map[string]any{"images": encodedImages(answer), "tokens": tokens}, nil
}

func encodedImages(answer *openai.ImagesResponse) []string {
	images := []string{}
	for _, image := range answer.Data {
		images = append(images, image.B64JSON)
	}
	return images
}

func heard(audio *openai.AudioService, each job) (any, error) {
	ctx := context.Background()
	speech := openai.AudioSpeechNewParams{
		Model: each.Model, Input: "Grüezi 🎉",
		Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
	}
	asked := openai.AudioTranscriptionNewParams{Model: each.Model, File: file(sound, "gespräch.mp3")}
	switch each.Call {
	case "speech":
		speech.Speed = openai.Float(1.5)
		content, err := bodyOf(audio.Speech.New(ctx, speech))
		return base64.StdEncoding.EncodeToString(content), err
	case "speech_events":
		speech.StreamFormat = openai.AudioSpeechNewParamsStreamFormatSSE
		speech.Instructions = openai.String("slowly")
		content, err := bodyOf(audio.Speech.New(ctx, speech))
		types := []string{}
		for _, found := range regexp.MustCompile(`(?m)^event: (.*)$`).FindAllSubmatch(content, -1) {
			types = append(types, string(found[1]))
		}
		return types, err
	case "transcription":
		asked.Language = openai.String("de")
		asked.Prompt = openai.String("names")
		answer, err := audio.Transcriptions.New(ctx, asked)
		if err != nil {
			return nil, err
		}
		return answer.Text, nil
	case "transcription_verbose":
		asked.ResponseFormat = openai.AudioResponseFormatVerboseJSON
		asked.TimestampGranularities = []string{"word", "segment"}
		asked.Temperature = openai.Float(0.5)
		answer, err := audio.Transcriptions.New(ctx, asked)
		if err != nil {
			return nil, err
		}
		return []any{answer.Text, answer.Duration}, nil
	case "transcription_captions":
		asked.ResponseFormat = openai.AudioResponseFormatSRT
		var response *http.Response
		_, err := audio.Transcriptions.New(ctx, asked, option.WithResponseBodyInto(&response))
		content, err := bodyOf(response, err)
		return string(content), err
	case "transcription_streamed":
		asked.Include = []openai.TranscriptionInclude{openai.TranscriptionIncludeLogprobs}
		stream := audio.Transcriptions.NewStreaming(ctx, asked)
		defer stream.Close()
		deltas := []string{}
		for stream.Next() {
			if event := stream.Current(); event.Type == "transcript.text.delta" {
				deltas = append(deltas, event.Delta)
			}
		}
		return deltas, stream.Err()
	case "transcription_unknown":
		asked.SetExtraFields(map[string]any{"odd": "member"})
		return audio.Transcriptions.New(ctx, asked)
	case "translation":
		answer, err := audio.Translations.New(ctx, openai.AudioTranslationNewParams{
			Model: each.Model, File: file(sound, "gespräch.mp3"),
		})
		if err != nil {
			return nil, err
		}
		return answer.Text, nil
	}
	return nil, unknownCall(each)
}

func bodyOf(response *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

func moderated(moderations *openai.ModerationService, each job) (any, error) {
	ctx := context.Background()
	asked := openai.ModerationNewParams{Model: each.Model}
	switch each.Call {
	case "moderation":
		asked.Input = openai.ModerationNewParamsInputUnion{OfStringArray: []string{"peace", "violence"}}
		answer, err := moderations.New(ctx, asked)
		if err != nil {
			return nil, err
		}
		results := [][]any{}
		for _, result := range answer.Results {
			results = append(results, []any{result.Flagged, result.Categories.Violence, result.CategoryScores.Violence})
		}
		return results, nil
	case "moderation_parts":
		asked.Input = openai.ModerationNewParamsInputUnion{
			OfModerationMultiModalArray: []openai.ModerationMultiModalInputUnionParam{
				openai.ModerationMultiModalInputParamOfText("violence"),
				openai.ModerationMultiModalInputParamOfImageURL(
					openai.ModerationImageURLInputImageURLParam{URL: "https://example.com/a.png"},
				),
			},
		}
		answer, err := moderations.New(ctx, asked)
		if err != nil {
			return nil, err
		}
		flags := []bool{}
		for _, result := range answer.Results {
			flags = append(flags, result.Flagged)
		}
		return flags, nil
	case "moderation_unknown":
		asked.Input = openai.ModerationNewParamsInputUnion{OfString: openai.String("peace")}
		return moderations.New(ctx, asked, option.WithJSONSet("odd", "member"))
	}
	return nil, unknownCall(each)
}

func openaiRefusal(err error) *refusal {
	var refused *openai.Error
	if !errors.As(err, &refused) {
		return nil
	}
	return &refusal{Status: refused.StatusCode, Message: refused.Message}
}

func batched(client *openai.Client, each job) (any, error) {
	ctx := context.Background()
	uploaded, err := upload(client, each.Model)
	if err != nil {
		return nil, err
	}
	asked := openai.BatchNewParams{
		InputFileID: uploaded.ID, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions,
		CompletionWindow: openai.BatchNewParamsCompletionWindow24h,
	}
	switch each.Call {
	case "batch":
		asked.Metadata = map[string]string{"team": "red"}
		return fromCreationToEnd(client, uploaded.ID, asked)
	case "batch_unknown":
		return client.Batches.New(ctx, asked, option.WithJSONSet("odd", "member"))
	}
	return nil, unknownCall(each)
}

func upload(client *openai.Client, model string) (*openai.FileObject, error) {
	lines := []string{}
	for _, name := range []string{"q0", "q1"} {
		messages := []map[string]string{{"role": "user", "content": "scene: text"}}
		line, err := json.Marshal(map[string]any{
			"custom_id": name, "method": "POST", "url": "/v1/chat/completions",
			"body": map[string]any{"model": model, "messages": messages},
		})
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(line)+"\n")
	}
	return client.Files.New(context.Background(), openai.FileNewParams{
		File:         file([]byte(strings.Join(lines, "")), "requests.jsonl"),
		Purpose:      openai.FilePurposeBatch,
		ExpiresAfter: openai.FileNewParamsExpiresAfter{Seconds: 3600},
	})
}

func fromCreationToEnd(client *openai.Client, name string, asked openai.BatchNewParams) (any, error) {
	ctx := context.Background()
	created, err := client.Batches.New(ctx, asked)
	if err != nil {
		return nil, err
	}
	got, err := client.Batches.Get(ctx, created.ID)
	if err != nil {
		return nil, err
	}
	results, err := bodyOf(client.Files.Content(ctx, got.OutputFileID))
	if err != nil {
		return nil, err
	}
	canceled, err := client.Batches.Cancel(ctx, got.ID)
	if err != nil {
		return nil, err
	}
	info, err := client.Files.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	deleted, err := client.Files.Delete(ctx, name)
	if err != nil {
		return nil, err
	}
	answers := [][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(results)), "\n") {
		var result struct {
			CustomID string `json:"custom_id"`
			Response struct {
				Body openai.ChatCompletion `json:"body"`
			} `json:"response"`
		}
		if err := json.Unmarshal([]byte(line), &result); err != nil {
			return nil, err
		}
		answers = append(answers, []string{result.CustomID, result.Response.Body.Choices[0].Message.Content})
	}
	return map[string]any{
		"statuses": []any{created.Status, got.Status, canceled.Status},
		"counts":   []int64{got.RequestCounts.Total, got.RequestCounts.Completed},
		"metadata": got.Metadata, "filename": info.Filename, "purpose": info.Purpose, "expires": info.ExpiresAt,
		"deleted": deleted.Deleted, "answers": answers,
	}, nil
}
