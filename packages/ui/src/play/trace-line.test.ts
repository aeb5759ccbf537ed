import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TraceEvent } from '@portico/gateway/admin-api'
import { traceLines } from './trace-line.ts'

test('a trace has a line for each effect and for the policy that stopped it', () => {
  const events = [
    event({ type: 'requestStarted' }),
    event({ type: 'requestSnapshot', stage: 'initial request' }),
    event({ type: 'routeSelection', selectedRoute: 'chat' }),
    event({ type: 'policy', kind: 'cors', phase: 'route', result: { type: 'skip', reason: 'no Origin' } }),
    event({
      type: 'policy',
      kind: 'rateLimit',
      phase: 'route',
      result: { type: 'stop', status: 429, reason: 'RateLimit' },
    }),
    event({ type: 'llmRequest', provider: 'mock' }),
    event({ type: 'backendCallResult', status: null, error: 'refused' }, 'error'),
    event({ type: 'requestFinished', status: 429, error: null }),
  ]
  const told = (withSkipped: boolean): string[] =>
    traceLines(events, withSkipped).map(({ name, kind, what }) => `${name} ${kind} ${what}`)
  assert.deepEqual(told(false), [
    'route plain chat',
    'rateLimit stopped 429 · RateLimit',
    'llmRequest plain provider mock',
    'backend failed refused',
    'finished plain 429',
  ])
  assert.equal(told(true)[1], 'cors skipped no Origin')
})

test('an event is short: no absent parts, no more than three decimals', () => {
  const call = { method: 'tools/call', item: { kind: 'tool', name: 'echo' }, error: null, durationMs: 97.111465999 }
  const [line] = traceLines([event({ type: 'mcpCall', ...call, sizes: [1, 2], losses: [], count: 20 })], false)
  assert.equal(line?.what, 'method tools/call, item tool echo, durationMs 97.111, sizes [1,2], count 20')
})

function event(message: TraceEvent['message'], severity: TraceEvent['severity'] = 'info'): TraceEvent {
  return { eventStart: null, eventEnd: 1, severity, message }
}
