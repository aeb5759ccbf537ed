import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upstreamFormats } from '@portico/chat'
import { UpstreamError } from '@portico/http/client'
import { type FailureKind, failureKind } from './failure-kind.ts'

type Format = keyof typeof upstreamFormats

/** Errors as vendors send them. */
const errors: readonly (readonly [Format, number, object, FailureKind | null])[] = [
  [
    'completions',
    400,
    {
      error: {
        message: "This model's maximum context length is 128000 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    'contextLength',
  ],
  [
    'messages',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    },
    'contextLength',
  ],
  [
    'messages',
    413,
    { type: 'error', error: { type: 'request_too_large', message: 'Request too large' } },
    'contextLength',
  ],
  [
    'gemini',
    400,
    {
      error: {
        code: 400,
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
    'contextLength',
  ],
  ['converse', 400, { message: 'Input is too long for requested model.' }, 'contextLength'],
  [
    'completions',
    400,
    {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        code: 'content_filter',
        status: 400,
      },
    },
    'contentFilter',
  ],
  ['completions', 429, { error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } }, 'rateLimit'],
  ['gemini', 429, { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }, 'rateLimit'],
  ['messages', 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overload'],
  ['gemini', 503, { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }, 'overload'],
  ['gemini', 504, { error: { code: 504, message: 'Deadline expired', status: 'DEADLINE_EXCEEDED' } }, 'timeout'],
  ['completions', 400, { error: { message: 'Invalid value for temperature', code: 'invalid_value' } }, null],
  ['completions', 500, { error: { message: 'the context window of the user says: prompt is too long' } }, null],
]

test('errors of vendors have their kind', () => {
  for (const [format, status, body, kind] of errors) {
    const error = upstreamFormats[format].decodeError(status, Buffer.from(JSON.stringify(body)))
    assert.equal(failureKind({ error }), kind, JSON.stringify(body))
  }
})

test('a status alone has a kind', () => {
  const kinds = [429, 503, 529, 408, 504, 500, 502].map((status) => failureKind({ status }))
  assert.deepEqual(kinds, ['rateLimit', 'overload', 'overload', 'timeout', 'timeout', null, null])
})

test('a call without a response has the kind of its failure', () => {
  const kindOf = (code: UpstreamError['code']) => failureKind({ cause: new UpstreamError(code, 'why', true) })
  assert.equal(kindOf('response_timeout'), 'timeout')
  assert.equal(kindOf('connect_timeout'), 'timeout')
  assert.equal(kindOf('connect_failed'), null)
})
