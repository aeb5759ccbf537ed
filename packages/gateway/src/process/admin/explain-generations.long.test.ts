import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import type { RequestList } from '../../exports/admin-api.ts'
import { config, explained, page, refusals, untilGeneration } from '../../testing/admin/explained.ts'
import { request } from '../../testing/client.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../testing/process.ts'

/** The request that was recorded last. */
async function newest(program: Program): Promise<string> {
  let id = ''
  await eventually('it is recorded', async () => {
    const { requests } = (await (await fetch(`${program.admin}/api/requests`)).json()) as RequestList
    id = requests[0]?.id ?? ''
    return id !== ''
  })
  return id
}

test('a request that ends after the next config is told by the one that let it in', async (t) => {
  const held: Socket[] = []
  const origin = createServer((socket) => void held.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  t.after(() => held.forEach((socket) => socket.destroy()))
  t.after(() => origin.close())
  const { port } = origin.address() as AddressInfo
  const text = `config: { workers: 1 }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - routes: [{ name: held, backends: [{ host: "127.0.0.1:${port}" }] }]
`
  const live = useConfigFile(t, text)
  const program = await useProgram(t, { args: ['-f', live.file] })
  const waiting = request(program.port(), { method: 'POST' })
  await eventually('it is under way', () => held.length === 1)
  live.replace(text.replace('listeners:', '# a line more\n  listeners:'))
  await untilGeneration(program, 2)
  held[0]?.destroy()
  assert.equal((await waiting).status, 503)
  const lost = await explained(program, await newest(program))
  assert.deepEqual(lost.config, { generation: 1, live: 2, isExact: true })
  const place = lost.decidedBy?.place ?? null
  assert.equal(place !== null && 'line' in place ? place.line : null, 6, 'where it stood then')
})

test('a config that is not kept any more is not made up: the record alone is told', async (t) => {
  const routes = `${config}# ${'x'.repeat(600_000)}\n`
  const live = useConfigFile(t, routes)
  const program = await useProgram(t, { args: ['-f', live.file] })
  assert.equal((await request(program.port(), { headers: { 'x-team': 'c' } })).status, 403)
  await eventually('it is recorded', async () => (await refusals(program)).length === 1)
  const id = (await refusals(program))[0]?.id ?? ''
  live.replace(routes.replace('["a", "b"]', '["c"]'))
  await untilGeneration(program, 2)
  const after = await explained(program, id)
  assert.deepEqual(after.config, { generation: 1, live: 2, isExact: false })
  assert.ok(page.includes(`${after.headline}\n`))
  assert.deepEqual([after.code, after.wouldPass], ['no_allow_rule_true', []])
  assert.deepEqual([after.decidedBy?.place, after.rules[0]?.place, after.candidates], [null, null, []])
  assert.equal(after.rules[0]?.expression, 'request.headers["x-team"] in ["a", "b"]')
  assert.match(after.remarks.join(), /config 1 decided the request and is no longer stored/)
})

test('a record that an earlier process has left is not told by a config of this one', async (t) => {
  const live = useConfigFile(t, `frontend: { recorder: { disk: { folder: records } } }\n${config}`)
  const first = await useProgram(t, { args: ['-f', live.file] })
  assert.equal((await request(first.port(), { headers: { 'x-team': 'c' } })).status, 403)
  await eventually('it is recorded', async () => (await refusals(first)).length === 1)
  const id = (await refusals(first))[0]?.id ?? ''
  first.child.kill('SIGTERM')
  assert.equal((await first.ended).code, 0)
  live.replace(`frontend: { recorder: { disk: { folder: records } } }\n${config.replace('["a", "b"]', '["c"]')}`)
  const second = await useProgram(t, { args: ['-f', live.file] })
  assert.equal((await refusals(second))[0]?.id, id)
  const told = await explained(second, id)
  assert.deepEqual(told.config, { generation: 1, live: 1, isExact: false })
  assert.equal(told.decidedBy?.place, null)
  assert.match(told.remarks.join(), /config 1 of an earlier process decided the request and is no longer stored/)
})
