import assert from 'node:assert/strict'
import { get } from 'node:http'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { KeepAliveClient } from '../../testing/keep-alive-client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../testing/process.ts'
import { pathPrefix, useOrigin } from '../../testing/scene.ts'

const REWRITES = 100
const REWRITE_EVERY_MS = 200
const LEAST_GENERATIONS = 40
const CLIENTS = 6

test('a config rewritten all the time fails no request and cuts no stream', async (t) => {
  const over = new AbortController()
  const upgraded = new Set<Duplex>()
  // Before the origin, which ends when nothing is connected any more.
  t.after(() => {
    over.abort()
    for (const socket of upgraded) socket.destroy()
  })
  const origin = await useOrigin(t, (request, response) => {
    if (request.url !== '/sse') return response.end('ok')
    let count = 0
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const ticking = setInterval(() => response.write(`data: ${count++}\n\n`), 50)
    response.on('close', () => clearInterval(ticking))
  })
  origin.server.on('upgrade', (_request, socket) => upgraded.add(socket))
  const sockets = new WebSocketServer({ server: origin.server })
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)))

  const configAt = (round: number) => {
    const listener = {
      routes: [
        {
          name: 'changing',
          ...pathPrefix('/changing'),
          policies: { directResponse: { status: 200, body: `${round}` } },
        },
        { name: 'kept', backends: [{ host: origin.host }] },
      ],
    }
    const bind = { port: 0, address: '127.0.0.1', listeners: [listener] }
    // Every other config has a port more.
    return {
      config: { workers: 2, logging: { level: 'info,request=off' } },
      binds: round % 2 === 0 ? [bind] : [bind, bind],
    }
  }
  const config = useConfigFile(t, configAt(0))
  const program = await useProgram(t, { args: ['-f', config.file] })

  const stream = await openStream(t, program.port())
  const socket = new WebSocket(`ws://127.0.0.1:${program.port()}/ws`)
  t.after(() => socket.terminate())
  const failures: string[] = []
  let echoes = 0
  socket.on('message', () => echoes++)
  socket.on('close', (code) => failures.push(`the WebSocket closed with ${code}`))
  await new Promise<void>((resolve) => socket.once('open', () => resolve()))

  let requests = 0
  const clients = Array.from({ length: CLIENTS }, () => new KeepAliveClient(program.port()))
  const load = clients.map(async (client, index) => {
    while (!over.signal.aborted) {
      try {
        const { status, text } = await client.get(index % 2 === 0 ? '/' : '/changing')
        if (status !== 200) failures.push(text)
      } catch (error) {
        failures.push(String(error))
      }
      requests++
    }
  })

  const startedAt = performance.now()
  let sent = 0
  for (let round = 1; round <= REWRITES; round++) {
    if (round % 3 === 0) config.edit(configAt(round))
    else config.replace(configAt(round))
    socket.send(String(sent++))
    const pause = startedAt + round * REWRITE_EVERY_MS - performance.now()
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  const tester = new KeepAliveClient(program.port())
  t.after(() => tester.close())
  await eventually('the last config', async () => (await tester.get('/changing')).body === String(REWRITES))
  const eventsBefore = stream.events
  await eventually('the stream lives', () => stream.events > eventsBefore)
  await eventually('the WebSocket lives', () => echoes === sent)
  over.abort()
  await Promise.all(load)
  for (const client of clients) client.close()

  const generations = await metric(program, 'portico_config_generation')
  t.diagnostic(`${requests} requests, ${generations} generations, ${stream.events} events`)
  assert.deepEqual(failures.slice(0, 5), [])
  assert.equal(stream.problem, null)
  assert.ok(generations >= LEAST_GENERATIONS, `${generations} generations`)
  assert.equal(await metric(program, 'portico_worker_restarts_total'), 0)
  assert.doesNotMatch(program.stdout(), /\terror\t/)
})

/** Counts the events of a stream and notes when one is missing or the stream ends. */
async function openStream(t: { after(fn: () => void): void }, port: number) {
  const stream = { events: 0, problem: null as string | null }
  const client = get({ port, host: '127.0.0.1', path: '/sse', agent: false })
  let rest = ''
  client.on('error', (error) => (stream.problem ??= error.message))
  await new Promise<void>((resolve) => {
    client.on('response', (response) => {
      response.setEncoding('utf8')
      response.on('close', () => (stream.problem ??= 'closed'))
      response.on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n\n')
        rest = parts.pop()!
        for (const part of parts) {
          if (part !== `data: ${stream.events}`) stream.problem ??= `${part} instead of ${stream.events}`
          stream.events++
        }
        resolve()
      })
    })
  })
  t.after(() => client.destroy())
  return stream
}
