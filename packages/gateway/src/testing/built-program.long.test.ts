import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { generationOf } from '../stream/index.ts'
import type { GatewayState } from '../telemetry/recorder/record.ts'
import { ok, useAuthorizer } from './services/authorizer.ts'
import { createAuthority, type IssuedCertificate } from './certificates.ts'
import { type ChunkWatch, useChunkWatch } from './chunk-watch.ts'
import { request } from './client.ts'
import { TOKEN, configText, check } from './edits.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from './services/issuer.ts'
import { counting, useLimitServer } from './services/limit-server.ts'
import { McpCaller } from './mcp/mcp-caller.ts'
import { useGrpcCollector } from './otlp/otlp-collector.ts'
import { spiffeOf, useHbonePeer } from './services/hbone-peer.ts'
import { useMeshCa } from './services/mesh-ca.ts'
import { agree, useAnsweringProcessor } from './services/processor.ts'
import { eventually, type Program, runProgram, useConfigFile, useProgram } from './process.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, useOrigin } from './scene.ts'
import { useController } from './controller/scripted-controller.ts'
import { useTlsFiles } from './tls-files.ts'

/**
 * The built program in use. Most tests run the sources, and bundling can break code that only a rare config loads: each
 * chunk of the build is loaded here by a request that needs the chunk, and that request has to succeed.
 */

/** Chunks that no request reaches, with the reason. */
const UNREACHED: Readonly<Record<string, string>> = {
  'load-chunk': 'it loads the others, so nothing loads it as a chunk',
  'settle-again':
    'a gateway loads it that starts after a kill with calls of budgets in Redis; its test is in `spending`',
  'multipart-parser': 'node-fetch loads it for multipart responses, which token endpoints do not send',
}

test('every chunk of the built program is loaded by a use that succeeds', { timeout: 170_000 }, async (t) => {
  const watch = useChunkWatch(t)
  for (const [name, use] of Object.entries(USES)) {
    await t.test(name, (t) => use(t, watch))
  }
  const loaded = watch.loaded()
  const missing = [...watch.all()].filter((name) => !loaded.has(name) && !(name in UNREACHED))
  assert.deepEqual(missing, [], 'a chunk that nothing here uses needs a use in USES, or a reason in UNREACHED')
})

type Use = (t: TestContext, watch: ChunkWatch) => Promise<void>

const USES: Readonly<Record<string, Use>> = {
  'a config with mistakes is rejected with their locations': async (t, { env }) => {
    const text =
      'binds:\n- port: 0\n  listeners: &none\n  - routes: [{ matches: [{ path: { regex: "(a" } }] }]\n  bindz: 1\n'
    const { file } = useConfigFile(t, text)
    const { code, stderr } = await runProgram({ args: ['-f', file, '--validate-only'], env })
    assert.equal(code, 2)
    assert.match(stderr, /unknown key `bindz`/)
  },
  'policies that authenticate, ask services and limit': usePolicies,
  'a reload brings the first listener with TLS': useTls,
  'telemetry reaches a collector': useTelemetry,
  'cloud credentials of the environment': useClouds,
  'Google credentials of a file, through a proxy': useGoogleFile,
  'models and their tokens': useModels,
  'the cost of a call, and its budget': usePrices,
  'a budget and a shared cache whose server is away': useRedis,
  'a ledger and keys whose database is away': usePostgres,
  'an answer from the response cache': useResponseCache,
  'a rehearsal': useRehearsal,
  'a verified config': useVerified,
  'a key of the store, and its end': useStoredKeys,
  'MCP servers behind pipes, with OAuth': useTools,
  'the admin API answers questions': useAdmin,
  'manifests run without a cluster': useManifests,
  'a controller sends the config': useControlled,
  'a workload of a mesh answers': useMesh,
}

async function useResponseCache(t: TestContext, watch: ChunkWatch): Promise<void> {
  const policies = { ai: { cache: { ttl: '1m' } } }
  const program = await useWatched(t, watch, httpConfig([{ backends: [{ ai: { provider: { mock: {} } }, policies }] }]))
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  const headers = { authorization: 'Bearer ann', 'content-type': 'application/json' }
  const ask = () => request(program.port(), { method: 'POST', path: '/v1/chat/completions', headers, body })
  const answers = [await ask(), await ask()]
  assert.deepEqual(
    answers.map((answer) => answer.headers['x-portico-cache']),
    ['miss', 'hit; age=0'],
  )
  assert.equal(answers[1]?.body, answers[0]?.body)
  const purge = { method: 'POST', headers: { 'x-portico-same-origin': '1', 'content-type': 'application/json' } }
  const purged = await fetch(`${program.admin}/api/cache/purge`, { ...purge, body: '{"all":true}' })
  assert.deepEqual(await purged.json(), { purged: 1, isSharedPurged: false })
}

async function useVerified(t: TestContext, watch: ChunkWatch): Promise<void> {
  const { file, folder } = useConfigFile(t, { config: { verify: { tests: 'gateway.test.yaml' } }, ...httpConfig([]) })
  const tests = 'config: gateway.yaml\ntests: [{ name: nothing is here, send: GET /, expect: { status: 404 } }]\n'
  writeFileSync(join(folder, 'gateway.test.yaml'), tests)
  const { code, stderr } = await runProgram({ args: ['-f', file, '--validate-only'], env: watch.env })
  assert.equal(code, 0, stderr)
}

async function useRehearsal(t: TestContext, watch: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t)
  const program = await useWatched(t, watch, httpConfig([{ name: 'shop', backends: [{ host: origin.host }] }]))
  const headers = { 'x-portico-same-origin': '1', 'content-type': 'application/json' }
  const body = JSON.stringify({ route: 'shop', status: 503, for: '1m' })
  const started = await fetch(`${program.admin}/api/rehearsal/start`, { method: 'POST', headers, body })
  assert.equal(started.status, 200, await started.text())
  assert.equal((await request(program.port())).status, 503)
}

async function useStoredKeys(t: TestContext, watch: ChunkWatch): Promise<void> {
  const policies = { apiKeyAuthentication: { store: { usagePath: '/usage' } } }
  const routes = httpConfig([{ name: 'chat', policies, backends: [{ ai: { provider: { mock: {} } } }] }])
  const program = await useWatched(t, watch, { ...routes, config: { stateDir: 'state', keys: {} } })
  const change = async (path: string, body?: object): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'x-portico-same-origin': '1' }
    const init = { method: 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(program.admin + path, init)
    const text = await answer.text()
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`)
    return String((JSON.parse(text) as { secret: string | null }).secret)
  }
  const secret = await change('/api/keys', { name: 'bot', budgets: [{ tokens: 1000, per: 'Day' }] })
  const body = JSON.stringify({ model: 'm', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] })
  const chat = async (key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return (await request(program.port(), { method: 'POST', path: '/v1/chat/completions', headers, body })).status
  }
  assert.deepEqual([await chat(secret), await chat(`${secret}x`)], [200, 401])
  const usage = await request(program.port(), { path: '/usage', headers: { authorization: `Bearer ${secret}` } })
  assert.deepEqual([usage.status, /^{"key":"bot",.*"spent":[1-9]/.test(usage.body)], [200, true], usage.body)
  await change('/api/keys/bot/revoke')
  assert.equal(await chat(secret), 401)
}

async function useMesh(t: TestContext, watch: ChunkWatch): Promise<void> {
  const ca = await useMeshCa(t, { names: ['spiffe://cluster.local/ns/default/sa/edge'] })
  const { tokenFile, rootFile } = ca
  const mesh = { caAddress: `https://127.0.0.1:${ca.port}`, serviceAccount: 'edge', tokenFile, rootFile }
  const issue = (name: string): IssuedCertificate => ca.authority.issue({ names: [spiffeOf(name)] })
  const peer = await useHbonePeer(t, { mesh: { authority: ca.authority, issue } })
  const origin = await useOrigin(t)
  const inMesh = { host: origin.host, policies: { tunnel: { hbone: { port: peer.port } } } }
  const program = await useWatched(t, watch, { ...httpConfig([{ backends: [inMesh] }]), config: { mesh } })
  await program.logged(/mesh certificate obtained/)
  await eventually('the workload answers', async () => (await request(program.port())).status === 200)
  assert.deepEqual(peer.authorities, [origin.host])
}

async function useWatched(
  t: TestContext,
  { env }: ChunkWatch,
  config: object,
  more: Record<string, string> = {},
): Promise<Program> {
  return useProgram(t, { args: ['-f', useConfigFile(t, config).file], env: { WORKER_THREADS: '1', ...env, ...more } })
}

async function usePolicies(t: TestContext, watch: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t)
  const key = createSigningKey('a')
  const authorizer = await useAuthorizer(t, () => ok({}))
  const processor = await useAnsweringProcessor(t, agree)
  const limits = await useLimitServer(t, counting(1))
  const extAuth = { backendRef: { host: authorizer.host }, grpc: {} }
  const descriptors = [{ entries: [{ name: 'a', expression: '"a"' }] }]
  const users = [`bcrypt:${BCRYPT}`, `sha:${SHA}`]
  const policies: Record<string, object> = {
    '/basic': { basicAuthentication: { users } },
    '/jwt': { jwtAuthentication: { providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(key) } }] } },
    '/auth': { extAuth },
    '/proc': { extProc: { backendRef: { host: processor.host } } },
    '/limit': { rateLimit: { global: { backendRef: { host: limits.host }, domain: 'd', descriptors } } },
    '/csrf': { csrf: {} },
    '/cors': { cors: { allowOrigins: ['*'] } },
    '/mirror': { requestMirror: { backend: origin.host } },
    '/slow': { delay: { time: '1ms' } },
    '/fail': { abort: { status: 418 } },
    '/shadow': { shadow: { authorization: { rules: ['false'] } } },
    '/regex': { authorization: { rules: ['request.path.matches("^/(?i)REGEX$")'] } },
  }
  const routes = Object.entries(policies).map(([path, policy]) => routeTo(origin, policy, pathPrefix(path)))
  routes.push({ ...pathPrefix('/backend'), backends: [{ host: origin.host, policies: { extAuth } }] })
  const program = await useWatched(t, watch, httpConfig(routes))
  const status = async (path: string, authorization = '') =>
    (await request(program.port(), { path, headers: { authorization } })).status
  const basic = (user: string) => `Basic ${Buffer.from(`${user}:secret`).toString('base64')}`
  assert.deepEqual([await status('/basic', basic('bcrypt')), await status('/basic', basic('sha'))], [200, 200])
  assert.equal(await status('/basic', `Basic ${Buffer.from('sha:wrong').toString('base64')}`), 401)
  assert.equal(await status('/jwt', `Bearer ${await sign(key)}`), 200)
  assert.deepEqual([await status('/auth'), await status('/backend'), await status('/proc')], [200, 200, 200])
  assert.deepEqual([await status('/limit'), await status('/limit')], [200, 429])
  assert.deepEqual([await status('/csrf'), await status('/cors'), await status('/mirror')], [200, 200, 200])
  assert.deepEqual([await status('/slow'), await status('/fail')], [200, 418])
  assert.equal(await status('/regex'), 200)
  assert.equal(await status('/shadow'), 200)
  await program.logged(/ shadow=authorization:denied /)
}

const BCRYPT = '$2y$04$Rv3XzCLIv.1L.Sv0x7p.Ju47CYUcQnaB.aQUX17HUT4BU5TfnnKT6'
const SHA = '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='

async function useTls(t: TestContext, { env }: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t)
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const [cert, key, root] = ['a.test.crt', 'a.test.key', 'ca.crt'].map((name) => join(dir, name))
  const plain = httpConfig([routeTo(origin)])
  const config = useConfigFile(t, plain)
  const program = await useProgram(t, { args: ['-f', config.file], env: { WORKER_THREADS: '1', ...env } })
  assert.equal((await request(program.port())).status, 200)
  const port = await closedPort()
  config.replace({
    binds: [
      ...plain.binds,
      { port, listeners: [{ protocol: 'HTTPS', tls: { cert, key, root }, routes: [routeTo(origin)] }] },
    ],
  })
  const ask = (client: object): Promise<number | string> =>
    new Promise((resolve) => {
      const options = { port, host: '127.0.0.1', servername: 'a.test', ca: authority.cert, agent: false, ...client }
      get(options, (answer) => resolve(answer.resume().statusCode ?? 0)).on('error', (error: NodeJS.ErrnoException) =>
        resolve(error.code ?? ''),
      )
    })
  const known = authority.issue()
  await eventually('the listener with TLS answers', async () => (await ask(known)) === 200)
  assert.equal(await ask(createAuthority('Foreign CA').issue()), 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')
}

async function useTelemetry(t: TestContext, watch: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t)
  const collector = await useGrpcCollector(t)
  const backendRef = { host: collector.host }
  const frontend = {
    accessLog: { otlp: { backendRef } },
    tracing: { backendRef, randomSampling: true },
    metrics: { otlp: { backendRef, interval: '1s' } },
  }
  const program = await useWatched(t, watch, httpConfig([routeTo(origin)], { frontend }))
  assert.equal((await request(program.port())).status, 200)
  await eventually('logs, spans and metrics arrive', () =>
    [collector.logs, collector.spans, collector.metrics].every((seen) => seen.length > 0),
  )
}

/** The metadata server of Google's machines, and an origin that is told which token came. */
async function useClouds(t: TestContext, watch: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t, (_request, response) => void response.end('{}'))
  const metadata = await useOrigin(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'metadata-flavor': 'Google' })
    response.end(JSON.stringify({ access_token: 'from-metadata', expires_in: 3599, token_type: 'Bearer' }))
  })
  const bedrock = { bedrock: { region: 'eu-west-1', model: 'm' }, host: '127.0.0.1', port: origin.port }
  const program = await useWatched(
    t,
    watch,
    httpConfig([
      { ...pathPrefix('/gcp'), backends: [{ host: origin.host, policies: { auth: { gcp: {} } } }] },
      { ...pathPrefix('/v1'), backends: [{ ai: { provider: bedrock } }] },
    ]),
    {
      GCE_METADATA_HOST: metadata.host,
      METADATA_SERVER_DETECTION: 'assume-present',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
  )
  assert.equal((await request(program.port(), { path: '/gcp' })).status, 200)
  assert.equal(origin.seen[0]?.headers['authorization'], 'Bearer from-metadata')
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  await request(program.port(), { method: 'POST', path: '/v1/chat/completions', body })
  assert.match(String(origin.seen[1]?.headers['authorization']), /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\//)
}

/** A proxy that stands for Google: it answers what comes through its tunnels by a certificate of Google's name. */
async function useGoogle(t: TestContext, answer: (request: IncomingMessage) => object) {
  const authority = createAuthority()
  const { cert, key } = authority.issue({ names: ['oauth2.googleapis.com'] })
  const sockets = new Set<Socket>()
  const google = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(request)))
  })
  const proxy = createServer().on('connect', (_request, socket: Socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    google.emit(
      'connection',
      new TLSSocket(socket, { isServer: true, cert, key }).on('error', () => {}),
    )
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    sockets.forEach((socket) => socket.destroy())
    google.closeAllConnections()
    proxy.close()
  })
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, certificate: authority.cert }
}

async function useGoogleFile(t: TestContext, watch: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t)
  const google = await useGoogle(t, () => ({ access_token: 'from-file', expires_in: 3599, token_type: 'Bearer' }))
  const { folder, file } = useConfigFile(
    t,
    httpConfig([{ backends: [{ host: origin.host, policies: { auth: { gcp: {} } } }] }]),
  )
  const user = { type: 'authorized_user', client_id: 'id', client_secret: 'secret', refresh_token: 'refresh' }
  const [credentials, certificate] = [join(folder, 'google.json'), join(folder, 'google.crt')]
  writeFileSync(credentials, JSON.stringify(user))
  writeFileSync(certificate, google.certificate)
  const program = await useProgram(t, {
    args: ['-f', file],
    env: {
      ...watch.env,
      WORKER_THREADS: '1',
      GOOGLE_APPLICATION_CREDENTIALS: credentials,
      HTTPS_PROXY: google.url,
      NODE_EXTRA_CA_CERTS: certificate,
    },
  })
  const { status, body } = await request(program.port())
  assert.equal(status, 200, body)
  assert.equal(origin.seen[0]?.headers['authorization'], 'Bearer from-file')
}

async function useModels(t: TestContext, watch: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t)
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const program = await useWatched(t, watch, httpConfig([{ backends: [{ ai: { provider } }] }]))
  for (const model of ['gpt-4o', 'gpt-4']) {
    const { status, body } = await request(program.port(), {
      method: 'POST',
      path: '/v1/messages/count_tokens',
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello there' }] }),
    })
    assert.equal(status, 200, body)
    assert.ok((JSON.parse(body) as { input_tokens: number }).input_tokens > 2)
  }
}

async function usePrices(t: TestContext, watch: ChunkWatch): Promise<void> {
  const origin = await useOrigin(t, (_seen, response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'gpt-4o', choices, usage }))
  })
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const set = [{ name: 'x-cost', value: 'string(llm.cost)' }]
  const limits = [{ name: 'all', usd: 1, per: 'Day' }]
  const policies = { budget: { limits }, backend: { prices: {} }, transformation: { response: { set } } }
  const routes = httpConfig([{ policies, backends: [{ ai: { provider } }] }])
  const program = await useWatched(t, watch, { ...routes, config: { stateDir: 'state', ledger: {} } })
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] })
  const { headers } = await request(program.port(), { method: 'POST', path: '/v1/chat/completions', body })
  assert.equal(headers['x-cost'], '0.0025')
  await eventually('the call is in the ledger', async () =>
    (await (await fetch(`${program.admin}/api/usage`)).text()).includes('"costUsd":"0.0025"'),
  )
}

async function useRedis(t: TestContext, watch: ChunkWatch): Promise<void> {
  const policies = { ai: { cache: { ttl: '1m', shared: {} } } }
  const budget = { limits: [{ name: 'all', tokens: 1000, per: 'Day' }] }
  const routes = httpConfig([{ policies: { budget }, backends: [{ ai: { provider: { mock: {} } }, policies }] }])
  const stores = { redis: { url: `redis://127.0.0.1:${await closedPort()}` } }
  const program = await useWatched(t, watch, { ...routes, config: { stores } })
  const { status, body } = await request(program.port(), {
    ...{ method: 'POST', path: '/v1/chat/completions' },
    headers: { authorization: 'Bearer ann', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  })
  assert.equal(status, 503)
  assert.match(body, /budget_unavailable/)
}

async function usePostgres(t: TestContext, watch: ChunkWatch): Promise<void> {
  const stores = { postgres: { url: `postgres://portico@127.0.0.1:${await closedPort()}/portico?sslmode=disable` } }
  const routes = httpConfig([{ backends: [{ ai: { provider: { mock: {} } } }] }])
  const program = await useWatched(t, watch, { ...routes, config: { stateDir: 'state', ledger: {}, keys: {}, stores } })
  await program.logged(/key store failed, its keys are refused.*ECONNREFUSED/)
  await program.logged(/ledger store failed, entries are spooled.*ECONNREFUSED/)
  await eventually('the state says why', async () => {
    const { ledgerStore } = (await (await fetch(`${program.admin}/api/state`)).json()) as GatewayState
    return ledgerStore?.problem?.startsWith('PostgreSQL at 127.0.0.1:') === true
  })
}

async function useTools(t: TestContext, watch: ChunkWatch): Promise<void> {
  const key = createSigningKey('a')
  const mcpAuthentication = { issuer: ISSUER, audiences: ['api'], jwks: { inline: keySetOf(key) } }
  const server = fileURLToPath(new URL('./mcp/stdio-server.mjs', import.meta.url))
  const backends = [{ mcp: { targets: [{ name: 'pipe', stdio: { cmd: process.execPath, args: [server] } }] } }]
  const config = httpConfig([{ ...pathPrefix('/mcp'), policies: { mcpAuthentication }, backends }])
  const program = await useWatched(t, watch, config)
  assert.equal((await new McpCaller(program.port()).ask('initialize')).status, 401)
  const authorization = `Bearer ${await sign(key, { aud: 'api' })}`
  const caller = await new McpCaller(program.port(), { authorization }).begin()
  assert.equal((await caller.ask('tools/list')).status, 200)
}

async function useAdmin(t: TestContext, watch: ChunkWatch): Promise<void> {
  const text = configText()
  const { file } = useConfigFile(t, text)
  const program = await useProgram(t, { args: ['-f', file], env: { ...watch.env, ADMIN_TOKEN: TOKEN } })
  const headers = { 'content-type': 'application/json', 'x-portico-same-origin': '1', authorization: `Bearer ${TOKEN}` }
  const ask = async (path: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(program.admin + path, { ...init, headers })
    assert.equal(answer.status, 200, path)
    return (await answer.json()) as Record<string, unknown>
  }
  assert.deepEqual((await check(program, text)).problems, [])
  for (let i = 0; i < 6; i++) await request(program.port(), { path: '/limited' })
  let id = ''
  await eventually('the refusal is recorded', async () => {
    const { requests } = (await ask('/api/requests?outcome=limited')) as { requests: { id: string }[] }
    id = requests[0]?.id ?? ''
    return id !== ''
  })
  assert.match(String((await ask(`/api/requests/${id}/explain`))['headline']), /limit/)
  assert.equal((await ask(`/api/requests/${id}/capsule`))['problem'], null)
  const { report } = (await ask('/api/backtest', { text })) as { report: { records: number; same: number } }
  assert.deepEqual(report.same, report.records)
  const evaluated = await ask('/api/expressions/evaluate', { expression: '1 + 1 == 2', variables: {} })
  assert.equal((evaluated['tree'] as { value: unknown }).value, true)
  const { ports } = (await ask('/api/routes/match', { url: '/limited' })) as { ports: { route: { name: string } }[] }
  assert.equal(ports[0]?.route.name, 'limited')
  await eventually('pages are built', async () => {
    const page = await fetch(`${program.admin}/ui/`, { headers })
    return (await page.text()).includes('id="root"')
  })
}

async function useManifests(t: TestContext, watch: ChunkWatch): Promise<void> {
  const page = readFileSync(new URL('../../../../docs/manifests.md', import.meta.url), 'utf8')
  const origin = await useOrigin(t)
  const example = (/```yaml\n([^]*?)```/.exec(page)?.[1] ?? '')
    .replace('port: 8080', `port: ${await closedPort()}`)
    .replace('port: 9000', `port: ${origin.port}`)
  const { file } = useConfigFile(t, example + DELEGATION)
  const program = await useProgram(t, { args: ['-f', file], env: watch.env })
  const statusOf = async (path: string): Promise<number> => (await request(program.port(), { path })).status
  assert.equal(await statusOf('/orders'), 200)
  assert.deepEqual([await statusOf('/team/orders'), await statusOf('/team')], [200, 404])
}

/** A route of the example's Gateway that delegates to another one. */
const DELEGATION = `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: teams }
spec:
  parentRefs: [{ name: web }]
  rules:
  - matches: [{ path: { value: /team } }]
    backendRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: team }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: team }
spec:
  parentRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: teams }]
  rules:
  - matches: [{ path: { value: /team/orders } }]
    backendRefs: [{ name: orders, port: 80 }]
`

async function useControlled(t: TestContext, watch: ChunkWatch): Promise<void> {
  const controller = await useController(t)
  const { folder } = useConfigFile(t, '')
  const program = await useProgram(t, {
    env: {
      ...watch.env,
      CONTROLLER_ADDR: controller.address,
      CONTROLLER_CA_FILE: controller.caFile,
      CONTROLLER_TOKEN_FILE: controller.tokenFile,
      NAMESPACE: 'shop',
      GATEWAY: 'edge',
      POD_NAME: 'edge-1',
      SESSION_KEY: randomBytes(32).toString('hex'),
      STATE_DIRECTORY: folder,
      WORKER_THREADS: '1',
    },
  })
  const stream = await controller.stream(0)
  const ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
  stream.send({ type: 'endpoints', whole: true, put: [], drop: [] })
  await stream.live(ir)
  await eventually('the config is live', async () => {
    const dump = (await (await fetch(`${program.admin}/config_dump`)).json()) as { controller?: { generation: string } }
    return dump.controller?.generation === generationOf(ir)
  })
}
