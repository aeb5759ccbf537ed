import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { metric, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { closedUdpPort } from '../../packages/gateway/src/testing/udp.ts'

/** DNS through UDP and TCP listeners, with Unbound as the resolver and dig as the client. */

const UNBOUND = ['/usr/sbin/unbound', '/usr/bin/unbound'].find((path) => existsSync(path))
const DIG = ['/usr/bin/dig', '/usr/local/bin/dig'].find((path) => existsSync(path))
const skip = UNBOUND === undefined ? 'no unbound on this machine' : DIG === undefined ? 'no dig on this machine' : false

const run = promisify(execFile)

async function dig(port: number, ...args: string[]): Promise<string> {
  const { stdout } = await run(DIG ?? 'dig', ['@127.0.0.1', '-p', String(port), '+tries=3', '+time=5', ...args])
  return stdout
}

/** A resolver that knows the zone `own.test` alone; `name` is its answer to `whoami.own.test`. */
async function useResolver(t: TestContext, name: string, port: number): Promise<{ stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'portico-dns-'))
  const texts = Array.from(
    { length: 30 },
    (_, i) => `  local-data: 'large.own.test. TXT "${String(i).padStart(200, 'x')}"'`,
  )
  writeFileSync(
    join(dir, 'unbound.conf'),
    [
      'server:',
      `  interface: 127.0.0.1@${port}`,
      `  directory: "${dir}"`,
      '  chroot: ""',
      '  username: ""',
      '  pidfile: ""',
      '  use-syslog: no',
      '  do-daemonize: no',
      '  num-threads: 1',
      '  module-config: "iterator"',
      '  access-control: 127.0.0.0/8 allow',
      '  local-zone: "own.test." static',
      '  local-data: "www.own.test. A 192.0.2.7"',
      '  local-data: "www.own.test. AAAA 2001:db8::7"',
      `  local-data: 'whoami.own.test. TXT "${name}"'`,
      ...texts,
      'remote-control:',
      '  control-enable: no',
      '',
    ].join('\n'),
  )
  const child = spawn(UNBOUND ?? '', ['-d', '-c', join(dir, 'unbound.conf')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  t.after(async () => {
    await stop()
    rmSync(dir, { recursive: true, force: true })
  })
  // The resolver is up when it answers by itself.
  for (let tries = 0; ; tries++) {
    const answer = await dig(port, '+short', '+tries=1', '+time=1', 'www.own.test').catch(() => '')
    if (answer.startsWith('192.0.2.7')) return { stop }
    assert.ok(tries < 100 && child.exitCode === null, log)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

it('dig gets the answers of a resolver, over UDP and TCP, from whichever resolver is up', { skip }, async (t) => {
  const ports = [await closedUdpPort(), await closedUdpPort()] as const
  const one = await useResolver(t, 'one', ports[0])
  await useResolver(t, 'two', ports[1])
  const hosts = ports.map((port) => ({ host: `127.0.0.1:${port}` }))
  const udp = { protocol: 'UDP', name: 'dns', routes: [{ backends: hosts }] }
  const tcp = { protocol: 'TCP', name: 'dns-tcp', routes: [{ backends: [hosts[1]] }] }
  const port = await closedUdpPort()
  const config = {
    config: { workers: 2 },
    frontend: { udp: { idleTimeout: '2s' } },
    binds: [{ port, address: '127.0.0.1', listeners: [udp, tcp] }],
  }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, config).file] })

  assert.equal(await dig(port, '+short', 'www.own.test', 'A'), '192.0.2.7\n')
  assert.equal(await dig(port, '+short', 'www.own.test', 'AAAA'), '2001:db8::7\n')
  assert.match(await dig(port, 'nothing.own.test'), /status: NXDOMAIN/)
  assert.equal(await dig(port, '+short', '+tcp', 'www.own.test'), '192.0.2.7\n')
  // The answer does not fit: dig is told so over UDP, and asks again over TCP.
  const large = await dig(port, '+bufsize=1232', 'large.own.test', 'TXT')
  assert.match(large, /Truncated, retrying in TCP mode/)
  assert.match(large, /ANSWER: 30/)

  const seen = new Set<string>()
  for (let i = 0; i < 40 && seen.size < 2; i++) seen.add(await dig(port, '+short', 'whoami.own.test', 'TXT'))
  assert.deepEqual([...seen].toSorted(), ['"one"\n', '"two"\n'])

  await one.stop()
  // At most one query of each worker is refused, and dig repeats it.
  for (let i = 0; i < 10; i++) {
    assert.match(await dig(port, '+short', '+time=1', '+tries=6', 'whoami.own.test', 'TXT'), /"two"/)
  }
  assert.ok((await metric(program, 'portico_downstream_datagrams_received_total')) >= 15)
  await program.logged(/listener=dns .*protocol=udp .*duration/)
})
