import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { routeTo, useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { useTlsFiles } from '../../packages/gateway/src/testing/tls-files.ts'
import { buildGoClient, runGo, withoutGo as skip } from './go.ts'

/** Kept-alive connections of Go's `net/http` while certificates rotate and while the gateway drains: no POST is lost. */

/** `KEEPALIVE_REQUESTS=50000` is the full measure. */
const REQUESTS = Number(process.env['KEEPALIVE_REQUESTS'] ?? 4000)
const ROTATIONS = 8
const CONNECTIONS = 10

interface ClientOutput {
  answered: number
  failed: Record<string, number>
  certificates: number
  refused: number
  reset: number
}

async function useSecureGateway(t: TestContext) {
  const origin = await useOrigin(t)
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const tls = { cert: join(dir, 'a.test.crt'), key: join(dir, 'a.test.key') }
  const config = useConfigFile(t, {
    config: {
      workers: 2,
      connectionMinTerminationDeadline: '2s',
      connectionTerminationDeadline: '10s',
      logging: { level: 'warn' },
    },
    binds: [{ port: 0, listeners: [{ name: 'all', protocol: 'HTTPS', tls, routes: [routeTo(origin)] }] }],
  })
  const program = await useProgram(t, { args: ['-f', config.file] })
  const rotate = (): void => {
    const { cert, key } = authority.issue({ commonName: 'a.test', names: ['a.test'] })
    for (const [name, text] of Object.entries({ crt: cert, key })) {
      writeFileSync(join(dir, `new.${name}`), text)
      renameSync(join(dir, `new.${name}`), join(dir, `a.test.${name}`))
    }
  }
  return { program, rotate }
}

function ask(client: string, program: Program, requests: number): Promise<ClientOutput> {
  const url = `https://127.0.0.1:${program.port()}/`
  return runGo<ClientOutput>(client, { url, connections: CONNECTIONS, requests, pauseMicros: 4000 })
}

test('no POST of a Go client is lost while certificates rotate', { skip }, async (t) => {
  const client = await buildGoClient(t, 'keepalive')
  const { program, rotate } = await useSecureGateway(t)
  const told = ask(client, program, REQUESTS)
  for (let rotations = 0; rotations < ROTATIONS; rotations++) {
    await setTimeout(REQUESTS / 20)
    rotate()
  }
  const { answered, failed, certificates } = await told
  t.diagnostic(`${answered} answered, ${certificates} certificates, ${JSON.stringify(failed)}`)
  assert.deepEqual(failed, {})
  assert.equal(answered, REQUESTS)
  assert.ok(certificates > 1, 'connections have met a new certificate')
})

test('no POST of a Go client is lost while the gateway drains', { skip }, async (t) => {
  const client = await buildGoClient(t, 'keepalive')
  const { program } = await useSecureGateway(t)
  const told = ask(client, program, 0)
  await setTimeout(1000)
  program.child.kill('SIGTERM')
  const { answered, failed, refused, reset } = await told
  t.diagnostic(`${answered} answered, ${reset} reset before they were open, ${JSON.stringify(failed)}`)
  assert.deepEqual(failed, {})
  assert.equal(refused, CONNECTIONS)
  // Each of the two workers closes its listener with at most one connection that arrived at that moment.
  assert.ok(reset <= 2, `${reset} connections were reset`)
  assert.ok(answered > 0)
  assert.deepEqual(await program.ended, { code: 0, signal: null })
})
