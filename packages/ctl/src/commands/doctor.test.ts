import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createTcp, type AddressInfo } from 'node:net'
import { createServer as createTls } from 'node:https'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import { closedPort } from '../../../gateway/src/testing/scene.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

interface Finding {
  readonly check: string
  readonly status: string
  readonly about: string
  readonly finding: string
  readonly why: string
  readonly fix: string
}

function useConfig(t: TestContext, config: object) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-doctor-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, JSON.stringify(config))
  return { folder, file }
}

async function examine(t: TestContext, config: object, ...args: string[]) {
  const { file } = useConfig(t, config)
  const result = await runCommand(['doctor', '-f', file, '-o', 'json', '--timeout', '3', ...args])
  const { findings } = JSON.parse(result.stdout) as { findings: Finding[] }
  return { ...result, findings }
}

function brief(findings: readonly Finding[]): string[] {
  return findings.map(({ status, about, finding }) => `${status}: ${about.replaceAll(/:?\d{4,5}/g, '')} ${finding}`)
}

function calling(backends: object[], more: object = {}): object {
  return { ...more, binds: [{ port: 0, listeners: [{ routes: [{ backends }] }] }] }
}

function modelBackend(port: number, provider: object, policies: object = {}): object {
  return { ai: { provider: { host: '127.0.0.1', port, ...provider } }, policies: { ...policies } }
}

describe('porticoctl doctor', () => {
  test('connects to backends: closed ports, TLS that is missing, and certificates that nobody trusts', async (t) => {
    const plain = await useServer(t, (_request, response) => response.end())
    const { cert, key } = createAuthority().issue({ names: ['localhost'] })
    const secure = createTls({ cert, key }).listen(0, '127.0.0.1')
    await once(secure, 'listening')
    t.after(() => secure.close())
    const port = (server: { address(): unknown }) => (server.address() as AddressInfo).port
    const { code, findings } = await examine(
      t,
      calling([
        { host: `127.0.0.1:${plain}` },
        { host: `127.0.0.1:${await closedPort()}` },
        { host: `127.0.0.1:${plain}`, policies: { tls: {} } },
        { host: `127.0.0.1:${port(secure)}`, policies: { tls: {} } },
        { host: `127.0.0.1:${port(secure)}`, policies: { tls: { insecureSkipVerify: 'All' } } },
      ]),
      ...['--only', 'backends'],
    )
    assert.equal(code, 1)
    assert.deepEqual(brief(findings), [
      'ok: backend 127.0.0.1 accepts connections',
      'problem: backend 127.0.0.1 refuses connections',
      'problem: backend 127.0.0.1 does not speak TLS on this port',
      'problem: backend 127.0.0.1 has a certificate of an unknown authority',
      'ok: backend 127.0.0.1 accepts TLS, HTTP/1.1',
    ])
    for (const { status, why, fix } of findings) if (status === 'problem') assert.ok(why !== '' && fix !== '')
  })

  test('checks the key and the model of a provider, and spends a token only when asked', async (t) => {
    const seen: string[] = []
    const port = await useServer(t, (request, response) => {
      seen.push(`${request.method} ${request.url}`)
      const isKnown = request.headers.authorization === 'Bearer sk-right'
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
      response.end(isKnown ? '{"data":[{"id":"small"}]}' : '{"error":{"message":"Incorrect API key: sk-wrong"}}')
    })
    const provider = (key: string, model: string) => modelBackend(port, { openai: { model } }, { auth: { key } })
    const only = ['--only', 'providers']
    const right = await examine(t, calling([provider('sk-right', 'small')]), ...only)
    assert.equal(right.code, 0)
    assert.match(brief(right.findings).join(), /^ok: provider .* accepts the key and has the model small$/)
    assert.deepEqual(seen, ['GET /v1/models'])
    const other = await examine(t, calling([provider('sk-right', 'large')]), ...only)
    assert.match(brief(other.findings).join(), /^warning: .* its list has no model large$/)
    const wrong = await examine(t, calling([provider('sk-wrong', 'small')]), ...only)
    assert.match(brief(wrong.findings).join(), /^problem: .* rejects the key$/)
    assert.doesNotMatch(wrong.stdout + wrong.stderr, /sk-/)
    const open = await examine(t, calling([modelBackend(port, { openai: {} })]), ...only)
    assert.match(brief(open.findings).join(), /^unknown: .* clients send their own keys$/)
    seen.length = 0
    const spent = await examine(t, calling([provider('sk-right', 'small')]), ...only, '--spend-tokens')
    assert.match(brief(spent.findings).join(), /one token of small is answered$/)
    assert.deepEqual(seen, ['GET /v1/models', 'POST /v1/chat/completions'])
  })

  test('sees ports that are taken, names that do not exist, and certificates that end', async (t) => {
    const taken = createTcp().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    t.after(() => taken.close())
    const { port } = taken.address() as AddressInfo
    const { cert, key } = createAuthority().issue({ names: ['shop.example.com'] })
    const { file, folder } = useConfig(t, {
      binds: [
        {
          ...{ port, address: '127.0.0.1' },
          listeners: [
            {
              ...{
                name: 'shop',
                protocol: 'HTTPS',
                hostname: 'other.example.com',
                tls: { cert: 'c.pem', key: 'k.pem' },
              },
              routes: [{ backends: [{ host: 'nowhere.invalid:80' }] }],
            },
          ],
        },
      ],
    })
    writeFileSync(join(folder, 'c.pem'), cert)
    writeFileSync(join(folder, 'k.pem'), key)
    const { code, stdout } = await runCommand([
      'doctor',
      '-f',
      file,
      '--only',
      'ports,dns,certificates',
      '--timeout',
      '3',
    ])
    assert.equal(code, 1)
    assert.match(stdout, /^warning: ports: port \d+ is in use by another program, or by the running gateway$/m)
    assert.match(stdout, /^problem: dns: name nowhere\.invalid (does not exist|cannot be resolved: \w+)$/m)
    assert.match(
      stdout,
      /^(warning|problem): certificates: certificate 1 of listener shop is not for other\.example\.com$/m,
    )
    assert.match(stdout, /^1 problems, 2 warnings, 0 not checked, 0 fine$/m)
  })

  test('asks stores for an answer, and compares the clock', async (t) => {
    const redis = createTcp((socket) => {
      socket.on('error', () => {})
      socket.on('data', (chunk: Buffer) => {
        const isRight = chunk.toString().includes('right-password')
        socket.write(isRight ? '+OK\r\n+PONG\r\n' : '-WRONGPASS invalid\r\n-NOAUTH\r\n')
      })
    }).listen(0, '127.0.0.1')
    await once(redis, 'listening')
    t.after(() => redis.close())
    const { port } = redis.address() as AddressInfo
    const late = await useServer(t, (_request, response) => {
      response.sendDate = false
      response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
      response.end()
    })
    const stores = (password: string) => ({
      config: { stateDir: 'state', stores: { redis: { url: `redis://127.0.0.1:${port}`, password } } },
    })
    const right = await examine(t, calling([], stores('right-password')), '--only', 'stores')
    assert.equal(right.code, 0, right.stdout)
    const wrong = await examine(t, calling([], stores('other-password')), '--only', 'stores')
    assert.match(brief(wrong.findings).join(), /problem: Redis 127\.0\.0\.1 refuses the user or the password/)
    assert.doesNotMatch(wrong.stdout, /other-password/)
    const time = ['--time-from', `http://127.0.0.1:${late}/`]
    const clock = await examine(t, calling([]), '--only', 'clock,file-limits', ...time)
    assert.match(brief(clock.findings).join('\n'), /problem: clock is (599|600|601) s ahead of http/)
  })

  test('says what is wrong with the config, and refuses other arguments', async (t) => {
    const { file } = useConfig(t, { bindz: [] })
    const bad = await runCommand(['doctor', '-f', file])
    assert.equal(bad.code, 1)
    assert.match(bad.stderr, /unknown key `bindz`/)
    for (const args of [[], ['-f', file, '--only', 'weather'], ['-f', file, '--timeout', '0'], ['-f', file, 'x']]) {
      assert.equal((await runCommand(['doctor', ...args])).code, 2, args.join(' '))
    }
  })
})
