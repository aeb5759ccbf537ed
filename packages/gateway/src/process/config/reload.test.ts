import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { createAuthority, type IssuedCertificate } from '../../testing/certificates.ts'
import { request } from '../../testing/client.ts'
import { KeepAliveClient } from '../../testing/keep-alive-client.ts'
import { eventually, metric, useConfigFile, useProgram, type Program } from '../../testing/process.ts'
import { closedPort, useOrigin } from '../../testing/scene.ts'

describe('a change of the config file', () => {
  test('goes live, however it is written', async (t) => {
    const config = useConfigFile(t, saying('one'))
    const program = await useProgram(t, { args: ['-f', config.file] })
    assert.equal(await said(program), 'one')
    config.edit(saying('two'))
    await eventually('edited', async () => (await said(program)) === 'two')
    for (const words of ['three', 'four']) {
      config.replace(saying(words))
      await eventually('replaced', async () => (await said(program)) === words)
    }
    assert.equal(await metric(program, 'portico_config_generation'), 4)
    program.child.kill('SIGHUP')
    await program.logged(/config 5 active/)
    assert.equal(await said(program), 'four')
  })

  test('that is bad is refused with its place, and the next good one heals', async (t) => {
    const config = useConfigFile(t, saying('good'))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const bads = ['binds:\n- prot: 1\n', 'binds: [', '']
    const reports = [/gateway\.yaml:2:3: .*prot/, /gateway\.yaml:1:\d+: /, /gateway\.yaml:1:1: found an empty file/]
    for (const [index, bad] of bads.entries()) {
      config.edit(bad)
      await program.logged(reports[index]!)
      assert.match(program.stdout(), /config rejected, config 1 stays active/)
      assert.equal(await metric(program, 'portico_config_synchronized'), 0)
      assert.equal(await said(program), 'good')
    }
    rmSync(config.file)
    await program.logged(/cannot be read: no such file/)
    assert.equal(await said(program), 'good')
    config.replace(saying('healed'))
    await eventually('healed', async () => (await said(program)) === 'healed')
    assert.equal(await metric(program, 'portico_config_synchronized'), 1)
    assert.equal(await metric(program, 'portico_config_generation'), 2)
  })

  test('in its `config` block is said to need a restart', async (t) => {
    const config = useConfigFile(t, saying('one'))
    const program = await useProgram(t, { args: ['-f', config.file] })
    config.edit({ ...saying('two'), config: { workers: 2 } })
    await program.logged(/the `config` block changed/)
    await eventually('the rest is live', async () => (await said(program)) === 'two')
  })

  test('that needs a key of sessions is refused while the file with the key is bad, and not any longer', async (t) => {
    const sealed = { config: { session: { keyFile: './session.key' } } }
    const config = useConfigFile(t, { ...saying('one'), ...sealed })
    const key = join(config.folder, 'session.key')
    writeFileSync(key, 'no key')
    const program = await useProgram(t, { args: ['-f', config.file] })
    const mcp = { targets: [{ name: 'tools', static: { host: '127.0.0.1', port: 1 } }] }
    config.edit({ ...saying('two'), ...sealed, backends: [{ name: 'tools', mcp }] })
    await program.logged(/session\.key: expected 64 hexadecimal digits/)
    assert.equal(await said(program), 'one')
    writeFileSync(key, randomBytes(32).toString('hex'))
    program.child.kill('SIGHUP')
    await eventually('live', async () => (await said(program)) === 'two')
  })

  test('that asks for a port in use is refused whole', async (t) => {
    const config = useConfigFile(t, saying('one'))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const { port } = await useOrigin(t)
    const next = saying('two')
    config.edit({ ...next, binds: [...next.binds, { ...next.binds[0], port }] })
    await program.logged(new RegExp(`:${port} is in use`))
    assert.equal(await said(program), 'one')
    assert.equal(await metric(program, 'portico_config_synchronized'), 0)
  })

  test('goes live although the file never rests', async (t) => {
    const config = useConfigFile(t, saying('start'))
    const program = await useProgram(t, { args: ['-f', config.file] })
    let count = 0
    const scribble = setInterval(() => config.replace(saying(`number ${count++}`)), 20)
    try {
      await program.logged(/config 3 active/)
    } finally {
      clearInterval(scribble)
    }
    await eventually('the last one', async () => (await said(program)) === `number ${count - 1}`)
  })

  test('opens, moves and closes ports, and what goes on there may finish', async (t) => {
    let answer = () => {}
    const origin = await useOrigin(t, (_request, response) => (answer = () => response.end('late')))
    const [first, second] = [await closedPort(), await closedPort()]
    const bind = (port: number, address = '127.0.0.1') => ({
      port,
      address,
      listeners: [{ routes: [{ backends: [{ host: origin.host }] }] }],
    })
    const { binds } = saying('kept')
    const config = useConfigFile(t, { config: { workers: 2 }, binds })
    const program = await useProgram(t, { args: ['-f', config.file] })

    config.edit({ binds: [...binds, bind(first)] })
    await program.logged(/config 2 active/)
    const slow = new KeepAliveClient(first)
    t.after(() => slow.close())
    const reply = slow.get('/')
    await eventually('in flight', () => origin.seen.length === 1)

    config.edit({ binds: [...binds, bind(first, '127.0.0.2'), bind(second)] })
    await program.logged(/config 3 active/)
    // A request that still gets in would wait for its answer for ever, so nothing is sent.
    await eventually('the port is closed', () => isRefused(first))
    answer()
    assert.equal((await reply).body, 'late')
    assert.equal((await reply).headers['connection'], 'close')
    for (const client of [new KeepAliveClient(first, '127.0.0.2'), new KeepAliveClient(second)]) {
      t.after(() => client.close())
      const seen = origin.seen.length
      const asked = client.get('/')
      await eventually('in flight', () => origin.seen.length > seen)
      answer()
      assert.equal((await asked).body, 'late')
    }
    assert.equal(await said(program), 'kept')
  })
})

describe('a config without ports', () => {
  test('closes all and warns, at a start too, and the gateway stays ready', async (t) => {
    const config = useConfigFile(t, saying('here'))
    const programs = [
      await useProgram(t, { args: ['-f', config.file] }),
      await useProgram(t, { args: ['-f', useConfigFile(t, '# nothing yet\n').file] }),
    ] as const
    config.replace('config: {}\n')
    await programs[0].logged(/config 2 active/)
    // Whoever is queued when a port closes is answered first.
    await eventually('the port is closed', () =>
      said(programs[0]).then(
        () => false,
        () => true,
      ),
    )
    for (const program of programs) {
      assert.match(program.stdout(), /found no `binds`/)
      assert.equal(await metric(program, 'portico_config_synchronized'), 1)
      const ready = await fetch(`${program.readiness}/healthz/ready`)
      assert.equal(ready.status, 200)
    }
  })
})

describe('a port that asks for TLS from now on', () => {
  test('lets nobody stay without', async (t) => {
    const { binds } = saying('plain')
    const config = useConfigFile(t, saying('plain'))
    const { cert, key } = createAuthority().issue({ names: ['localhost'] })
    writeFileSync(join(config.folder, 'tls.crt'), cert)
    writeFileSync(join(config.folder, 'tls.key'), key)
    const program = await useProgram(t, { args: ['-f', config.file] })
    const client = new KeepAliveClient(program.port())
    t.after(() => client.close())
    assert.equal((await client.get('/')).body, 'plain')
    const { routes } = binds[0]!.listeners[0]!
    const listeners = [{ protocol: 'HTTPS', tls: { cert: './tls.crt', key: './tls.key' }, routes }]
    config.edit({ binds: [{ ...binds[0], listeners }] })
    await eventually('the connection is ended', () => !client.isOpen)
    const { status, body } = await client.get('/')
    assert.equal(status, 400)
    assert.match(body, /TLS/)
  })
})

describe('a change of a certificate file', () => {
  test('is served to new connections; a request on an old one finishes', async (t) => {
    const authority = createAuthority()
    let answer = () => {}
    const origin = await useOrigin(t, (_request, response) => (answer = () => response.end('late')))
    const tls = { cert: './tls.crt', key: './tls.key' }
    const routes = [{ backends: [{ host: origin.host }] }]
    const listeners = [{ protocol: 'HTTPS', tls, routes }]
    const config = useConfigFile(t, { config: { workers: 2 }, binds: [{ port: 0, address: '127.0.0.1', listeners }] })
    const install = ({ cert, key }: IssuedCertificate) => {
      writeFileSync(join(config.folder, 'tls.crt'), cert)
      writeFileSync(join(config.folder, 'tls.key'), key)
    }
    install(authority.issue({ names: ['localhost'], commonName: 'first' }))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const open = async (): Promise<TLSSocket> => {
      const options = { port: program.port(), host: '127.0.0.1', servername: 'localhost', ca: authority.cert }
      const socket = connectTls(options)
      t.after(() => socket.destroy())
      socket.on('error', () => {})
      await new Promise<void>((resolve) => socket.once('secureConnect', resolve))
      return socket
    }
    const nameOf = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN
    const old = await open()
    assert.equal(nameOf(old), 'first')
    old.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    let received = ''
    old.on('data', (chunk: Buffer) => (received += chunk.toString()))
    await eventually('in flight', () => origin.seen.length === 1)

    install(authority.issue({ names: ['localhost'], commonName: 'second' }))
    await eventually('renewed', async () => {
      const socket = await open()
      const name = nameOf(socket)
      socket.destroy()
      return name === 'second'
    })
    answer()
    await eventually('answered', () => received.endsWith('late'))
    assert.match(received, /^HTTP\/1.1 200 /)

    rmSync(join(config.folder, 'tls.key'))
    await program.logged(/tls\.key/)
    assert.equal(nameOf(await open()), 'second')
    install(authority.issue({ names: ['localhost'], commonName: 'third' }))
    await eventually('healed', async () => nameOf(await open()) === 'third')
  })

  test('that comes into being heals a config that was refused for it', async (t) => {
    const config = useConfigFile(t, saying('one'))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const { binds } = saying('two')
    const listeners = [{ protocol: 'HTTPS', tls: { cert: './tls.crt', key: './tls.key' }, routes: [] }]
    config.edit({ binds: [...binds, { port: 0, address: '127.0.0.1', listeners }] })
    await program.logged(/gateway\.yaml:\d+:\d+: .*tls\.key/)
    assert.equal(await said(program), 'one')
    const { cert, key } = createAuthority().issue({ names: ['localhost'] })
    writeFileSync(join(config.folder, 'tls.key'), key)
    writeFileSync(join(config.folder, 'tls.crt'), cert)
    await eventually('healed', async () => (await said(program)) === 'two')
  })
})

/** One route that answers with these words. */
function saying(words: string) {
  const routes = [{ policies: { directResponse: { status: 200, body: words } } }]
  return { config: { workers: 1 }, binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }] }
}

async function said(program: Program): Promise<string> {
  return (await request(program.port())).body
}

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}
