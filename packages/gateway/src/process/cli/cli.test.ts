import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { describe, test } from 'node:test'
import { isRecentEnough, pinnedNode } from '../../../bin/runtime.mjs'
import { parseCommand } from './cli.ts'
import { request } from '../../testing/client.ts'
import { PROGRAM, runProgram, useConfigFile, useProgram } from '../../testing/process.ts'
import { closedPort } from '../../testing/scene.ts'
import { VERSION } from '../../version.ts'

const good = (port = 0) => ({
  config: { workers: 1, adminAddr: '127.0.0.1:0', statsAddr: '127.0.0.1:0', readinessAddr: '127.0.0.1:0' },
  binds: [
    {
      port,
      address: '127.0.0.1',
      listeners: [{ routes: [{ policies: { directResponse: { status: 200, body: 'hi' } } }] }],
    },
  ],
})

const bad = `binds:
- port: 70000
  listeners:
  - protocoll: HTTP
    routes:
    - name: a
      backends:
      - backend: nobody
`

describe('the command line', () => {
  test('is read', () => {
    const plain = { kind: 'run', file: null, gateway: null, validateOnly: false, printExpanded: false }
    assert.deepEqual(parseCommand([]), plain)
    assert.deepEqual(parseCommand(['--file=x', '--validate-only']), { ...plain, file: 'x', validateOnly: true })
    assert.deepEqual(parseCommand(['-f', 'x', '--print-expanded']), { ...plain, file: 'x', printExpanded: true })
    assert.deepEqual(parseCommand(['-f', '-']), { ...plain, file: '-' })
    assert.deepEqual(parseCommand(['-f', 'x', '--gateway', 'a/b']), { ...plain, file: 'x', gateway: 'a/b' })
    assert.deepEqual(parseCommand(['-f', 'x', '-V', '-h']), { kind: 'help' })
    assert.deepEqual(parseCommand(['-V']), { kind: 'version' })
    for (const args of [['x'], ['-f'], ['--files=x'], ['--validate-only=1'], ['--gateway', 'a/b']]) {
      assert.equal(parseCommand(args).kind, 'mistake', args.join(' '))
    }
  })

  test('--help and --version print on standard output', async () => {
    const [help, version] = await Promise.all([
      runProgram({ args: ['--help'] }),
      runProgram({ command: [process.execPath, PROGRAM], args: ['--version'] }),
    ])
    assert.equal(help.code, 0)
    assert.match(help.stdout, /usage: portico/)
    assert.equal(help.stderr, '')
    assert.deepEqual(version, { code: 0, signal: null, stdout: `portico ${VERSION}\n`, stderr: '' })
  })

  test('an unknown flag ends with 2 and the help', async () => {
    const { code, stdout, stderr } = await runProgram({ args: ['--verbos'] })
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^portico: .*--verbos/)
    assert.match(stderr, /usage: portico/)
  })

  test('a file that does not exist ends with 2 and says which', async () => {
    for (const more of [[], ['--validate-only']]) {
      const { code, stdout, stderr } = await runProgram({ args: ['-f', 'nowhere/gateway.yaml', ...more] })
      assert.deepEqual(
        { code, stdout, stderr },
        { code: 2, stdout: '', stderr: 'nowhere/gateway.yaml: cannot be read: no such file\n' },
      )
    }
  })
})

describe('--validate-only', () => {
  test('says that a config is good', async (t) => {
    const { file } = useConfigFile(t, good())
    const { code, stdout, stderr } = await runProgram({ args: ['-f', file, '--validate-only'] })
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'Configuration is valid!\n', stderr: '' })
  })

  test('reads standard input', async () => {
    const { code } = await runProgram({ args: ['-f', '-', '--validate-only'], stdin: JSON.stringify(good()) })
    assert.equal(code, 0)
  })

  test('refuses an empty file, as a start does', async (t) => {
    const { file } = useConfigFile(t, '')
    for (const more of [[], ['--validate-only']]) {
      const { code, stderr } = await runProgram({ args: ['-f', file, ...more] })
      assert.deepEqual(
        { code, stderr },
        { code: 2, stderr: `${file}:1:1: found an empty file, expected a config with \`binds\`\n` },
      )
    }
  })

  test('warns of a config without ports', async (t) => {
    const { file } = useConfigFile(t, '# nothing yet\n')
    const { code, stderr } = await runProgram({ args: ['-f', file, '--validate-only'] })
    assert.equal(code, 0)
    assert.match(stderr, /^warning: .*:1:1: found no `binds`/)
  })

  test('ends as a start does with what shows only when a config is put together, other problems beside it or not', async (t) => {
    const data = { a: 'the-same-key', b: 'the-same-key' }
    const config = good()
    const apiKeyAuthentication = { secretRef: { data } }
    Object.assign(config.binds[0]!.listeners[0]!.routes[0]!.policies, { apiKeyAuthentication })
    for (const more of [{}, { frontend: { nonsense: 1 } }]) {
      const { file } = useConfigFile(t, { ...config, ...more })
      const [checked, started] = await Promise.all([
        runProgram({ args: ['-f', file, '--validate-only'] }),
        runProgram({ args: ['-f', file] }),
      ])
      assert.deepEqual(checked, started)
      assert.equal(checked.code, 2)
      assert.match(checked.stderr, /secretRef\.data\.b: found the key of "a" a second time/)
      assert.equal(checked.stderr.includes('unknown key `nonsense`'), 'frontend' in more)
    }
  })

  test('looks at the key of sessions as a start does, and makes none', async (t) => {
    const config = {
      ...good(),
      backends: [{ name: 'tools', mcp: { targets: [{ name: 'a', stdio: { cmd: 'true' } }] } }],
    }
    const { file, folder } = useConfigFile(t, config)
    const env = { SESSION_KEY: 'short' }
    const [checked, started] = await Promise.all([
      runProgram({ args: ['-f', file, '--validate-only'], env }),
      runProgram({ args: ['-f', file], env }),
    ])
    assert.deepEqual(checked, started)
    assert.equal(checked.code, 2)
    assert.match(checked.stderr, /^SESSION_KEY: expected 64 hexadecimal digits/)
    const clean = await runProgram({ args: ['-f', file, '--validate-only'], env: { XDG_STATE_HOME: folder } })
    assert.equal(clean.code, 0, clean.stderr)
    assert.ok(!existsSync(join(folder, 'portico')))
  })

  test('tells every problem at once, each with its place, as a start does', async (t) => {
    const { file } = useConfigFile(t, bad)
    const outputs = await Promise.all([
      runProgram({ args: ['-f', file, '--validate-only'] }),
      runProgram({ args: ['-f', file] }),
    ])
    for (const { code, stdout, stderr } of outputs) {
      assert.equal(code, 2)
      assert.equal(stdout, '')
      for (const place of ['2:9', '4:5', '8:9'])
        assert.ok(stderr.includes(`${file}:${place}: `), `${place} in\n${stderr}`)
      assert.match(stderr, /protocol`/)
    }
  })
})

describe('a start', () => {
  test('without a file runs the quick start on loopback', async (t) => {
    const program = await useProgram(t, { env: { PORT: String(await closedPort()), WORKER_THREADS: '1' } })
    assert.match(program.stderr(), new RegExp(`curl -i http://127\\.0\\.0\\.1:${program.port()}/`))
    const response = await request(program.port())
    assert.equal(response.status, 200)
    assert.match(response.body, /hello/)
  })

  test('a second quick start moves to free ports, and says so', async (t) => {
    const taken = createServer()
    const busy = await new Promise<boolean>((resolve) => {
      taken.once('error', () => resolve(true)).listen(3000, '127.0.0.1', () => resolve(false))
    })
    t.after(() => (busy ? undefined : taken.close()))
    const program = await useProgram(t, { env: { ADMIN_ADDR: '', WORKER_THREADS: '1' } })
    assert.ok(program.port() > 3000 && program.port() % 100 === 0, String(program.port()))
    assert.match(program.stderr(), /The usual ports are in use: PORTICO_ADMIN_ADDR=127\.0\.0\.1:15\d00 /)
    assert.equal((await request(program.port())).status, 200)
  })

  test('reads the config from standard input', async (t) => {
    const program = await useProgram(t, { args: ['-f', '-'], stdin: JSON.stringify(good()) })
    assert.equal((await request(program.port())).body, 'hi')
  })

  test('with a session key that is none ends with 2 and names the variable, where sessions are needed', async (t) => {
    const { code, stderr } = await runProgram({ env: { SESSION_KEY: 'secret' } })
    assert.equal(code, 2)
    assert.match(stderr, /^SESSION_KEY: expected 64 hexadecimal digits/)
    assert.doesNotMatch(stderr, /secret/)
    const { file } = useConfigFile(t, { binds: [] })
    await useProgram(t, { args: ['-f', file], env: { SESSION_KEY: 'secret' } })
  })

  test('on a port in use ends with 1 and names the port', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { file } = useConfigFile(t, good(port))
    const { code, stderr } = await runProgram({ args: ['-f', file] })
    assert.equal(code, 1)
    assert.equal(stderr, `127.0.0.1:${port} is in use by another program\n`)
  })

  test('on an admin port in use ends with 1 and names the port', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { file } = useConfigFile(t, good())
    const { code, stderr } = await runProgram({ args: ['-f', file], env: { STATS_ADDR: `127.0.0.1:${port}` } })
    assert.equal(code, 1)
    const said = `stats: cannot listen on 127.0.0.1:${port}: it is in use by another program (STATS_ADDR changes the address)\n`
    assert.equal(stderr, said)
  })

  test('beside another gateway on the same port is refused, and the other goes on', async (t) => {
    const port = await closedPort()
    const { file } = useConfigFile(t, good(port))
    await useProgram(t, { args: ['-f', file] })
    const second = await runProgram({ args: ['-f', file] })
    assert.equal(second.code, 1)
    assert.match(second.stderr, new RegExp(`:${port} is in use`))
    assert.equal((await request(port)).body, 'hi')
  })
})

describe('under an older Node', () => {
  test('versions of Node are compared with the oldest supported one', () => {
    for (const version of ['24.15.0', '24.16.1', '25.0.0', '26.10.0']) assert.ok(isRecentEnough(version), version)
    for (const version of ['20.20.2', '22.30.0', '24.14.9']) assert.ok(!isRecentEnough(version), version)
  })

  test('the end of the pinned Node is taken over, codes and signals', async (t) => {
    if (pinnedNode() === null) return t.skip('no pinned Node for this platform')
    const { folder } = useConfigFile(t, '')
    const runtime = new URL('../../../bin/runtime.mjs', import.meta.url).href
    writeFileSync(join(folder, 'code.mjs'), 'process.exit(7)')
    writeFileSync(join(folder, 'signal.mjs'), `process.kill(process.pid, 'SIGKILL')`)
    writeFileSync(join(folder, 'outer.mjs'), `import { runPinned } from '${runtime}'\nrunPinned(process.argv[2], [])`)
    const run = (script: string) =>
      once(spawn(process.execPath, [join(folder, 'outer.mjs'), join(folder, script)]), 'exit')
    assert.deepEqual(await run('code.mjs'), [7, null])
    assert.deepEqual(await run('signal.mjs'), [null, 'SIGKILL'])
  })

  test('the program runs all the same', async (t) => {
    const node = olderNode()
    if (node === null) return t.skip('no older Node on this machine')
    if (pinnedNode() === null) return t.skip('no pinned Node for this platform')
    const mistaken = await runProgram({ node, args: ['--verbos'] })
    assert.equal(mistaken.code, 2)
    const program = await useProgram(t, { node, args: ['-f', '-'], stdin: JSON.stringify(good()) })
    assert.equal((await request(program.port())).body, 'hi')
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
    assert.match(program.stdout(), /stopped/)
  })
})

function olderNode(): string | null {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  return candidates.filter((path) => existsSync(path)).find((path) => !isRecentEnough(versionOf(path))) ?? null
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
}

describe('--print-expanded', () => {
  test('prints a valid config with `llm` in its long form', async (t) => {
    const { file } = useConfigFile(t, 'llm:\n  models:\n  - { name: small, provider: { mock: {} } }\n')
    const printed = await runProgram({ args: ['-f', file, '--print-expanded'] })
    assert.equal(printed.code, 0)
    assert.match(printed.stdout, /^binds:\n {2}# The long form of `llm`\.\n {2}- port: 4000\n/)
    const checked = await runProgram({ args: ['-f', '-', '--validate-only'], stdin: printed.stdout })
    assert.equal(checked.code, 0)
  })

  test('prints the problems of a bad one', async (t) => {
    const { file } = useConfigFile(t, 'llm:\n  models: []\n')
    const { code, stdout, stderr } = await runProgram({ args: ['-f', file, '--print-expanded'] })
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /:2:\d+: llm\.models/)
  })
})
