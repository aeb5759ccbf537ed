import assert from 'node:assert/strict'
import { it } from 'node:test'
import { McpCaller } from '../../../packages/gateway/src/testing/mcp/mcp-caller.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { rolledOut } from '../installed.ts'
import { pods, route } from '../shop.ts'
import { backend, toBackend } from './boundaries.ts'
import { type Cluster, PATIENCE_MS } from './cluster.ts'

/** Clients that belong to one Pod. */
export function sessions(cluster: () => Cluster): void {
  it('a session of MCP stays on its Pod, and begins anew on another when that is gone', async () => {
    const { bed } = cluster()
    const port = { appProtocol: 'portico.dev/mcp', name: 'mcp' }
    const selector = { services: { matchLabels: { tools: 'yes' } } }
    await bed.apply(
      ...pods('tools', { replicas: 2, image: 'mcp', port, labels: { tools: 'yes' } }),
      ...[backend('mcp', { mcp: { targets: [{ name: 'all', selector }] } }), toBackend('mcp')],
    )
    await rolledOut(bed, 'shop', 'tools')
    const caller = new McpCaller(await cluster().port())
    const isThere = async (): Promise<boolean> => /"tools"/.test((await (await caller.begin()).ask('tools/list')).text)
    await eventually('it is served', () => isThere().catch(() => false), PATIENCE_MS)
    const count = async (session: McpCaller): Promise<string> => {
      const { messages } = await session.ask('tools/call', { name: 'count' })
      return (messages[0]?.result?.['content'] as { text: string }[] | undefined)?.[0]?.text ?? JSON.stringify(messages)
    }
    const session = await caller.begin()
    const [pod = ''] = (await count(session)).split(' ')
    for (const turn of [2, 3, 4, 5]) assert.equal(await count(session), `${pod} ${turn}`)
    const seen = new Set<string>()
    const hasBoth = async (): Promise<boolean> =>
      seen.add((await count(await caller.begin())).split(' ')[0] ?? '').size === 2
    await eventually('sessions are spread over both Pods', hasBoth, PATIENCE_MS)
    await bed.kubectl('-n', 'shop', 'delete', 'pod', pod, '--wait=true')
    const [other = '', ...rest] = (await count(session)).split(' ')
    assert.notEqual(other, pod)
    assert.deepEqual(rest, ['1'])
    assert.equal(await count(session), `${other} 2`)
  })

  it('a client with a cookie stays on its Pod, and gets another cookie when that is gone', async () => {
    const { bed } = cluster()
    const rule = { sessionPersistence: { type: 'Cookie', cookie: { name: 'basket' } } }
    await bed.apply(route('basket', '/basket', 'cart', { rule }))
    const cookieOf = async (): Promise<{ pod: string; cookie: string }> => {
      const { headers, pod } = await cluster().ask('/basket')
      return { pod, cookie: /basket=[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '' }
    }
    await eventually('there is a cookie', async () => (await cookieOf()).cookie !== '', PATIENCE_MS)
    const { pod, cookie } = await cookieOf()
    const withCookie = () => cluster().ask('/basket', { cookie })
    for (let turn = 0; turn < 10; turn += 1) assert.equal((await withCookie()).pod, pod)
    const seen = new Set<string>()
    const hasOthers = async (): Promise<boolean> => seen.add((await cookieOf()).pod).size > 1
    await eventually('others go elsewhere', hasOthers, PATIENCE_MS)
    await bed.kubectl('-n', 'shop', 'delete', 'pod', pod, '--wait=true')
    const moved = await withCookie()
    assert.equal(moved.status, 200)
    assert.notEqual(moved.pod, pod)
    assert.match(moved.headers.get('set-cookie') ?? '', /^basket=/)
  })

  it('a client of a Service with ClientIP affinity stays on its Pod, and moves when that is gone', async () => {
    const { bed } = cluster()
    const service = { sessionAffinity: 'ClientIP' }
    await bed.apply(...pods('sticky', { replicas: 3, service }), route('sticky', '/sticky', 'sticky'))
    await rolledOut(bed, 'shop', 'sticky')
    await cluster().answers('/sticky', 200)
    // A Pod that the data plane learns of late may take the client over once.
    let pod = ''
    const stays = async (): Promise<boolean> => {
      const asked = new Set<string>()
      for (let turn = 0; turn < 12; turn += 1) asked.add((pod = (await cluster().ask('/sticky')).pod))
      return asked.size === 1
    }
    await eventually('all requests of the client reach one Pod', stays, PATIENCE_MS)
    await bed.kubectl('-n', 'shop', 'delete', 'pod', pod, '--wait=true')
    const { status, pod: next } = await cluster().ask('/sticky')
    assert.equal(status, 200)
    assert.notEqual(next, pod)
  })
}
