import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { useTlsFiles } from '../../packages/gateway/src/testing/tls-files.ts'
import { buildGoProgram, withoutGo as skip } from './go.ts'

/** The HTTP/2 client of the gateway before a backend of Go's `net/http`, in plain text and over TLS. */

const MAX_STREAMS = 10

async function useGateway(t: TestContext, isTls: boolean): Promise<Program> {
  const { dir } = useTlsFiles(t, ['go'])
  const files = isTls ? { cert: join(dir, 'go.crt'), key: join(dir, 'go.key') } : {}
  const backend = spawn(await buildGoProgram(t, 'http2', '.'), [JSON.stringify({ ...files, maxStreams: MAX_STREAMS })])
  t.after(() => backend.kill('SIGKILL'))
  const [port] = (await once(backend.stdout, 'data')) as [Buffer]
  const tls = isTls ? { tls: { insecureSkipVerify: 'All' } } : {}
  const policies = { http: { version: 'HTTP2' }, ...tls }
  const routes = [{ backends: [{ host: `127.0.0.1:${port.toString().trim()}`, policies }] }]
  const config = useConfigFile(t, {
    config: { workers: 1, logging: { level: 'warn' } },
    binds: [{ port: 0, listeners: [{ name: 'all', protocol: 'HTTP', routes }] }],
  })
  return useProgram(t, { args: ['-f', config.file] })
}

interface Reply {
  response: IncomingMessage
  /** Null when the response was cut. */
  body: Buffer | null
}

const agent = new Agent({ keepAlive: true, maxSockets: 50 })

async function send(program: Program, path: string, body: Buffer | null = null): Promise<Reply> {
  const sent = request({
    host: '127.0.0.1',
    port: program.port(),
    path,
    agent,
    method: body === null ? 'GET' : 'POST',
    headers: { te: 'trailers', connection: 'te' },
  })
  sent.on('error', () => {})
  sent.end(body ?? undefined)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks = (await response.toArray().catch(() => null)) as Buffer[] | null
  return { response, body: chunks === null ? null : Buffer.concat(chunks) }
}

for (const isTls of [false, true]) {
  test(
    `bodies, trailers and cuts of a Go backend pass ${isTls ? 'over TLS' : 'in plain text'}`,
    { skip },
    async (t) => {
      const program = await useGateway(t, isTls)
      t.after(() => agent.destroy())

      for (const size of [0, 1, 16_384, 65_536, 5_000_000]) {
        const sent = Buffer.alloc(size, 'portico')
        const { response, body } = await send(program, '/echo', sent)
        assert.equal(response.headers['x-protocol'], 'HTTP/2.0')
        assert.ok(body?.equals(sent), `${size} bytes`)
        if (size > 0) assert.equal(response.trailers['x-hash'], createHash('sha256').update(sent).digest('hex'))
      }
      assert.equal((await send(program, '/bytes?n=20000000')).body?.length, 20_000_000)

      const many = Array.from({ length: 500 }, (_, i) => send(program, '/echo', Buffer.from(`body ${i}`)))
      const bodies = (await Promise.all(many)).map(({ response, body }) => `${response.statusCode} ${String(body)}`)
      assert.deepEqual(
        bodies,
        Array.from(many, (_, i) => `200 body ${i}`),
      )

      const cut = await send(program, '/cut')
      // A cut that comes in one packet with its head is found before anything is sent.
      assert.ok(cut.body === null || cut.response.statusCode === 503, `${cut.response.statusCode} ${String(cut.body)}`)
      const early = await send(program, '/early', Buffer.alloc(1_000_000))
      assert.deepEqual([early.response.statusCode, String(early.body)], [413, 'too large'])
      assert.equal((await send(program, '/bytes?n=3')).body?.length, 3)
    },
  )
}
