import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { TOKEN, useEditable } from '../../packages/gateway/src/testing/edits.ts'
import { buildGoClient, runGo, withoutGo } from './go.ts'
import { runPython, withoutPython } from './python.ts'

/** The admin API as programs use it that know nothing of this one but its documentation. */

const CONFIG = `config: { workers: 2 }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - name: web
    routes:
    - name: limited
      matches: [{ path: { exact: /limited } }]
      policies:
        rateLimit: { local: [{ requests: 1, unit: Hours }] }
        directResponse: { status: 200, body: limited }
    - name: page
      matches: [{ path: { pathPrefix: /page } }]
      policies: { directResponse: { status: 200, body: größe } }
`
const LIMITED_AT = CONFIG.split('\n').findIndex((line) => line.includes('rateLimit')) + 1

/** The output of a client. */
interface ClientOutput {
  entry: Record<string, number>
  pages: string[][]
  limited: [path: string, status: number, policy: string]
  chosen: string[]
  refused: number
  tailed: string[]
  explained: [headline: string, line: number]
  downloaded: number
  checked: [line: number, column: number]
  sent: [status: number, text: string, last: string, path: string]
}

describe('the admin API', () => {
  it('serves a client in Python', { skip: withoutPython }, (t) =>
    finds(t, (input) => runPython<ClientOutput>('admin_client.py', input)),
  )

  it('serves a client in Go', { skip: withoutGo }, async (t) => {
    const client = await buildGoClient(t, 'admin')
    await finds(t, (input) => runGo<ClientOutput>(client, input))
  })
})

async function finds(t: TestContext, run: (input: object) => Promise<ClientOutput>): Promise<void> {
  const { program } = await useEditable(t, CONFIG, { env: { ADMIN_ADDR: '0.0.0.0:0' } })
  const seen = await run({
    // An address of all of the machine, by one of its names.
    admin: program.admin.replace('0.0.0.0', '127.0.0.1'),
    gateway: `http://127.0.0.1:${program.port()}`,
    token: TOKEN,
    paths: ['/page', '/limited', '/limited', '/page?a=1'],
    tailed: '/nowhere',
    expression: 'request.path == "/page" && response.code == 200',
    broken: CONFIG.replace('exact: /limited', 'exat: /limited'),
  })
  const [headline, line] = seen.explained
  assert.match(headline, /limit/)
  const wrong = CONFIG.split('\n').findIndex((text) => text.includes('exact: /limited')) + 1
  assert.deepEqual({ ...seen, explained: line }, {
    entry: { other: 401, token: 200, cookie: 401, session: 200, rebound: 403, unsaid: 403 },
    pages: [['/nowhere', '/page?a=1'], ['/limited', '/limited'], ['/page']],
    limited: ['/limited', 429, 'rateLimit'],
    chosen: ['/page?a=1', '/page'],
    refused: 400,
    tailed: ['/nowhere'],
    explained: LIMITED_AT,
    downloaded: 5,
    checked: [wrong, (CONFIG.split('\n')[wrong - 1]?.indexOf('exact') ?? 0) + 1],
    sent: [200, 'größe', 'end', '/page'],
  } satisfies Omit<ClientOutput, 'explained'> & { explained: number })
}
