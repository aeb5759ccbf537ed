import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { decodeStream, responseContext } from '../../testing/exchange.ts'
import { messages } from '../messages/index.ts'
import { completions } from './index.ts'

const decode = (status: number, body: unknown) => completions.decodeError(status, Buffer.from(JSON.stringify(body)))

describe('an error of a provider', () => {
  it('keeps its status, message, code and field', () => {
    const error = { message: 'No such model', type: 'invalid_request_error', param: 'model', code: 'model_not_found' }
    assert.deepEqual(decode(404, { error }), {
      status: 404,
      kind: 'notFound',
      message: 'No such model',
      code: 'model_not_found',
      param: 'model',
    })
    assert.deepEqual(completions.encodeError(decode(404, { error })), {
      status: 404,
      body: { error: { ...error, type: 'not_found_error' } },
    })
  })

  it('is told to clients of Messages in their words', () => {
    const error = { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' }
    assert.deepEqual(messages.encodeError(decode(429, { error })), {
      status: 429,
      body: { type: 'error', error: { type: 'rate_limit_error', message: 'Rate limit reached' } },
    })
  })

  it("is read from Google's servers too, with and without the list around it", () => {
    const error = { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' }
    for (const body of [{ error }, [{ error }]]) {
      assert.deepEqual(decode(429, body), {
        status: 429,
        kind: 'rateLimit',
        message: 'Quota exceeded',
        code: 'RESOURCE_EXHAUSTED',
      })
    }
  })

  it('is read from servers that write less', () => {
    assert.equal(decode(401, { error: 'bad key' }).message, 'bad key')
    assert.equal(decode(401, { error: 'bad key' }).kind, 'authentication')
    assert.equal(decode(422, { message: 'wrong', type: 'BadRequestError' }).message, 'wrong')
    assert.equal(decode(400, { detail: 'too many documents' }).message, 'too many documents')
    assert.equal(decode(422, { detail: [{ loc: ['body', 'n'], msg: 'Field required' }] }).message, 'Field required')
    assert.equal(decode(500, { error: {} }).message, 'the provider answered with status 500')
  })

  it('in a body or a stream that began well is an error event', () => {
    const error = { message: 'Upstream busy', code: 503 }
    const events = completions.decodeResponse({ id: 'x', error }, responseContext())
    assert.deepEqual(events, [{ type: 'error', error: { status: 503, kind: 'overloaded', message: 'Upstream busy' } }])
    const last = decodeStream(completions, `data: {"choices":[]}\n\ndata: ${JSON.stringify({ error })}\n\n`).at(-1)
    assert.equal(last?.type === 'error' && last.error.status, 503)
  })

  it('any bytes are decoded to an error', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 300, max: 599 }),
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (status, bytes) => {
          for (const format of [completions, messages]) {
            const error = format.decodeError(status, Buffer.from(bytes))
            assert.equal(error.status, status)
            assert.equal(typeof error.message, 'string')
          }
        },
      ),
    )
  })

  it('is no answer, and what is neither is null', () => {
    assert.equal(completions.decodeResponse({}, responseContext()), null)
    assert.equal(completions.decodeResponse({ choices: [] }, responseContext()), null)
    assert.equal(completions.decodeResponse({ choices: 'x', error: null }, responseContext()), null)
  })
})
