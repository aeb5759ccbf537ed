import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { KeepAliveClient } from '../../testing/keep-alive-client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../testing/process.ts'
import { useOrigin } from '../../testing/scene.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'

/** Requests on connections that stay open, which a rotation or a shutdown must not lose. POST: clients cannot repeat it. */

const REQUESTS = 50_000
const ROTATIONS = 24
const CLIENTS = 10

test('no request on a kept connection is lost while the certificate is replaced', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const origin = await useOrigin(t, (_request, response) => response.end('ok'))
  const { file } = useConfigFile(t, {
    config: { workers: 2, logging: { level: 'info,request=off' } },
    binds: [
      {
        port: 0,
        address: '127.0.0.1',
        listeners: [
          {
            protocol: 'HTTPS',
            tls: { cert: join(dir, 'a.test.crt'), key: join(dir, 'a.test.key') },
            routes: [{ backends: [{ host: origin.host }] }],
          },
        ],
      },
    ],
  })
  const program = await useProgram(t, { args: ['-f', file] })
  const open = () =>
    connectTls({ port: program.port(), host: '127.0.0.1', servername: 'a.test', rejectUnauthorized: false })
  let sent = 0
  const lost: string[] = []
  const load = useLoad(t, () => new KeepAliveClient(program.port(), '127.0.0.1', open), {
    isOver: () => sent >= REQUESTS,
    sending: () => sent++,
    failed: (error) => lost.push(error),
  })
  for (let round = 1; round <= ROTATIONS; round++) {
    await eventually(`request ${round}`, () => sent >= (round * REQUESTS) / (ROTATIONS + 1), 120_000)
    const { cert, key } = authority.issue({ commonName: 'a.test', names: ['a.test'] })
    writeFileSync(join(dir, 'a.test.key'), key)
    writeFileSync(join(dir, 'a.test.crt'), cert)
    program.child.kill('SIGHUP')
  }
  await load
  const generations = await metric(program, 'portico_config_generation')
  t.diagnostic(`${sent} requests, ${generations} generations, ${lost.length} lost`)
  assert.ok(generations > ROTATIONS / 2, `${generations} generations`)
  assert.deepEqual(lost.slice(0, 3), [])
})

for (const minimum of ['0s', '500ms']) {
  test(`no request on a kept connection is lost when the gateway ends with a minimum of ${minimum}`, async (t) => {
    const origin = await useOrigin(t, (_request, response) => response.end('ok'))
    const lost: string[] = []
    let sent = 0
    for (let round = 0; round < 5; round++) {
      const { file } = useConfigFile(t, {
        config: {
          workers: 2,
          connectionMinTerminationDeadline: minimum,
          connectionTerminationDeadline: '10s',
          logging: { level: 'info,request=off' },
        },
        binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [{ backends: [{ host: origin.host }] }] }] }],
      })
      const program = await useProgram(t, { args: ['-f', file] })
      const before = sent
      let isOver = false
      const load = useLoad(t, () => new KeepAliveClient(program.port()), {
        isOver: () => isOver,
        sending: () => sent++,
        failed(error) {
          // A fresh connection is refused, or reset in the moment in which the port closes.
          if (/ECONNREFUSED|opening/.test(error)) isOver = true
          else lost.push(error)
        },
        pauseMs: (client) => client * 40,
      })
      await eventually('load', () => sent > before + 100)
      program.child.kill('SIGTERM')
      await program.ended
      isOver = true
      await load
    }
    t.diagnostic(`${sent} requests, ${lost.length} lost`)
    assert.deepEqual(lost.slice(0, 3), [])
  })
}

interface LoadOptions {
  isOver(): boolean
  sending(): void
  failed(error: string): void
  /** Between two requests of a client, by its number. */
  pauseMs?(client: number): number
}

/** Clients that send POST requests one after the other, each on a connection of its own. */
async function useLoad(t: TestContext, create: () => KeepAliveClient, options: LoadOptions): Promise<void> {
  const clients = Array.from({ length: CLIENTS }, create)
  t.after(() => clients.forEach((client) => client.close()))
  await Promise.all(
    clients.map(async (client, index) => {
      while (!options.isOver()) {
        const isReused = client.isOpen
        options.sending()
        try {
          const { status } = await client.post('/', 'x'.repeat(100))
          if (status !== 200) options.failed(`status ${status}`)
        } catch (error) {
          options.failed(isReused ? String(error) : `opening: ${String(error)}`)
        }
        const pause = options.pauseMs?.(index) ?? 0
        if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
      }
      client.close()
    }),
  )
}
