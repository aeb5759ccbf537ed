import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { useConfigFile, useProgram } from '../../testing/process.ts'
import { endOf, listenersOf, post, send, statusOf, joinTexts } from '../../testing/admin/sent.ts'
import { useTlsFiles } from '../../testing/tls-files.ts'
import { findReachableListener } from './reachable-listener.ts'

test('a request through the admin server', async (t) => {
  const { program, listeners } = await scene(t)

  await t.test('is decided as any other, and leads to its record', async () => {
    const first = await send(program, { ...listeners[0]!, method: 'GET', path: '/limited', trace: true })
    assert.deepEqual([statusOf(first), joinTexts(first)], [200, 'limited'])
    const types = first.flatMap((event) => (event.type === 'trace' ? [event.event.message.type] : []))
    assert.ok(types.includes('routeSelection') && types.at(-1) === 'requestFinished', types.join())
    const passed = endOf(first)
    assert.deepEqual([passed.record?.outcome, passed.record?.path], ['passed', '/limited'])
    const second = endOf(await send(program, { ...listeners[0]!, method: 'GET', path: '/limited' }))
    assert.deepEqual([second.record?.status, second.record?.outcome], [429, 'limited'])
    assert.notEqual(second.record?.id, passed.record?.id)
    const explained = await fetch(`${program.admin}/api/requests/${second.record?.id}/explain`)
    assert.match(await explained.text(), /rateLimit/)
  })

  await t.test('speaks TLS to TLS listeners, with the name that is asked for', async () => {
    const [, tls] = listeners
    const events = await send(program, { ...tls!, method: 'GET', path: '/', host: 'shop.example.com' })
    assert.deepEqual([statusOf(events), joinTexts(events)], [200, 'shop'])
    assert.equal(endOf(events).record?.host, 'shop.example.com')
  })

  await t.test('reaches only listeners: neither the servers of this process nor other ports', async () => {
    const adminPort = new URL(program.admin).port
    const [http] = listeners
    for (const [fields, why] of [
      [{ bind: `bind/${adminPort}`, listener: `bind/${adminPort}/x` }, /there is no bind/],
      [{ bind: program.admin }, /there is no bind/],
      [{ bind: '127.0.0.1:80' }, /there is no bind/],
      [{ bind: '__proto__' }, /there is no bind/],
      [{ listener: listeners[1]!.listener }, /has no listener/],
    ] as const) {
      const answer = await post(program, { ...http!, method: 'GET', path: '/', ...fields })
      assert.equal(answer.status, 400)
      assert.match(await answer.text(), why)
    }
    // The request goes to the listener, whatever server `Host` names.
    const events = await send(program, { ...http!, method: 'GET', path: '/', host: `127.0.0.1:${adminPort}` })
    assert.equal(joinTexts(events), 'page')
  })
})

test('a reachable listener has a port of the workers and an address of this machine', () => {
  const listener = { name: 'web', hostname: '', tls: null }
  const ir = {
    binds: ['', '::', '127.0.0.2', 'a.example', '0.0.0.0'].map((address, at) => ({
      key: `b/${at}`,
      port: 80,
      address,
    })),
    listeners: [
      ...[0, 1, 2, 3, 4].map((at) => ({ ...listener, key: `b/${at}/web`, bind: `b/${at}`, protocol: 'HTTP' as const })),
      { ...listener, key: 'b/0/raw', bind: 'b/0', protocol: 'TCP' as const },
    ],
    routes: [],
    backends: [],
    policies: [],
  }
  const ports = { 'b/0': 8000, 'b/1': 8001, 'b/2': 8002, 'b/3': 8003 }
  const at = (index: number): unknown => findReachableListener(ir, ports, `b/${index}`, `b/${index}/web`)
  const plain = { isTls: false, hostname: '', proxyHeader: null, isHttp2: false }
  assert.deepEqual(at(0), { address: '127.0.0.1', port: 8000, ...plain })
  assert.deepEqual(at(1), { address: '::1', port: 8001, ...plain })
  assert.deepEqual(at(2), { address: '127.0.0.2', port: 8002, ...plain })
  assert.match(String(at(3)), /does not listen/)
  assert.match(String(at(4)), /does not listen/)
  assert.match(JSON.stringify(findReachableListener(ir, ports, 'b/0', 'b/0/raw')), /TCP, not requests/)
})

async function scene(t: Parameters<typeof useProgram>[0]) {
  const { dir } = useTlsFiles(t, ['shop.example.com'])
  const { file } = useConfigFile(t, {
    config: { workers: 2 },
    binds: [
      {
        port: 0,
        listeners: [
          {
            name: 'web',
            routes: [
              {
                name: 'limited',
                matches: [{ path: { pathPrefix: '/limited' } }],
                policies: {
                  rateLimit: { local: [{ requests: 1, unit: 'Hours' }] },
                  directResponse: { status: 200, body: 'limited' },
                },
              },
              { name: 'page', policies: { directResponse: { status: 200, body: 'page' } } },
            ],
          },
        ],
      },
      {
        port: 0,
        address: '127.0.0.1',
        listeners: [
          {
            name: 'shop',
            hostname: 'shop.example.com',
            protocol: 'HTTPS',
            tls: { cert: join(dir, 'shop.example.com.crt'), key: join(dir, 'shop.example.com.key') },
            routes: [{ policies: { directResponse: { status: 200, body: 'shop' } } }],
          },
        ],
      },
    ],
  })
  const program = await useProgram(t, { args: ['-f', file] })
  return { program, listeners: await listenersOf(program) }
}
