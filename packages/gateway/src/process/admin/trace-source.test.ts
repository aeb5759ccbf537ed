import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TraceHub } from '../../telemetry/trace/trace-hub.ts'
import type { TraceEvent } from '../../telemetry/trace/trace-event.ts'
import { createTraceSource } from './trace-source.ts'

test('an event that cannot be shown does not end the process, and its stream goes on', () => {
  const hub = new TraceHub()
  const heard: TraceEvent[] = []
  createTraceSource(hub, () => null).watch(null, { ready() {}, event: (event) => heard.push(event), end() {} })
  let deep: unknown = 'claim'
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  const times = { eventStart: null, eventEnd: 1, severity: 'info' } as const
  hub.received(0, { type: 'traced', id: 1, event: { ...times, message: { type: 'requestSnapshot', jwt: deep } } })
  hub.received(0, { type: 'traced', id: 1, event: { ...times, message: { type: 'requestFinished', status: 200 } } })
  assert.deepEqual(
    heard.map(({ message }) => message.type),
    ['requestSnapshot', 'requestFinished'],
  )
  assert.match(String(heard[0]!.message['unsent']), /RangeError/)
  assert.equal(heard[1]!.message['status'], 200)
})
