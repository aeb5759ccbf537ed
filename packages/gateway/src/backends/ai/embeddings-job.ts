import type { JsonBody } from '../../llm/edits/json-body.ts'
import { spliceJson } from '../../wire/splice-json.ts'
import type { ClientFormat } from '../../llm/format.ts'
import type { UpstreamFormat } from '../../llm/format.ts'
import { decodeEmbeddingRequest, embeddingUpstreams, encodeEmbeddings } from '../../llm/formats/embeddings/index.ts'
import type { Embeddings } from '../../llm/formats/embeddings/embedding.ts'
import type { LlmRecord } from '../../records/llm-record.ts'
import type { EditedRequest } from '../../llm/edits/request-edits.ts'
import { applyEdits, joinEdits, type MemberEdits } from '../../wire/member-edits.ts'
import { type Json, Unsupported } from '../../llm/middle.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
import type { ReadyProvider } from './provider.ts'
import type { PreparedJob, WholeJob } from './whole-call.ts'

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
      if (request instanceof Unsupported) return request
      const texts = request.inputs.filter((input) => typeof input === 'string')
      return texts.length === request.inputs.length ? texts : TOKENS_UNGUARDED
    },
    prepare({ vendor, edits }: ReadyProvider, guarded): PreparedJob | Unsupported {
      const plain = edits.request(body.value, null, rx)
      const edited = guarded === undefined ? plain : withInputs(plain, guarded)
      const kind = vendor.embeddings(edited.model)
      if (kind === null) return new Unsupported('model', 'this provider gives no embeddings for the model')
      const request = decodeEmbeddingRequest(edited.body)
      if (request instanceof Unsupported) return request
      const upstream = embeddingUpstreams[kind]
      const call = {
        kind: 'embeddings' as const,
        format: 'completions' as const,
        model: edited.model,
        stream: false,
        clientTarget: target,
      }
      const encoded = kind === 'openai' ? null : upstream.encodeRequest(request, edited.model, [])
      if (encoded instanceof Unsupported) return encoded
      return {
        call,
        bytes: encoded === null ? spliceJson(body, edited.edits) : Buffer.from(JSON.stringify(encoded)),
        read(answer, headers, facts) {
          const embeddings = upstream.decodeResponse(answer, headerOf(headers))
          if (embeddings === null) return null
          observe(embeddings, facts)
          return encoded === null ? answer : encodeEmbeddings(embeddings, request)
        },
        readError: (status, bytes) => format.decodeError(status, bytes),
      }
    },
  }
}

function withInputs(edited: EditedRequest, texts: readonly string[]): EditedRequest {
  const input: Json = typeof edited.body.input === 'string' ? (texts[0] ?? '') : [...texts]
  const inputs: MemberEdits = new Map([['input', input]])
  return { ...edited, edits: joinEdits(edited.edits, inputs), body: applyEdits(edited.body, inputs) }
}

const TOKENS_UNGUARDED = new Unsupported('input', 'must be text, not tokens: guards look at it')

function headerOf(headers: HeaderBlock): (name: string) => string | undefined {
  return (name) => headers.get(name) ?? undefined
}

function observe({ model, usage }: Embeddings, facts: LlmRecord): void {
  facts.responseModel = model
  if (usage !== null) facts.usage = usage
}
