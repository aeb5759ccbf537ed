import { createHash } from 'node:crypto'
import type { ClientField } from '../../client-fields.ts'
import { clientField, lose } from '../../client-fields.ts'
import type { ChatRequest, JsonObject, Loss, Sampling } from '../../middle.ts'

export function encodeSampling(request: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): JsonObject {
  const { sampling, format } = request
  const encoded: JsonObject = {}
  for (const [field, name, refusedBy] of NAMES) {
    const value = sampling[field]
    if (value === undefined) continue
    if (refusedBy !== null && quirks.has(refusedBy)) {
      lose(losses, { what: 'dropped', path: clientField(format, field) })
    } else {
      encoded[name] = value
    }
  }
  if (sampling.maxTokens !== undefined) {
    const isNewer =
      quirks.has('completionTokens') || (format === 'completions' && 'max_completion_tokens' in request.rest)
    encoded[isNewer ? 'max_completion_tokens' : 'max_tokens'] = sampling.maxTokens
  }
  if (sampling.topK !== undefined) {
    if (format === 'completions' || quirks.has('topK')) encoded.top_k = sampling.topK
    else lose(losses, { what: 'dropped', path: clientField(format, 'topK') })
  }
  return encoded
}

/** Longer names are refused; of a longer one the hash tells users apart as well. */
export function encodeUser({ user, format }: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): JsonObject {
  if (user === null) return {}
  const path = clientField(format, 'user')
  if (quirks.has('noUser')) {
    lose(losses, { what: 'dropped', path })
    return {}
  }
  if (user.length <= MAX_USER || format === 'completions') return { user }
  lose(losses, { what: 'renamed', path, note: 'hashed, because it is too long' })
  return { user: createHash('sha256').update(user).digest('hex') }
}

type SamplingField = keyof Sampling & ClientField

const NAMES: readonly [field: SamplingField, name: string, refusedBy: string | null][] = [
  ['temperature', 'temperature', 'noSampling'],
  ['topP', 'top_p', 'noSampling'],
  ['frequencyPenalty', 'frequency_penalty', 'noSampling'],
  ['presencePenalty', 'presence_penalty', 'noSampling'],
  ['seed', 'seed', 'noSeed'],
  ['stop', 'stop', 'noStop'],
]

const MAX_USER = 64
