import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Capsule } from '../../capsule/capsule.ts'
import { readCapsule } from '../../capsule/read-capsule.ts'
import { runCapsule } from '../../capsule/run-capsule.ts'
import type { RequestList } from '../../telemetry/recorder/record.ts'
import { request } from '../../testing/client.ts'
import { call, configText, json, useEditable } from '../../testing/edits.ts'
import { eventually } from '../../testing/process.ts'

const KEY = 'key-of-ann-0123456789'

test('a capsule of the admin server replays the request without its secrets', async (t) => {
  const keys = `apiKeyAuthentication: { secretRef: { data: { ann: { key: ${KEY} } } } }`
  const text = configText().replace('        rateLimit:', `        ${keys}\n        rateLimit:`)
  const { program, config } = await useEditable(t, text)
  const headers = { authorization: `Bearer ${KEY}` }
  for (let i = 0; i < 6; i++) await request(program.port(), { path: '/limited', headers })
  let id = ''
  await eventually('the refusal is recorded', async () => {
    id = (await json<RequestList>(program, '/api/requests?outcome=limited')).requests[0]?.id ?? ''
    return id !== ''
  })
  const answer = await call(program, `/api/requests/${id}/capsule`)
  const body = await answer.text()
  assert.equal(answer.status, 200, body)
  assert.ok(!body.includes(KEY) && !body.includes('sk-very-secret'))
  const capsule = JSON.parse(body) as Capsule
  assert.deepEqual([capsule.problem, capsule.request], [null, id])
  assert.match(capsule.decision.headline, /limit/)
  assert.deepEqual(
    capsule.config.routes.map(({ name }) => name),
    ['limited'],
  )
  const file = join(dirname(config.file), 'a.capsule.json')
  writeFileSync(file, body)
  const read = readCapsule(file)
  assert.ok(typeof read === 'object' && read !== null)
  const run = await runCapsule(read, file, { filter: null })
  assert.ok(run.ok)
  assert.deepEqual(
    run.results.map(({ failures }) => failures),
    [[]],
  )
  const none = await call(program, '/api/requests/0000000000/capsule')
  assert.equal(none.status, 404)
  const twice = await Promise.all([1, 2].map(() => call(program, `/api/requests/${id}/capsule`)))
  assert.deepEqual(new Set(twice.map(({ status }) => status)), new Set([200, 429]))
})
