import { type Failure, VendorRefusal } from './answer.ts'
import type { ParsedRequest } from './parsed-request.ts'
import { embeddingsReply } from './formats/embeddings.ts'
import {
  completionsFailure,
  completionsReply,
  completionsStream,
  type CompletionsQuirks,
} from './formats/completions-reply.ts'
import { readCompletions } from './formats/completions-request.ts'
import { audioReply } from './endpoints/audio.ts'
import { FakeBatches } from './endpoints/batches.ts'
import { imagesReply } from './endpoints/images.ts'
import { moderationsReply } from './endpoints/moderations.ts'
import { outputOf, responsesReply, responsesStream } from './formats/responses-reply.ts'
import { type InputItem, readResponses, type ResponseStore } from './formats/responses-request.ts'
import { type FakeReply, type FakeRequest, headerOf, json, type Vendor } from './reply.ts'
import { play } from './scenes.ts'

export const OPENAI_KEY = 'sk-fake-openai'
export const OPENAI_MODELS = ['gpt-5', 'gpt-4.1']

export function openaiVendor(): Vendor {
  const chats = openaiEndpoints({})
  const serve: typeof chats = (request, endpoint, saw) => otherCall(request, endpoint) ?? chats(request, endpoint, saw)
  const batches = new FakeBatches((request, endpoint) => serve(request, endpoint, () => {}))
  return {
    name: 'openai',
    answer(request, saw) {
      if (headerOf(request, 'authorization') !== `Bearer ${OPENAI_KEY}`) {
        throw new VendorRefusal({ kind: 'authentication', message: 'Incorrect API key provided.' })
      }
      const endpoint = request.path.replace(/^\/v1\//, '')
      return batches.answer(request, endpoint) ?? serve(request, endpoint, saw)
    },
    fail: openaiFailure,
  }
}

/** Calls that only OpenAI itself has; null for others. */
function otherCall(request: FakeRequest, endpoint: string): FakeReply | null {
  if (request.method !== 'POST') return null
  if (endpoint === 'moderations') return moderationsReply(request)
  return imagesReply(request, endpoint) ?? audioReply(request, endpoint)
}

export function openaiFailure(failure: Failure, param: string | null): FakeReply {
  return completionsFailure(failure, param)
}

/** The endpoints below a base path, for all that speak as OpenAI does. */
export function openaiEndpoints(
  quirks: CompletionsQuirks,
): (request: FakeRequest, endpoint: string, saw: (asked: ParsedRequest) => void) => FakeReply {
  const store: ResponseStore = { items: new Map(), conversations: new Map() }
  let responses = 0

  return (request, endpoint, saw) => {
    if (request.method === 'GET' && endpoint === 'models') {
      const data = OPENAI_MODELS.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'openai' }))
      return json({ object: 'list', data })
    }
    if (request.method !== 'POST') throw notFound(request)
    switch (endpoint) {
      case 'chat/completions': {
        const asked = readCompletions(request.body)
        saw(asked)
        const answer = play(asked)
        if (asked.streamed) return completionsStream(answer, asked, quirks)
        if (answer.failure !== undefined) throw new VendorRefusal(answer.failure)
        return completionsReply(answer, asked, quirks)
      }
      case 'responses': {
        const asked = readResponses(request.body, store)
        saw(asked)
        const answer = play(asked)
        responses += 1
        const id = `resp_fake${responses}`
        if (asked.stores) {
          const output: InputItem[] = outputOf(answer, asked)
          for (const item of output) if ('id' in item && item.id != null) store.items.set(item.id, item)
          store.conversations.set(id, [...asked.items, ...output])
        }
        if (asked.streamed) return responsesStream(answer, asked, id)
        if (answer.failure !== undefined) throw new VendorRefusal(answer.failure)
        return responsesReply(answer, asked, id)
      }
      case 'embeddings':
        return embeddingsReply(request.body)
      default:
        throw notFound(request)
    }
  }
}

function notFound(request: FakeRequest): VendorRefusal {
  return new VendorRefusal({ kind: 'notFound', message: `Invalid URL (${request.method} ${request.path})` })
}
