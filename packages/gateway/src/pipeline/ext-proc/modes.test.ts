import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyModeNumber, type Modes, modesOf, observed, overridden } from './modes.ts'

const ALL = { sendsHeaders: true, body: 'FullDuplexStreamed', sendsTrailers: true } as const

test('without options everything goes to the processor, as a stream', () => {
  assert.deepEqual(modesOf(undefined), { request: ALL, response: ALL })
  assert.equal(bodyModeNumber(ALL.body), 4)
})

test('options leave out what they skip, each direction by itself', () => {
  const none = { requestBodyMode: 'None', responseBodyMode: 'Buffered' } as const
  const skipsRequest = { ...none, requestHeaderMode: 'Skip', requestTrailerMode: 'Skip' } as const
  assert.deepEqual(modesOf(skipsRequest as Parameters<typeof modesOf>[0]), {
    request: { sendsHeaders: false, body: 'None', sendsTrailers: false },
    response: { sendsHeaders: true, body: 'Buffered', sendsTrailers: true },
  })
  const skipsResponse = { ...none, responseHeaderMode: 'Skip', responseTrailerMode: 'Skip' } as const
  assert.deepEqual(modesOf(skipsResponse as Parameters<typeof modesOf>[0]), {
    request: { sendsHeaders: true, body: 'None', sendsTrailers: true },
    response: { sendsHeaders: false, body: 'Buffered', sendsTrailers: false },
  })
})

test('a stream of one direction sends the trailers of both', () => {
  for (const streamed of ['requestBodyMode', 'responseBodyMode']) {
    const bodies = { requestBodyMode: 'None', responseBodyMode: 'None', [streamed]: 'FullDuplexStreamed' }
    const options = { ...bodies, requestTrailerMode: 'Skip', responseTrailerMode: 'Skip' }
    const { request, response } = modesOf(options as Parameters<typeof modesOf>[0])
    assert.deepEqual([request.sendsTrailers, response.sendsTrailers], [true, true], streamed)
  }
})

test('the processor may choose other modes for what is still to come, and none in place of a stream', () => {
  const off = { sendsHeaders: false, body: 'None', sendsTrailers: false } as const
  const now: Modes = { request: off, response: off }
  const nothing = {
    requestHeaderMode: 0,
    responseHeaderMode: 0,
    requestBodyMode: 0,
    responseBodyMode: 0,
    requestTrailerMode: 0,
    responseTrailerMode: 0,
  } as const
  assert.deepEqual(overridden(now, nothing), now)
  const everything = {
    requestHeaderMode: 1,
    responseHeaderMode: 1,
    requestBodyMode: 2,
    responseBodyMode: 3,
    requestTrailerMode: 1,
    responseTrailerMode: 1,
  } as const
  assert.deepEqual(overridden(now, everything), {
    request: { sendsHeaders: false, body: 'Buffered', sendsTrailers: true },
    response: { sendsHeaders: true, body: 'BufferedPartial', sendsTrailers: true },
  })
  const skipped = { ...nothing, responseHeaderMode: 2, requestTrailerMode: 2, responseTrailerMode: 2 } as const
  assert.deepEqual(overridden({ request: ALL, response: ALL }, skipped), {
    request: { ...ALL, sendsTrailers: false },
    response: { ...ALL, sendsHeaders: false, sendsTrailers: false },
  })
})

test('copies go piece by piece, or not at all', () => {
  const { request, response } = observed({ request: { ...ALL, body: 'Buffered' }, response: { ...ALL, body: 'None' } })
  assert.deepEqual([request.body, response.body], ['Streamed', 'None'])
})
