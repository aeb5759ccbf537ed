import { z } from 'zod'
import { eventMessage } from '../../../../chat/src/testing/event-stream-message.ts'
import { invalid, VendorRefusal } from './answer.ts'
import { messagesAnswer } from './anthropic.ts'
import type { ParsedRequest } from './parsed-request.ts'
import { check } from './check.ts'
import { bedrockFailure, converseReply, converseStream } from './formats/converse-reply.ts'
import { bedrockComplaints, readConverse } from './formats/converse-request.ts'
import { tokensOf, vectorOf } from './formats/embeddings.ts'
import { readInvokedMessages } from './formats/messages-request.ts'
import { type FakeReply, type FakeRequest, headerOf, json, type Vendor } from './reply.ts'
import { play, USAGE } from './scenes.ts'
import { type AwsKeys, isSignedWith } from './sigv4.ts'

export const BEDROCK_KEYS: AwsKeys = { accessKeyId: 'AKIDFAKE', secretAccessKey: 'fake+secret/key' }
export const BEDROCK_TOKEN = 'bedrock-api-key-fake'

export function bedrockVendor(): Vendor {
  return {
    name: 'bedrock',
    answer(request, saw) {
      const isBearer = headerOf(request, 'authorization') === `Bearer ${BEDROCK_TOKEN}`
      if (!isBearer && !isSignedWith(request, BEDROCK_KEYS)) {
        throw new VendorRefusal({
          kind: 'authentication',
          message: 'The request signature we calculated does not match the signature you provided.',
        })
      }
      const [, model, operation] = /^\/model\/([^/]+)\/([a-z-]+)$/.exec(request.path) ?? []
      if (request.method !== 'POST' || model === undefined) throw notFound(request)
      return operate(request, { model: decodeURIComponent(model), operation: operation ?? '' }, saw)
    },
    fail: bedrockFailure,
  }
}

function operate(
  request: FakeRequest,
  { model, operation }: { model: string; operation: string },
  saw: (asked: ParsedRequest) => void,
): FakeReply {
  switch (operation) {
    case 'converse':
    case 'converse-stream': {
      const isStream = operation === 'converse-stream'
      const asked = readConverse(request.body, model, isStream)
      saw(asked)
      const answer = play(asked)
      if (isStream) return converseStream(answer)
      if (answer.failure !== undefined) throw new VendorRefusal(answer.failure)
      return converseReply(answer)
    }
    case 'count-tokens': {
      const { input } = check(countSchema, request.body, bedrockComplaints)
      const counted =
        'invokeModel' in input
          ? Buffer.from(input.invokeModel.body, 'base64').toString()
          : JSON.stringify(input.converse)
      return json({ inputTokens: tokensOf([counted]) })
    }
    case 'invoke':
      return model.includes('anthropic.claude') ? invokeClaude(request, model, saw) : embed(request, model)
    case 'invoke-with-response-stream':
      return streamClaude(request, model, saw)
    default:
      throw notFound(request)
  }
}

function invokeClaude(request: FakeRequest, model: string, saw: (asked: ParsedRequest) => void): FakeReply {
  return messagesAnswer(readInvokedMessages(request.body, model, false), saw)
}

/** Each event of the Messages stream is wrapped; the last one says what AWS counted. */
function streamClaude(request: FakeRequest, model: string, saw: (asked: ParsedRequest) => void): FakeReply {
  const { frames } = messagesAnswer(readInvokedMessages(request.body, model, true), saw)
  const events = frames.map((frame) => {
    const event: Record<string, unknown> = JSON.parse(/^data: (.*)$/m.exec(frame.toString())?.[1] ?? '')
    const { input, cacheRead, cacheWrite, output } = USAGE
    const metrics = {
      inputTokenCount: input - cacheRead - cacheWrite,
      outputTokenCount: output,
      cacheReadInputTokenCount: cacheRead,
      cacheWriteInputTokenCount: cacheWrite,
      invocationLatency: 12,
      firstByteLatency: 3,
    }
    return event['type'] === 'message_stop' ? { ...event, 'amazon-bedrock-invocationMetrics': metrics } : event
  })
  return {
    status: 200,
    headers: {
      'content-type': 'application/vnd.amazon.eventstream',
      'x-amzn-bedrock-content-type': 'application/json',
    },
    frames: events.map((event) =>
      eventMessage('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') }),
    ),
  }
}

/** Each family of embedding models has a body of its own. */
function embed(request: FakeRequest, model: string): FakeReply {
  if (model.startsWith('amazon.titan-embed')) {
    const { inputText, dimensions } = check(titanSchema, request.body, bedrockComplaints)
    const tokens = tokensOf([inputText])
    return json(
      { embedding: vectorOf(inputText, dimensions), inputTextTokenCount: tokens },
      { 'x-amzn-bedrock-input-token-count': String(tokens) },
    )
  }
  if (model.startsWith('cohere.embed')) {
    const { texts, output_dimension: dimensions } = check(cohereSchema, request.body, bedrockComplaints)
    return json(
      {
        id: 'fake',
        texts,
        response_type: 'embeddings_floats',
        embeddings: texts.map((text) => vectorOf(text, dimensions)),
      },
      { 'x-amzn-bedrock-input-token-count': String(tokensOf(texts)) },
    )
  }
  if (model.startsWith('amazon.nova')) {
    const { singleEmbeddingParams: params } = check(novaSchema, request.body, bedrockComplaints)
    return json(
      { embeddings: [{ embeddingType: 'TEXT', embedding: vectorOf(params.text.value, params.embeddingDimension) }] },
      { 'x-amzn-bedrock-input-token-count': String(tokensOf([params.text.value])) },
    )
  }
  throw invalid(`The provided model identifier is invalid: ${model}`)
}

function notFound(request: FakeRequest): VendorRefusal {
  return new VendorRefusal({
    kind: 'notFound',
    message: `Unable to determine service/operation name for ${request.path}`,
  })
}

const countSchema = z.strictObject({
  input: z.union([
    z.strictObject({ invokeModel: z.strictObject({ body: z.base64() }) }),
    z.strictObject({ converse: z.looseObject({}) }),
  ]),
})
const titanSchema = z.strictObject({
  inputText: z.string().min(1),
  dimensions: z.int().optional(),
  normalize: z.boolean().optional(),
  embeddingTypes: z.array(z.literal('float')).optional(),
})
const cohereSchema = z.strictObject({
  texts: z.array(z.string().min(1)).min(1),
  input_type: z.enum(['search_query', 'search_document', 'classification', 'clustering']),
  truncate: z.string().optional(),
  output_dimension: z.int().optional(),
  embedding_types: z.array(z.string()).optional(),
})
const novaSchema = z.strictObject({
  schemaVersion: z.string().optional(),
  taskType: z.literal('SINGLE_EMBEDDING'),
  singleEmbeddingParams: z.strictObject({
    embeddingPurpose: z.string(),
    embeddingDimension: z.int().optional(),
    text: z.strictObject({ truncationMode: z.enum(['START', 'END', 'NONE']), value: z.string().min(1) }),
  }),
})
