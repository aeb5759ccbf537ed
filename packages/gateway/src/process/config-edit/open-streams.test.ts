import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { CheckedConfig, ConfigEffect } from '../../admin/config-view.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../testing/process.ts'

test('an effect says how many streams are open, and how many of them on routes that change', async (t) => {
  const origin = await useStreams(t)
  const { file } = useConfigFile(t, configText(origin.port))
  const program = await useProgram(t, { args: ['-f', file] })
  assert.deepEqual(await streams(program, edited(origin.port, 'a')), { open: 0, onThem: 0, unheard: 0 })

  const [one, other] = [await readEvents(t, program, '/a'), await readEvents(t, program, '/b')]
  assert.deepEqual(await streams(program, edited(origin.port, 'a')), { open: 2, onThem: 1, unheard: 0 })
  assert.deepEqual(await streams(program, edited(origin.port, 'socket')), { open: 2, onThem: 0, unheard: 0 })
  assert.deepEqual(await streams(program, 'binds: []\nconfig: { workers: 2 }'), { open: 2, onThem: 2, unheard: 0 })

  // Two on one connection, a connection that a request took over, and one without HTTP.
  const session = connectHttp2(`http://127.0.0.1:${program.port()}`)
  t.after(() => session.destroy())
  for (const path of ['/b', '/b']) await once(session.request({ ':path': path }), 'response')
  const upgraded = await open(
    t,
    program.port(),
    'GET /socket HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  )
  const raw = await open(t, program.port(1), 'GET /raw HTTP/1.1\r\nhost: a\r\n\r\n')
  assert.deepEqual(await streams(program, edited(origin.port, 'b')), { open: 6, onThem: 3, unheard: 0 })
  assert.deepEqual(await streams(program, edited(origin.port, 'socket')), { open: 6, onThem: 1, unheard: 0 })
  const withoutRaw = configText(origin.port).replace(
    /- port: 0\n {2}address: 127\.0\.0\.1\n {2}listeners:\n {2}- name: raw[^]*$/,
    '',
  )
  assert.deepEqual(await streams(program, withoutRaw), { open: 6, onThem: 1, unheard: 0 })

  for (const stream of [one, other, upgraded, raw]) stream.destroy()
  session.destroy()
  await eventually('all are over', async () => (await streams(program, edited(origin.port, 'a'))).open === 0)
})

function configText(port: number): string {
  return `config: { workers: 2 }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - name: web
    routes:
    - { name: a, matches: [{ path: { exact: /a } }], backends: [{ host: "127.0.0.1:${port}" }] }
    - { name: b, matches: [{ path: { exact: /b } }], backends: [{ host: "127.0.0.1:${port}", policies: { http: { version: HTTP1 } } }] }
    - { name: socket, matches: [{ path: { exact: /socket } }], backends: [{ host: "127.0.0.1:${port}" }] }
- port: 0
  address: 127.0.0.1
  listeners:
  - name: raw
    protocol: TCP
    routes: [{ name: raw, backends: [{ host: "127.0.0.1:${port}" }] }]
`
}

function edited(port: number, route: string): string {
  return configText(port).replace(`name: ${route},`, `name: ${route}, policies: { timeouts: { request: 1h } },`)
}

async function streams(program: Program, text: string): Promise<ConfigEffect['streams']> {
  const headers = { 'content-type': 'application/json', 'x-portico-same-origin': '1' }
  const body = JSON.stringify({ text })
  const answer = await fetch(`${program.admin}/api/config/check`, { method: 'POST', headers, body })
  const { effect, problems, refused } = (await answer.json()) as CheckedConfig
  assert.deepEqual([problems, refused], [[], []])
  return effect?.streams ?? assert.fail('it has no effect')
}

/** Answers with streams that do not end, and takes every upgrade. */
async function useStreams(t: TestContext): Promise<{ port: number }> {
  const server = createServer((_, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
  })
  server.on('upgrade', (_, socket: Socket) => {
    socket.on('error', () => {})
    socket.on('end', () => socket.end()).resume()
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}

function readEvents(t: TestContext, program: Program, path: string): Promise<Socket> {
  return open(t, program.port(), `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
}

/** A connection on which the head of an answer has come. */
async function open(t: TestContext, port: number, request: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(request)
  await once(socket, 'data')
  return socket
}
