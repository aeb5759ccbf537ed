import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { AppliedConfig, PastConfigText } from '../../admin/config-view.ts'
import { request } from '../../testing/client.ts'
import { apply, json, useEditable, view } from '../../testing/edits.ts'
import { KeepAliveClient } from '../../testing/keep-alive-client.ts'
import { eventually, metric } from '../../testing/process.ts'
import { pathPrefix, useOrigin } from '../../testing/scene.ts'

const isFull = process.env['PROPERTIES'] === 'full'
const HELD = isFull ? 300 : 100
const STREAMS = isFull ? 40 : 20
const ROUNDS = isFull ? 4 : 2

test('edits and ways back fail no request that is under way, and cut no stream', async (t) => {
  const held: ServerResponse[] = []
  const streams: ServerResponse[] = []
  const origin = await useOrigin(t, ({ url }, response) => {
    if (url === '/held') return void held.push(response)
    if (url !== '/stream') return response.end('ok')
    streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    response.write('data: first\n\n')
  })
  const bind = (routes: object[]): object => ({ port: 0, address: '127.0.0.1', listeners: [{ name: 'web', routes }] })
  const { program } = await useEditable(t, {
    config: { workers: 2, ui: { edit: true }, logging: { level: 'info,request=off' } },
    binds: [
      bind([
        { name: 'page', ...pathPrefix('/page'), policies: { directResponse: { status: 200, body: 'first' } } },
        { name: 'origin', backends: [{ host: origin.host }] },
      ]),
    ],
  })
  const waiting = Array.from({ length: HELD }, () => request(program.port(), { path: '/held' }))
  const streaming = Array.from({ length: STREAMS }, () => request(program.port(), { path: '/stream' }))
  await eventually('all are under way', () => held.length === HELD && streams.length === STREAMS)

  const load = { isOver: false, asked: 0, failures: [] as string[] }
  const clients = Array.from({ length: 4 }, () => new KeepAliveClient(program.port()))
  t.after(() => clients.forEach((client) => client.close()))
  const asking = clients.map(async (client, at) => {
    while (!load.isOver) {
      try {
        const { status, text } = await client.get(at % 2 === 0 ? '/page' : '/')
        if (status !== 200) load.failures.push(text)
      } catch (error) {
        load.failures.push(String(error))
      }
      load.asked++
    }
  })

  const before = await view(program)
  let { version, generation } = before
  for (let round = 0; round < ROUNDS; round++) {
    // The route of the waiting requests changes too, and a port is added and removed.
    const text = (before.text ?? '')
      .replace('"first"', `"edit ${round}"`)
      .replace('"name": "origin",', '"name": "origin", "policies": { "timeouts": { "request": "1h" } },')
      .replace(/\n {2}\]\n\}\n?$/, `, ${JSON.stringify(bind([]))}\n  ]\n}`)
    assert.ok(text.includes(`edit ${round}`) && text.includes('1h') && text.endsWith('[]}]}\n  ]\n}'), text)
    const edit = await apply(program, { text, basedOn: version ?? '' })
    assert.equal(edit.status, 200, await edit.clone().text())
    const applied = (await edit.json()) as AppliedConfig
    assert.equal((await request(program.port(), { path: '/page' })).body, `edit ${round}`)
    const past = await json<PastConfigText>(program, `/api/config/history/${before.generation}`)
    const back = await apply(program, { text: past.text, basedOn: applied.version, generation: before.generation })
    assert.equal(back.status, 200, await back.clone().text())
    ;({ version, generation } = (await back.json()) as AppliedConfig)
    assert.equal((await request(program.port(), { path: '/page' })).body, 'first')
  }
  assert.equal(generation, 1 + 2 * ROUNDS)
  load.isOver = true
  await Promise.all(asking)
  for (const response of held) response.end('late')
  for (const response of streams) response.end('data: last\n\n')

  const answers = await Promise.all(waiting)
  assert.equal(answers.filter(({ status, body }) => status === 200 && body === 'late').length, HELD)
  const whole = (await Promise.all(streaming)).filter(({ body }) => /data: first[^]*data: last/.test(body))
  assert.equal(whole.length, STREAMS)
  assert.deepEqual(load.failures.slice(0, 3), [])
  t.diagnostic(`${load.asked} requests beside ${HELD} that waited and ${STREAMS} streams, ${generation} generations`)
  assert.equal(await metric(program, 'portico_worker_restarts_total'), 0)
  assert.match((await view(program)).text ?? '', /"first"/)
})
