import type { JsonBody } from '../client-request.ts'
import { applyEdits, joinEdits, type MemberEdits, spliceJson } from '@portico/http/json'
import {
  type ClientFormat,
  type Json,
  type JsonObject,
  type Loss,
  UnsupportedField,
  type UpstreamFormat,
} from '@portico/chat'
import {
  decodeEmbeddingRequest,
  type EmbeddingRequest,
  type Embeddings,
  type EmbeddingUpstream,
  embeddingUpstreams,
  encodeEmbeddings,
  joinEmbeddings,
  requestsOf,
} from '@portico/chat/embeddings'
import type { EmbeddingsKind } from '../../../llm/providers/provider.ts'
import type { LlmRecord } from '../../../records/llm-record.ts'
import type { EditedRequest } from '../../../llm/edits/request-edits.ts'
import type { HeaderBlock } from '@portico/http'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { ReadyProvider } from '../provider.ts'
import { NextRequest, type PreparedJob, type WholeJob } from './whole-call.ts'

/** Embeddings in OpenAI's form, of whichever provider. */
export function embeddingsJob(
  { body, target, rx }: { body: JsonBody; target: string; rx: RequestContext },
  format: ClientFormat & UpstreamFormat,
): WholeJob {
  return {
    operation: 'embeddings',
    format,
    texts({ edits }) {
      const request = decodeEmbeddingRequest(edits.request(body.value, null, rx).body)
      if (request instanceof UnsupportedField) return request
      const texts = request.inputs.filter((input) => typeof input === 'string')
      return texts.length === request.inputs.length ? texts : TOKENS_UNGUARDED
    },
    prepare({ vendor, edits }: ReadyProvider, guarded): PreparedJob | UnsupportedField {
      const plain = edits.request(body.value, null, rx)
      const edited = guarded?.texts === undefined ? plain : withInputs(plain, guarded.texts)
      const kind = vendor.embeddings(edited.model)
      if (kind === null) return new UnsupportedField('model', 'this provider gives no embeddings for the model')
      const request = decodeEmbeddingRequest(edited.body)
      if (request instanceof UnsupportedField) return request
      const upstream: EmbeddingUpstream = embeddingUpstreams[kind]
      const call = {
        kind: 'embeddings' as const,
        format: 'completions' as const,
        model: edited.model,
        stream: false,
        clientTarget: target,
      }
      const bodiesForCache = { original: body.value, edited: edited.body, isStoredByDefault: false }
      const readError = (status: number, bytes: Buffer) => format.decodeError(status, bytes)
      if (kind === 'openai') {
        const read: PreparedJob['read'] = (answer, headers, facts) => {
          const embeddings = upstream.decodeResponse(answer, headerOf(headers))
          if (embeddings !== null) observe(embeddings, facts)
          return embeddings === null ? null : answer
        }
        const translation = { from: CLIENT_FORM, to: CLIENT_FORM, losses: [] }
        const bytes = spliceJson(body, edited.edits)
        return { call, bytes, read, readError, cacheable: bodiesForCache, translation }
      }
      const translated = { request, from: CLIENT_FORM, encode: (all: Embeddings) => encodeEmbeddings(all, request) }
      return translateEmbeddings(translated, { kind, call, readError, cacheable: bodiesForCache })
    },
  }
}

const CLIENT_FORM = 'embeddings.openai'

interface TranslatedEmbeddings {
  request: EmbeddingRequest
  /** The client's format, for the trace. */
  from: string
  /** Encodes the response for the client. */
  encode: (embeddings: Embeddings) => JsonObject
}

/** A job that asks a provider of another format, in several requests if the provider takes one text at a time. */
export function translateEmbeddings(
  { request, from, encode }: TranslatedEmbeddings,
  {
    kind,
    call,
    readError,
    cacheable,
  }: Pick<PreparedJob, 'call' | 'readError' | 'cacheable'> & { kind: EmbeddingsKind },
): PreparedJob | UnsupportedField {
  const upstream: EmbeddingUpstream = embeddingUpstreams[kind]
  const losses: Loss[] = []
  const bodies = encodeAll(request, call.model, upstream, losses)
  if (bodies instanceof UnsupportedField) return bodies
  const [first, ...others] = bodies
  const isSingle = others.length === 0
  const answers: Embeddings[] = []
  const read: PreparedJob['read'] = (answer, headers, facts) => {
    const embeddings = upstream.decodeResponse(answer, headerOf(headers))
    if (embeddings === null) return null
    answers.push(embeddings)
    const next = others.shift()
    if (next !== undefined) return new NextRequest(next)
    const all = joinEmbeddings(answers)
    observe(all, facts)
    return encode(all)
  }
  const translation = { from, to: `embeddings.${kind}`, losses }
  return { call, bytes: first ?? null, read, readError, cacheable: isSingle ? (cacheable ?? null) : null, translation }
}

/** The bodies of all requests that it takes. */
function encodeAll(
  request: EmbeddingRequest,
  model: string,
  upstream: EmbeddingUpstream,
  losses: Loss[],
): Buffer[] | UnsupportedField {
  const requests = requestsOf(request, upstream)
  if (requests instanceof UnsupportedField) return requests
  const bodies: Buffer[] = []
  for (const each of requests) {
    const encoded = upstream.encodeRequest(each, model, losses)
    if (encoded instanceof UnsupportedField) return encoded
    bodies.push(Buffer.from(JSON.stringify(encoded)))
  }
  return bodies
}

function withInputs(edited: EditedRequest, texts: readonly string[]): EditedRequest {
  const input: Json = typeof edited.body.input === 'string' ? (texts[0] ?? '') : [...texts]
  const inputs: MemberEdits = new Map([['input', input]])
  return { ...edited, edits: joinEdits(edited.edits, inputs), body: applyEdits(edited.body, inputs) }
}

const TOKENS_UNGUARDED = new UnsupportedField('input', 'must be text, not tokens: guards look at it')

function headerOf(headers: HeaderBlock): (name: string) => string | undefined {
  return (name) => headers.get(name) ?? undefined
}

function observe({ model, usage }: Embeddings, facts: LlmRecord): void {
  facts.responseModel = model
  if (usage !== null) facts.addUsage(usage)
}
