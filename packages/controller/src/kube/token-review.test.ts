import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { answer, useScriptedApi } from '../testing/scripted-api.ts'
import { type TokenReview, reviewToken } from './token-review.ts'

const username = 'system:serviceaccount:shop:gateway'

test('a token of a service account, for our audience', async (t) => {
  const extra = { 'authentication.kubernetes.io/pod-name': ['gateway-1'] }
  const status = { authenticated: true, audiences: ['portico'], user: { username, extra } }
  assert.deepEqual(await review(t, status), {
    ok: true,
    namespace: 'shop',
    serviceAccount: 'gateway',
    pod: 'gateway-1',
  })
})

for (const [what, status, why] of [
  ['one that the server refuses', { authenticated: false, error: 'token abc expired' }, 'the token is not valid'],
  ['an answer without a status', undefined, 'the token is not valid'],
  [
    'one for others',
    { authenticated: true, audiences: ['api'], user: { username } },
    'the token is not for the audience portico',
  ],
  [
    'one of a server without audiences',
    { authenticated: true, user: { username } },
    'the token is not for the audience portico',
  ],
  [
    'one of a person',
    { authenticated: true, audiences: ['portico'], user: { username: 'admin' } },
    'the token does not belong to a service account',
  ],
] as const) {
  test(`refuses ${what}`, async (t) => {
    assert.deepEqual(await review(t, status), { ok: false, why })
  })
}

async function review(t: TestContext, status: object | undefined): Promise<TokenReview> {
  const api = await useScriptedApi(t, (_, response) => answer(response, 201, { status }))
  const reviewed = await reviewToken(api.client, 'abc', 'portico')
  const spec = { token: 'abc', audiences: ['portico'] }
  assert.deepEqual(api.asked[0]?.body, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec })
  return reviewed
}
