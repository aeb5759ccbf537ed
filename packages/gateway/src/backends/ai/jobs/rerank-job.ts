import { callReadings, type FormatName, type JsonObject, type Loss, UnsupportedField, type Usage } from '@portico/chat'
import {
  decodeRanking,
  decodeRerankRequest,
  encodeRanking,
  encodeRerankError,
  type RankedDocument,
  type Ranking,
  type RerankRequest,
  rerankUpstreams,
  searchUnitsOf,
} from '@portico/chat/rerank'
import type { RerankKind } from '../../../llm/providers/provider.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { LlmRecord } from '../../../records/llm-record.ts'
import type { JsonBody } from '../client-request.ts'
import type { CallServices } from '../failover-call.ts'
import { checkedBody } from './edited-body.ts'
import { NextRequest, type PreparedJob, type WholeJob } from './whole-call.ts'

/** Rerank calls in the format of Cohere, Jina or Voyage, of whichever provider. */
export function rerankJob(
  { body, target, rx }: { body: JsonBody; target: string; rx: RequestContext },
  { upstreamFormats, newId }: Pick<CallServices, 'upstreamFormats' | 'newId'>,
): WholeJob {
  return {
    operation: 'rerank',
    format: RERANK_ERRORS,
    guarded: ({ edits }) => ({ body: edits.request(body.value, null, rx).body, reading: callReadings.rerank }),
    prepare({ vendor, edits }, guarded): PreparedJob | UnsupportedField {
      const checked = checkedBody(body, edits.request(body.value, null, rx), guarded)
      const { model, value } = checked
      const kind = vendor.rerank(model)
      if (kind === null) return new UnsupportedField('model', `${vendor.name} has no rerank calls`)
      const call = { kind: 'rerank', format: 'completions', model, stream: false, clientTarget: target } as const
      const readError = (status: number, bytes: Buffer) => upstreamFormats[ERRORS[kind]].decodeError(status, bytes)
      const from = 'rerank'
      if (kind === 'same') {
        const read: PreparedJob['read'] = (answer, _headers, record) => {
          const ranking = decodeRanking(answer)
          if (ranking !== null) observe(record, ranking, {})
          return ranking === null ? null : answer
        }
        return { call, bytes: checked.bytes(), read, readError, translation: { from, to: from, losses: [] } }
      }
      const request = decodeRerankRequest(value)
      if (request instanceof UnsupportedField) return request
      if (model === '' && kind !== 'vertex') return NO_MODEL
      const upstream = rerankUpstreams[kind]
      const bodyFor = (nextToken: string | null, losses: Loss[]) =>
        upstream.encodeRequest(request, { model, region: vendor.region ?? '', nextToken }, losses)
      const losses: Loss[] = []
      const first = bodyFor(null, losses)
      if (first instanceof UnsupportedField) return first
      const pages = new Pages(request, (token) => bodyFor(token, []))
      const read: PreparedJob['read'] = (answer, _headers, record) => {
        const ranking = upstream.decodeResponse(answer)
        if (ranking === null || !isWithin(ranking, request)) return null
        const next = pages.add(ranking)
        if (next !== null) return new NextRequest(next)
        const whole = { ...ranking, id: ranking.id || newId(''), results: pages.results }
        observe(record, whole, { searchUnits: searchUnitsOf(request.documents) })
        return encodeRanking(whole, { ...request, model: request.model || model })
      }
      const translation = { from, to: `rerank.${kind}`, losses }
      return { call, bytes: Buffer.from(JSON.stringify(first)), read, readError, translation }
    },
  }
}

/** The results of a provider that sends them in several responses. */
class Pages {
  results: RankedDocument[] = []
  readonly #request: RerankRequest
  readonly #bodyFor: (token: string) => JsonObject | UnsupportedField

  constructor(request: RerankRequest, bodyFor: (token: string) => JsonObject | UnsupportedField) {
    this.#request = request
    this.#bodyFor = bodyFor
  }

  /** Adds the results of a response; returns the request for the next one, or null when there are enough. */
  add({ results, nextToken }: Ranking): Buffer | null {
    this.results = [...this.results, ...results]
    const { limit, documents } = this.#request
    const isEnough = this.results.length >= (limit ?? documents.length)
    // A page without results would never end.
    if (nextToken === null || isEnough || results.length === 0) return null
    return Buffer.from(JSON.stringify(this.#bodyFor(nextToken)))
  }
}

/** Whether all results are documents of the request. */
function isWithin({ results }: Ranking, { documents }: RerankRequest): boolean {
  return results.every(({ index }) => index < documents.length)
}

function observe(record: LlmRecord, { id, usage }: Ranking, known: Usage): void {
  record.responseId = id
  // A provider that reports tokens bills those.
  record.usage = { calls: 1, ...(usage?.input === undefined && known), ...usage }
}

const RERANK_ERRORS = { encodeError: encodeRerankError }
const NO_MODEL = new UnsupportedField('model', 'missing field: model not specified')
const ERRORS: Readonly<Record<RerankKind, FormatName>> = {
  same: 'completions',
  cohere: 'completions',
  bedrock: 'converse',
  vertex: 'gemini',
}
