import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contained, describeFault, type FaultScope, onFault, onFaultCount, reportFault } from './faults.ts'

/** Returns the exception of a call. */
function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return assert.fail('nothing was thrown')
}

const firstLine = (error: unknown): string => describeFault(error).split('\n')[0] ?? ''

test('a fault is described by its class, message and place', () => {
  const text = describeFault(new RangeError('too far'))
  assert.match(text, /^RangeError: too far\n {4}at /)
  assert.match(text, /faults\.test/)
})

test('a message that may quote input is left out', () => {
  const secret = 'hunter2'
  for (const [error, name] of [
    [thrownBy(() => JSON.parse(`{${secret}`) as unknown), 'SyntaxError'],
    [thrownBy(() => decodeURIComponent(`%${secret}`)), 'URIError'],
    [new URIError(`bad ${secret}`), 'URIError'],
    [thrownBy(() => new URL(secret)), 'TypeError ERR_INVALID_URL'],
    [Object.assign(new Error(secret), { code: 'ECODE' }), 'Error ECODE'],
  ] as const) {
    assert.equal(firstLine(error), name)
    assert.doesNotMatch(describeFault(error), new RegExp(secret))
  }
})

test('a code that is not a text does not hide the message', () => {
  assert.equal(firstLine(Object.assign(new Error('broke'), { code: 7 })), 'Error: broke')
})

test('a value that is not an error is described by its type alone', () => {
  assert.equal(describeFault('hunter2'), 'thrown value of type string')
  assert.equal(describeFault(undefined), 'thrown value of type undefined')
})

test('a fault has at most twelve frames', () => {
  const deep = (left: number): Error => (left === 0 ? new Error('deep') : deep(left - 1))
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 50
  const text = describeFault(deep(40))
  Error.stackTraceLimit = limit
  assert.equal(text.split('\n').length, 1 + 12)
})

test('a fault goes to every listener with its scope, and is counted; without a listener it goes on', (t) => {
  const error = new Error('broke')
  assert.throws(() => reportFault(error, 'worker'), error)
  const seen: [unknown, FaultScope][] = []
  const counted: FaultScope[] = []
  const removals = [
    onFault((each, scope) => seen.push([each, scope])),
    onFault((each, scope) => seen.push([each, scope])),
    onFaultCount((scope) => counted.push(scope)),
  ]
  t.after(() => removals.forEach((remove) => remove()))
  contained('request', () => {
    throw error
  })
  assert.deepEqual(seen, [
    [error, 'request'],
    [error, 'request'],
  ])
  assert.deepEqual(counted, ['request'])
})
