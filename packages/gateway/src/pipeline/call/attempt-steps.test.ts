import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptySource, HeaderBlock } from '@portico/http'
import { type Attempt, prepareAttempt } from './attempt.ts'
import type { AttemptStepList } from '../compiled/compiled.ts'
import type { Failure } from '../context/failure.ts'
import type { AttemptStep } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'

const REFUSED: Failure = { status: 500, message: 'refused', reason: 'UpstreamFailure' }

function setUp() {
  const order: string[] = []
  const bugs: unknown[] = []
  const state = { isWanted: true }
  const policy = (name: string, _phase: string, failure?: Failure): void =>
    void order.push(failure === undefined ? `traced ${name}` : `traced ${name} with ${failure.status}`)
  const attempt: Attempt = {
    outgoing: {
      method: 'GET',
      target: '/',
      authority: 'a',
      headers: new HeaderBlock(),
      body: emptySource,
      upgrade: '',
      teTrailers: false,
    },
    // Steps here look at nothing else of it.
    rx: { trace: { policy } } as unknown as RequestContext,
    isWanted: () => state.isWanted,
    bug: (error) => bugs.push(error),
    finish: () => order.push('finish'),
  }
  const says =
    (name: string, result?: Failure): AttemptStep =>
    () => {
      order.push(name)
      return result
    }
  return { order, bugs, state, attempt, says }
}

function list(...run: AttemptStep[]): AttemptStepList {
  return { run, names: run.map((_, index) => String(index)) }
}

test('policies run in order, then what the backend adds, then the signature', () => {
  const { order, attempt, says } = setUp()
  const prepared = prepareAttempt({ request: list(says('a'), says('b')), sign: list(says('sign')) }, attempt)
  assert.equal(prepared, undefined)
  assert.deepEqual(order, ['a', 'traced 0', 'b', 'traced 1', 'finish', 'sign', 'traced 0'])
})

test('a failure keeps the rest from running', () => {
  const { order, attempt, says } = setUp()
  const request = list(says('a', REFUSED), says('b'))
  assert.equal(prepareAttempt({ request, sign: list(says('sign')) }, attempt), REFUSED)
  assert.deepEqual(order, ['a', 'traced 0 with 500'])
})

test('the rest waits for a policy that waits', async () => {
  const { order, attempt, says } = setUp()
  const gate = Promise.withResolvers<void>()
  const request = list(
    says('a'),
    () => gate.promise,
    says('b'),
    async () => void order.push('c'),
  )
  const prepared = prepareAttempt({ request, sign: list(async () => REFUSED, says('never')) }, attempt)
  assert.ok(prepared instanceof Promise)
  assert.deepEqual(order, ['a', 'traced 0'])
  gate.resolve()
  assert.equal(await prepared, REFUSED)
  assert.deepEqual(order, [
    'a',
    'traced 0',
    'traced 1',
    'b',
    'traced 2',
    'c',
    'traced 3',
    'finish',
    'traced 0 with 500',
  ])
})

test('nothing more runs once nobody waits for the attempt', async () => {
  const { order, attempt, state, says } = setUp()
  const gate = Promise.withResolvers<void>()
  const prepared = prepareAttempt({ request: list(() => gate.promise, says('b')), sign: list(says('sign')) }, attempt)
  state.isWanted = false
  gate.resolve()
  assert.equal(await prepared, undefined)
  assert.deepEqual(order, [])
})

test('an error is reported, and the request fails', async () => {
  const { bugs, attempt } = setUp()
  const thrown = new Error('at once')
  const rejected = new Error('later')
  const throwing = list(() => {
    throw thrown
  })
  const now = prepareAttempt({ request: throwing, sign: null }, attempt)
  const later = await prepareAttempt({ request: null, sign: list(() => Promise.reject(rejected)) }, attempt)
  const unfinished = new Error('between')
  const finish = (): void => {
    throw unfinished
  }
  const between = prepareAttempt({ request: null, sign: null }, { ...attempt, finish })
  assert.deepEqual([now, later, between], [INTERNAL, INTERNAL, INTERNAL])
  assert.deepEqual(bugs, [thrown, rejected, unfinished])
})

const INTERNAL: Failure = { status: 500, message: 'internal error', reason: 'Internal', code: 'internal' }
