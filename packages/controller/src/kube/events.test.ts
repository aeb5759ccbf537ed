import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, failCall, useScriptedApi } from '../testing/scripted-api.ts'
import { Events, type Happening } from './events.ts'

const about = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'cups', namespace: 'shop', uid: 'u1' } }
const happening: Happening = { about, type: 'Warning', reason: 'Rejected', message: 'no such port' }

test('an Event names its object; a repeated one is counted', async (t) => {
  const api = await useScriptedApi(t, (_, response) => answer(response, 201, {}))
  const events = new Events(api.client, 'portico', fail)
  await events.record(happening)
  await events.record(happening)
  await events.record({ ...happening, message: 'another' })
  assert.deepEqual(
    api.asked.map(({ method, path }) => `${method} ${path}`),
    ['POST /api/v1/namespaces/shop/events', 'POST /api/v1/namespaces/shop/events'],
  )
  const body = api.asked[0]?.body as {
    involvedObject: object
    reason: string
    type: string
    message: string
    count: number
  }
  assert.deepEqual(body.involvedObject, {
    apiVersion: 'v1',
    kind: 'Service',
    name: 'cups',
    namespace: 'shop',
    uid: 'u1',
  })
  assert.deepEqual([body.type, body.reason, body.message, body.count], ['Warning', 'Rejected', 'no such port', 1])
})

test('long messages are cut, Events of cluster-scoped objects go to the default namespace', async (t) => {
  const api = await useScriptedApi(t, (_, response) => answer(response, 201, {}))
  const events = new Events(api.client, 'portico', fail)
  const cluster = { apiVersion: 'v1', kind: 'GatewayClass', metadata: { name: 'n'.repeat(250) } }
  await events.record({ ...happening, about: cluster, message: 'x'.repeat(5000) })
  assert.equal(api.asked[0]?.path, '/api/v1/namespaces/default/events')
  const body = api.asked[0]?.body as { message: string; metadata: { name: string } }
  assert.equal(body.message.length, 1024)
  assert.ok(body.metadata.name.length <= 253)
})

test('a rejected Event is ignored', async (t) => {
  const api = await useScriptedApi(t, (_, response) => failCall(response, 403, 'may not'))
  const troubles: unknown[] = []
  await new Events(api.client, 'portico', (error) => troubles.push(error)).record(happening)
  assert.match(String(troubles), /POST .*events: 403 may not/)
})

function fail(error: unknown): void {
  assert.fail(String(error))
}
