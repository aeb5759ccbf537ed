import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPeerLine } from './peer-messages.ts'

const STATE = { connected: 1, acknowledged: ['a'], problems: [] }
const UNIT = { object: 'route/shop/x', problem: 'no', units: ['u'] }

const lineOf = (state: object): string =>
  JSON.stringify({ type: 'states', whole: true, put: [['shop/web', state]], drop: ['shop/old'] })

test('the state of a gateway is read whole, with members that only some states have', () => {
  for (const more of [{}, { notServing: 2 }, { quarantined: [UNIT] }, { notServing: 0, quarantined: [] }]) {
    const state = { ...STATE, ...more }
    assert.deepEqual(readPeerLine(lineOf(state)), {
      type: 'states',
      whole: true,
      put: [['shop/web', state]],
      drop: ['shop/old'],
    })
  }
  assert.deepEqual(readPeerLine('{"type":"ping","more":1}'), { type: 'ping' })
})

test('a state with a member of another type is rejected', () => {
  for (const wrong of [
    { connected: '1' },
    { connected: 1.5 },
    { acknowledged: 'a' },
    { acknowledged: [1] },
    { problems: null },
    { notServing: '2' },
    { quarantined: {} },
    { quarantined: [null] },
    { quarantined: [{ ...UNIT, object: 1 }] },
    { quarantined: [{ ...UNIT, problem: 1 }] },
    { quarantined: [{ ...UNIT, units: 'u' }] },
    { quarantined: [UNIT, { ...UNIT, units: [1] }] },
  ])
    assert.throws(() => readPeerLine(lineOf({ ...STATE, ...wrong })), { name: 'StreamFault' }, JSON.stringify(wrong))
})

test('a line that is not a message of a controller is rejected', () => {
  for (const line of [
    '',
    'null',
    '7',
    '{"type":"other"}',
    '{"type":"states","put":{},"drop":[]}',
    '{"type":"states","put":[],"drop":[1]}',
    '{"type":"states","put":[],"drop":null}',
    '{"type":"states","put":[[1,{}]],"drop":[]}',
    '{"type":"states","put":["shop/web"],"drop":[]}',
    '{"type":"states","put":[["shop/web"]],"drop":[]}',
  ])
    assert.throws(() => readPeerLine(line), { name: 'StreamFault' }, line)
})
