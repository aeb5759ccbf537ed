import { callReadings, type JsonObject, type Reading, UnsupportedField } from '@portico/chat'
import { decodeEmbeddingRequest } from '@portico/chat/embeddings'
import { guardContext, noteUnexamined, noteVerdicts, type RequestGuards } from '../../../llm/guards/prompt-guards.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'
import type { FailoverCall } from '../failover-call.ts'
import type { BatchHost } from './batch-host.ts'
import type { BatchCallType, GuardOutcome } from './batch-line.ts'

/**
 * Creates the function that runs the guards on each request of a batch file, as if the client had sent each request on
 * its own.
 */
export function createLineGuard(
  guards: RequestGuards,
  type: BatchCallType | 'Messages',
  { call, formats }: { call: FailoverCall; formats: BatchHost['formats'] },
): (body: JsonObject) => GuardOutcome | Promise<GuardOutcome> {
  const { rx, headers, record } = call
  const context = guardContext(rx, headers, null)
  const about = { phase: 'request', model: record.requestModel || null } as const
  if (type === 'Embeddings') {
    return (body) => {
      const request = decodeEmbeddingRequest(body)
      if (request instanceof UnsupportedField) return { refusal: request }
      const texts = request.inputs.filter((input) => typeof input === 'string')
      if (texts.length < request.inputs.length) return { refusal: TOKENS_UNGUARDED }
      return nowOrLater(guards.texts(texts, context), ({ verdict, notes }): GuardOutcome => {
        noteVerdicts(rx, about, notes)
        if (verdict.kind === 'reject') return { refusal: verdict }
        if (verdict.kind === 'pass') return { body }
        return {
          body: { ...body, input: typeof body.input === 'string' ? (verdict.texts[0] ?? '') : [...verdict.texts] },
        }
      })
    }
  }
  const reading = readingOf(type, formats)
  return (body) =>
    nowOrLater(guards.body({ body, reading }, context), ({ outcome, notes, unexamined }): GuardOutcome => {
      noteVerdicts(rx, about, notes)
      noteUnexamined(rx, unexamined)
      return outcome.kind === 'reject' ? { refusal: outcome } : { body: outcome.body }
    })
}

function readingOf(type: Exclude<BatchCallType, 'Embeddings'> | 'Messages', formats: BatchHost['formats']): Reading {
  if (type === 'Moderations') return callReadings.moderations
  return formats[FORMATS[type]].requestTexts
}

const FORMATS = { Completions: 'completions', Messages: 'messages', Responses: 'responses' } as const
const TOKENS_UNGUARDED = new UnsupportedField('input', 'must be text, not tokens: guards look at it')
