import { invalid, VendorRefusal } from './answer.ts'
import type { ParsedRequest } from './parsed-request.ts'
import { tokensOf } from './formats/embeddings.ts'
import { geminiEmbeddings } from './formats/gemini-embeddings.ts'
import { geminiReply, geminiStream, googleFailure } from './formats/gemini-reply.ts'
import { readGenerateContent } from './formats/gemini-request.ts'
import { openaiEndpoints } from './openai.ts'
import { type FakeReply, type FakeRequest, headerOf, json, type Vendor } from './reply.ts'
import { play } from './scenes.ts'

export const GEMINI_KEY = 'AIzaFakeGemini'
export const GEMINI_MODELS = ['gemini-2.5-flash', 'gemini-3-pro-preview']

export function geminiVendor(): Vendor {
  const compatible = openaiEndpoints({ usageOnLastChoice: true })
  return {
    name: 'gemini',
    answer(request, saw) {
      const compat = /^\/v1beta\/openai\/(.+)$/.exec(request.path)?.[1]
      if (compat !== undefined) {
        if (headerOf(request, 'authorization') !== `Bearer ${GEMINI_KEY}`) throw badKey()
        return compatible(request, compat, saw)
      }
      const key = headerOf(request, 'x-goog-api-key') || request.query.get('key')
      if (key !== GEMINI_KEY) throw badKey()
      if (request.method === 'GET' && request.path === '/v1beta/models') return models()
      const [, model, method] = /^\/v1beta\/models\/([^/:]+):(\w+)$/.exec(request.path) ?? []
      if (model === undefined || method === undefined) throw notFound(request)
      return geminiMethod(request, { model, method }, saw)
    },
    // The compatible endpoint wraps Google's error in a list.
    fail(failure, _param, request) {
      const reply = googleFailure(failure)
      if (!request.path.startsWith('/v1beta/openai/')) return reply
      return { ...reply, frames: [Buffer.from(`[${Buffer.concat(reply.frames).toString()}]`)] }
    },
  }
}

/** The methods below a model, which the Gemini API and Vertex AI share. */
export function geminiMethod(
  request: FakeRequest,
  { model, method }: { model: string; method: string },
  saw: (asked: ParsedRequest) => void,
): FakeReply {
  if (request.method !== 'POST') throw notFound(request)
  switch (method) {
    case 'generateContent':
    case 'streamGenerateContent': {
      const isStream = method === 'streamGenerateContent'
      if (isStream && request.query.get('alt') !== 'sse') throw invalid('this fake streams only with alt=sse')
      const asked = readGenerateContent(request.body, model, isStream)
      saw(asked)
      const answer = play(asked)
      if (isStream) return geminiStream(answer, asked)
      if (answer.failure !== undefined) throw new VendorRefusal(answer.failure)
      return geminiReply(answer, asked)
    }
    case 'countTokens':
      return json({ totalTokens: tokensOf([JSON.stringify(request.body)]) })
    case 'embedContent':
    case 'batchEmbedContents':
      return geminiEmbeddings(request.body, model, method === 'batchEmbedContents')
    default:
      throw notFound(request)
  }
}

function models(): FakeReply {
  return json({
    models: GEMINI_MODELS.map((name) => ({
      name: `models/${name}`,
      version: '001',
      displayName: name,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  })
}

function badKey(): VendorRefusal {
  return invalid('API key not valid. Please pass a valid API key.')
}

function notFound(request: FakeRequest): VendorRefusal {
  return new VendorRefusal({ kind: 'notFound', message: `${request.path} is not found for API version v1beta` })
}
