import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttemptStepList, BackendIdentity } from '../../pipeline/compiled/compiled.ts'
import { failures } from '../../pipeline/context/failure.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import { signWith } from './sign-with.ts'

const asked = {
  method: 'POST' as const,
  authority: 'guard.test',
  target: '/check',
  headers: [['content-type', 'application/json']] as [string, string][],
  body: Buffer.from('{}'),
}

function step(run: (outgoing: OutgoingRequest) => ReturnType<AttemptStepList['run'][number]>): AttemptStepList {
  return { run: [run], names: ['step'] }
}

const nothing: Pick<BackendIdentity, 'request' | 'sign'> = { request: null, sign: null }
const unexpected = (error: unknown): never => assert.fail(String(error))

test('a guard is asked with the headers that its policies add, and only those', async () => {
  const request = step(({ headers }) => headers.set('X-Team', 'blue'))
  const sign = step(({ headers }) => headers.set('authorization', 'Bearer key'))
  assert.deepEqual(await signWith({ request, sign }, unexpected)(asked), [
    ['x-team', 'blue'],
    ['authorization', 'Bearer key'],
  ])
  assert.deepEqual(await signWith(nothing, unexpected)(asked), [])
})

test('a guard is not asked without the credential that its policies fail to get', async () => {
  const sign = step(() => failures.internal)
  await assert.rejects(async () => signWith({ ...nothing, sign }, unexpected)(asked), {
    message: failures.internal.message,
  })
})
