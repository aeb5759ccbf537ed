import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it, test } from 'node:test'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { loadConfig } from '../../sources/file.ts'
import { useConfigFile, useProgram } from '../../testing/process.ts'
import { httpConfig, useOrigin } from '../../testing/scene.ts'
import { tryRequest } from './try-request.ts'

const hello = { policies: { directResponse: { status: 200, body: 'hello' } } }
const at = (path: string) => ({ matches: [{ path: { pathPrefix: path } }] })
const key = { secretRef: { data: { ann: { key: 'open-sesame' } } } }

/** The line that a start prints for a config on port 80. */
function lineFor(config: object): string | null {
  const loaded = loadConfig(stringify(config), { file: 'g.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const found = tryRequest(loaded.ir, Object.fromEntries(loaded.ir.binds.map((bind) => [bind.key, 80])))
  return found === null ? null : [found.curl, `# ${found.route}`, ...found.placeholders].join(' ')
}

const MODELS = [
  { name: 'any/*', provider: { mock: {} } },
  { name: 'hidden', provider: { mock: {} }, visibility: 'Internal' },
  { name: 'house', targets: [{ model: 'hidden' }] },
]

describe('the request to try', () => {
  const cases: [string, object, string | null][] = [
    [
      'takes the path of a route',
      httpConfig([{ name: 'a', ...at('/api'), ...hello }]),
      'curl -i http://127.0.0.1:80/api # a',
    ],
    [
      'has the host that the route or the listener asks for',
      httpConfig([{ name: 'a', hostnames: ['*.shop.test'], ...hello }]),
      "curl -i http://127.0.0.1:80/ -H 'Host: any.shop.test' # a",
    ],
    [
      'has the headers and the query of the match',
      httpConfig([
        {
          name: 'a',
          matches: [
            {
              path: { exact: '/x' },
              headers: [{ name: 'x-team', value: { exact: "it's" } }],
              query: [{ name: 'v', value: { exact: '1 2' } }],
            },
          ],
          ...hello,
        },
      ]),
      "curl -i 'http://127.0.0.1:80/x?v=1+2' -H 'x-team: it'\\''s' # a",
    ],
    [
      'passes by routes that refuse, redirect, or cannot be told',
      httpConfig([
        { name: 'no', ...at('/no'), policies: { directResponse: { status: 403 } } },
        { name: 'away', ...at('/away'), policies: { requestRedirect: { scheme: 'https' } } },
        { name: 'rules', ...at('/rules'), policies: { ...hello.policies, authorization: { rules: ['true'] } } },
        { name: 'pattern', matches: [{ path: { regex: '/p[0-9]+' } }], ...hello },
        { name: 'post', matches: [{ path: { exact: '/post' }, method: 'POST' }], ...hello },
        { name: 'yes', ...at('/yes'), ...hello },
      ]),
      'curl -i http://127.0.0.1:80/yes # yes',
    ],
    [
      'says which header is needed where no route does without',
      httpConfig([{ name: 'a', policies: { ...hello.policies, apiKeyAuthentication: key } }]),
      "curl -i http://127.0.0.1:80/ -H 'Authorization: Bearer <key>' # a <key>",
    ],
    [
      'prefers a route that needs nothing',
      httpConfig([
        { name: 'locked', ...at('/locked'), policies: { ...hello.policies, apiKeyAuthentication: key } },
        { name: 'open', ...at('/open'), ...hello },
      ]),
      'curl -i http://127.0.0.1:80/open # open',
    ],
    [
      'is a chat where a model answers',
      httpConfig([{ name: 'chat', ...at('/v1'), backends: [{ ai: { provider: { mock: {} } } }] }]),
      'curl -i http://127.0.0.1:80/v1/chat/completions -H \'content-type: application/json\' -d \'{"model":"mock","messages":[{"role":"user","content":"Hello"}]}\' # chat',
    ],
    [
      'names a model that clients may use where models are routed by name',
      httpConfig([{ name: 'chat', ...at('/v1'), backends: [{ ai: { models: MODELS } }] }]),
      'curl -i http://127.0.0.1:80/v1/chat/completions -H \'content-type: application/json\' -d \'{"model":"house","messages":[{"role":"user","content":"Hello"}]}\' # chat',
    ],
    [
      'is not there for connections that only others may open',
      httpConfig([{ ...hello }], { frontend: { proxyProtocol: { mode: 'Strict' } } }),
      null,
    ],
    ['is not there without a route that answers', httpConfig([]), null],
  ]
  for (const [name, config, expected] of cases) it(name, () => assert.equal(lineFor(config), expected))
})

test('the line that a start prints is answered with success, and names its route', async (t) => {
  const origin = await useOrigin(t)
  const { file } = useConfigFile(
    t,
    stringify(
      httpConfig([
        { name: 'closed', policies: { directResponse: { status: 404 } }, ...at('/') },
        { name: 'orders', ...at('/orders'), hostnames: ['shop.test'], backends: [{ host: origin.host }] },
      ]),
    ),
  )
  const program = await useProgram(t, { args: ['-f', file] })
  const [, line = '', route] = /^try: +(curl .*?) +# route (\S+)$/m.exec(program.stderr()) ?? []
  assert.equal(route, 'orders', program.stderr())
  const { stdout } = await promisify(execFile)('sh', ['-c', line])
  assert.match(stdout, /^HTTP\/1\.1 200 /)
})

test('a start that knows no request to try prints none', async (t) => {
  const { file } = useConfigFile(t, stringify(httpConfig([{ policies: { directResponse: { status: 404 } } }])))
  const program = await useProgram(t, { args: ['-f', file] })
  assert.doesNotMatch(program.stderr(), /^try:/m)
})
