import { test } from 'node:test'
import { explainCase } from '../../../explain/testing/refusal-case.ts'
import { request } from '../../../testing/client.ts'
import { httpConfig, routeTo } from '../../../testing/scene.ts'

test('an aborted request is explained as a rehearsal', (t) =>
  explainCase(t, {
    name: 'an aborted request',
    config: ({ origin }) => httpConfig([routeTo(origin, { abort: { status: 503 } })]),
    send: ({ port }) => request(port),
    code: 'aborted_by_rehearsal',
    at: 'abort',
    says: /^this was a rehearsal: the policy `abort` answered with status 503 on purpose, and no backend was called/i,
    passes: 'the route does not have the policy `abort`.',
  }))
