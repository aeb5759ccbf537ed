import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { useOrigin } from '../packages/gateway/src/testing/scene.ts'
import { useTlsFiles } from '../packages/gateway/src/testing/tls-files.ts'
import { useShippedGateway } from './shipped-gateway.ts'
import { accepted, findH2spec, pageOf, runH2spec } from './h2spec.ts'

const program = findH2spec()
const skip =
  program === null &&
  'no h2spec here; go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible installs it'
const ALL_TESTS = 145
/** Well under the two seconds that the suite waits. */
const ANSWER_AFTER_MS = 200

describe('h2spec', () => {
  for (const kind of ['plain', 'TLS'] as const) {
    it(`finds nothing on ${kind} ports but what docs/h2spec.md explains`, { skip }, async (t) => {
      const { dir } = useTlsFiles(t, ['localhost'])
      // An answer that takes its time: the suite's next frame is to meet a stream that is not over yet.
      const origin = await useOrigin(t, (_request, response) =>
        setTimeout(() => response.end('hello'), ANSWER_AFTER_MS),
      )
      const routes = [{ backends: [{ host: origin.host, policies: { http: { version: 'HTTP1' } } }] }]
      const listener =
        kind === 'TLS'
          ? { protocol: 'HTTPS', tls: { cert: 'localhost.crt', key: 'localhost.key' }, routes }
          : { routes }
      const config = { binds: [{ port: 0, address: '127.0.0.1', listeners: [listener] }] }
      const gateway = await useShippedGateway(t, config, { dir })

      const { passed, failed } = await runH2spec(program ?? '', gateway.port(), kind === 'TLS')
      const known = new Set(
        accepted.filter(({ on }) => on === 'both' || kind === 'plain').map(({ section, test }) => `${section} ${test}`),
      )
      const surprises = [...failed].filter(([name]) => !known.has(name))
      assert.deepEqual(surprises, [])
      assert.equal(passed + failed.size, ALL_TESTS)
      for (const name of known) if (!failed.has(name)) t.diagnostic(`passes now: ${name}`)
      assert.deepEqual(gateway.bugs, [])
    })
  }

  it('docs/h2spec.md holds the list', () => {
    const file = new URL('../docs/h2spec.md', import.meta.url)
    const page = pageOf()
    let before = ''
    try {
      before = readFileSync(file, 'utf8')
    } catch {
      // Written for the first time.
    }
    if (before === page) return
    writeFileSync(file, page)
    assert.fail('docs/h2spec.md was stale and has been written anew')
  })
})
