import { z } from 'zod'
import { messagesAnswer } from './anthropic.ts'
import { invalid, VendorRefusal } from './answer.ts'
import type { ParsedRequest } from './parsed-request.ts'
import { check } from './check.ts'
import { tokensOf, vectorOf } from './formats/embeddings.ts'
import { googleFailure } from './formats/gemini-reply.ts'
import { geminiComplaints } from './formats/gemini-request.ts'
import { messagesFailure } from './formats/messages-reply.ts'
import { readTokenCount, readVertexMessages } from './formats/messages-request.ts'
import { geminiMethod } from './gemini.ts'
import { openaiEndpoints } from './openai.ts'
import { type FakeReply, type FakeRequest, headerOf, json, type Vendor } from './reply.ts'

export const VERTEX_TOKEN = 'ya29.fake-vertex'
export const VERTEX_MODELS = { google: ['gemini-2.5-flash', 'gemini-2.5-pro'], anthropic: ['claude-sonnet-4-5'] }

export function vertexVendor(): Vendor {
  const open = openaiEndpoints({})
  return {
    name: 'vertexai',
    answer(request, saw) {
      if (headerOf(request, 'authorization') !== `Bearer ${VERTEX_TOKEN}`) {
        throw new VendorRefusal({ kind: 'authentication', message: 'Request had invalid authentication credentials.' })
      }
      const listed = /^\/v1beta1\/publishers\/(google|anthropic)\/models$/.exec(request.path)?.[1]
      if (listed === 'google' || listed === 'anthropic') return models(listed)
      const below = /^\/v1(?:beta1)?\/projects\/[^/]+\/locations\/[^/]+\/(.+)$/.exec(request.path)?.[1] ?? ''
      const [, publisher, model, method] = /^publishers\/(\w+)\/models\/([^/:]+):(\w+)$/.exec(below) ?? []
      if (below.startsWith('endpoints/openapi/')) return open(request, below.slice('endpoints/openapi/'.length), saw)
      if (model === undefined || method === undefined) throw notFound(request)
      if (publisher === 'anthropic') return claude(request, { model, method }, saw)
      if (method === 'predict') return predict(request)
      return geminiMethod(request, { model, method }, saw)
    },
    fail: (failure, _param, request) =>
      request.path.includes('/publishers/anthropic/') && failure.kind !== 'authentication'
        ? messagesFailure(failure)
        : googleFailure(failure),
  }
}

function claude(
  request: FakeRequest,
  { model, method }: { model: string; method: string },
  saw: (asked: ParsedRequest) => void,
): FakeReply {
  if (/-\d{8}$/.test(model))
    throw new VendorRefusal({ kind: 'notFound', message: `Publisher Model ${model} was not found` })
  if (model === 'count-tokens' && method === 'rawPredict') {
    return json({ input_tokens: tokensOf([readTokenCount(request.body, 'vertexai')]) })
  }
  const asked = readVertexMessages(request.body, model)
  if (asked.streamed !== (method === 'streamRawPredict')) throw invalid(`stream: does not fit ${method}`)
  return messagesAnswer(asked, saw)
}

/** The models of a publisher in the Model Garden. */
function models(publisher: keyof typeof VERTEX_MODELS): FakeReply {
  return json({
    publisherModels: VERTEX_MODELS[publisher].map((name) => ({
      name: `publishers/${publisher}/models/${name}`,
      versionId: 'default',
      launchStage: 'GA',
    })),
  })
}

/** Embeddings of the publisher Google. */
function predict(request: FakeRequest): FakeReply {
  const { instances, parameters } = check(predictSchema, request.body, geminiComplaints)
  return json({
    predictions: instances.map(({ content }) => ({
      embeddings: {
        values: vectorOf(content, parameters?.outputDimensionality),
        statistics: { token_count: tokensOf([content]), truncated: false },
      },
    })),
    metadata: { billableCharacterCount: instances.reduce((sum, { content }) => sum + content.length, 0) },
  })
}

function notFound(request: FakeRequest): VendorRefusal {
  return new VendorRefusal({
    kind: 'notFound',
    message: `The requested URL ${request.path} was not found on this server.`,
  })
}

const predictSchema = z.strictObject({
  instances: z
    .array(z.strictObject({ content: z.string(), task_type: z.string().optional(), title: z.string().optional() }))
    .min(1),
  parameters: z
    .strictObject({ autoTruncate: z.boolean().optional(), outputDimensionality: z.int().optional() })
    .optional(),
})
