import { countAt, isObject, type Json, type JsonObject, type MemberEdits, objectAt } from '@portico/http/json'
import { type ClientFormat, UnsupportedField } from '@portico/chat'
import { decodeGeminiEmbeddings, encodeGeminiEmbeddings, geminiEmbeddingTexts } from '@portico/chat/embeddings'
import { estimatePrompt } from '../../../llm/estimate-call.ts'
import type { LlmRecord } from '../../../records/llm-record.ts'
import { targetPath } from '../../../formats/query-parameters.ts'
import type { CallServices } from '../failover-call.ts'
import type { JsonBody } from '../client-request.ts'
import { isNameOf, PATH_MEMBERS } from '../gemini-request.ts'
import { checkedBody } from './edited-body.ts'
import { translateEmbeddings } from './embeddings-job.ts'
import type { GeminiJobParts } from './gemini-count-job.ts'
import type { WholeJob } from './whole-call.ts'

/** Embeddings in Google's form, one (`embedContent`) or several (`batchEmbedContents`), of whichever provider. */
export function geminiEmbeddingsJob(
  { body, target, rx }: Omit<GeminiJobParts, 'headers'>,
  format: ClientFormat,
  { upstreamFormats }: Pick<CallServices, 'upstreamFormats'>,
): WholeJob {
  const isBatch = targetPath(target).endsWith(':batchEmbedContents')
  const asked = body.value['model']
  return {
    operation: 'embeddings',
    format,
    guarded: ({ edits }) => ({ body: edits.request(body.value, null, rx).body, reading: geminiEmbeddingTexts }),
    prepare({ vendor, edits }, guarded) {
      const edited = edits.request(body.value, null, rx)
      const { model, value, bytes } = checkedBody(body, edited, guarded)
      if (model === '') return new UnsupportedField('model', 'missing field: model not specified')
      if (requestsOf(value).some(({ model: named }) => named !== undefined && !isNameOf(named, asked))) {
        return new UnsupportedField('requests[].model', 'must be the model of the path')
      }
      const cacheable = { original: body.value, edited: edited.body, isStoredByDefault: false }
      const call = { kind: 'embeddings', format: 'gemini', model, stream: false, clientTarget: target } as const
      if (vendor.hasGoogleCalls?.(model, 'embeddings') === true) {
        return {
          call,
          bytes: bytes(isBatch ? batchEdits(value, model) : singleEdits(body, model)),
          read: (answer, _headers, record) => observed(answer, value, record),
          readError: (status, error) => upstreamFormats.gemini.decodeError(status, error),
          cacheable,
          translation: { from: CLIENT_FORM, to: CLIENT_FORM, losses: [] },
        }
      }
      const kind = vendor.embeddings(model)
      if (kind === null) return new UnsupportedField('model', 'this provider gives no embeddings for the model')
      const request = decodeGeminiEmbeddings(value, isBatch)
      if (request instanceof UnsupportedField) return request
      return translateEmbeddings(
        { request, from: CLIENT_FORM, encode: (all) => encodeGeminiEmbeddings(all, isBatch) },
        {
          kind,
          call: { ...call, format: 'completions' },
          readError: (status, error) => upstreamFormats.completions.decodeError(status, error),
          cacheable,
        },
      )
    },
  }
}

const CLIENT_FORM = 'embeddings.gemini'

function requestsOf({ requests }: JsonObject): JsonObject[] {
  return Array.isArray(requests) ? requests.filter(isObject) : []
}

/** Google wants the model in each request of a batch, too. */
function batchEdits({ requests }: JsonObject, model: string): MemberEdits {
  if (!Array.isArray(requests)) return PATH_MEMBERS
  const renamed = requests.map((each): Json => (isObject(each) ? { ...each, model: `models/${model}` } : each))
  return new Map([...PATH_MEMBERS, ['requests', renamed]])
}

function singleEdits({ members }: JsonBody, model: string): MemberEdits {
  const isNamed = members.some(({ name }) => name === 'model')
  return isNamed ? new Map([...PATH_MEMBERS, ['model', `models/${model}`]]) : PATH_MEMBERS
}

/** Models report no tokens, or all of them together. */
function observed(answer: JsonObject, asked: JsonObject, record: LlmRecord): JsonObject | null {
  if (!isObject(answer['embedding']) && !Array.isArray(answer['embeddings'])) return null
  const reported = countAt(objectAt(answer, 'usageMetadata'), 'promptTokenCount')
  record.isEstimated ||= reported === undefined
  record.addUsage({ input: reported ?? estimatePrompt(asked, null) })
  return answer
}
