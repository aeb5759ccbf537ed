import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeStream, responseContext } from '../../testing/exchange.ts'
import { completions } from '../completions/index.ts'
import { messages } from './index.ts'

const body = (type: string, message = 'm') => ({ type: 'error', error: { type, message }, request_id: 'req_1' })
const decode = (status: number, type: string) => messages.decodeError(status, Buffer.from(JSON.stringify(body(type))))

describe('an error of a provider', () => {
  it('keeps its status, its type and its message', () => {
    const types = [
      [400, 'invalid_request_error'],
      [401, 'authentication_error'],
      [402, 'billing_error'],
      [403, 'permission_error'],
      [404, 'not_found_error'],
      [413, 'request_too_large'],
      [429, 'rate_limit_error'],
      [500, 'api_error'],
      [504, 'timeout_error'],
      [529, 'overloaded_error'],
    ] as const
    for (const [status, type] of types) {
      assert.deepEqual(messages.encodeError(decode(status, type)), {
        status,
        body: { type: 'error', error: { type, message: 'm' } },
      })
    }
  })

  it('is told to clients of Completions with its type, not with a constant', () => {
    assert.deepEqual(completions.encodeError(decode(529, 'overloaded_error')), {
      status: 529,
      body: { error: { message: 'm', type: 'overloaded_error', param: null, code: 'overloaded_error' } },
    })
  })

  it('takes its kind from the status when the type is unknown', () => {
    assert.equal(decode(429, 'invented_error').kind, 'rateLimit')
    assert.equal(messages.decodeError(503, Buffer.from('no healthy upstream')).message, 'no healthy upstream')
  })

  it('inside of a stream is an error event, however late', () => {
    const events = decodeStream(
      messages,
      `event: message_start\ndata: {"type":"message_start","message":{"id":"m1","model":"c"}}\n\nevent: error\ndata: ${JSON.stringify(body('overloaded_error', 'Overloaded'))}\n\n`,
    )
    assert.deepEqual(events.at(-1), {
      type: 'error',
      error: { status: 529, kind: 'overloaded', message: 'Overloaded', code: 'overloaded_error' },
    })
  })

  it('is no answer, and what is neither is null', () => {
    assert.equal(messages.decodeResponse(body('api_error'), responseContext())?.[0]?.type, 'error')
    assert.equal(messages.decodeResponse({}, responseContext()), null)
    assert.equal(messages.decodeResponse({ content: 'x' }, responseContext()), null)
  })
})
