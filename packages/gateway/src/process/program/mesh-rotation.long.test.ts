import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../testing/process.ts'
import { httpConfig, pathPrefix, useOrigin } from '../../testing/scene.ts'
import { useHbonePeer } from '../../testing/services/hbone-peer.ts'
import { useMeshCa } from '../../testing/services/mesh-ca.ts'

const SECOND = 1 / 86_400
const EDGE = 'spiffe://cluster.local/ns/shop/sa/edge'

/** A program with a route to a workload of the mesh, a route to a workload of another trust domain, and a plain route. */
async function useProgramInMesh(t: TestContext, lifeSeconds: number) {
  const ca = await useMeshCa(t, { names: [EDGE], validToDays: lifeSeconds * SECOND })
  const mesh = { authority: ca.authority, issue: () => ca.authority.issue() }
  const peer = await useHbonePeer(t, { mesh, identity: 'spiffe://cluster.local/ns/shop/sa/app' })
  const foreign = await useHbonePeer(t, { mesh, identity: 'spiffe://other.test/ns/shop/sa/app' })
  const origin = await useOrigin(t)
  const through = (port: number) => [{ host: origin.host, policies: { tunnel: { hbone: { port } } } }]
  const routes = [
    { ...pathPrefix('/plain'), backends: [{ host: origin.host }] },
    { ...pathPrefix('/foreign'), backends: through(foreign.port) },
    { backends: through(peer.port) },
  ]
  const { tokenFile, rootFile } = ca
  const settings = { caAddress: `https://127.0.0.1:${ca.port}`, serviceAccount: 'edge', tokenFile, rootFile }
  const config = { ...httpConfig(routes), config: { workers: 2, mesh: settings } }
  const start = (): Promise<Program> =>
    useProgram(t, { args: ['-f', useConfigFile(t, config).file], env: { NAMESPACE: 'shop' } })
  return { ca, peer, foreign, origin, start }
}

const ask = (program: Program, path = '/') => request(program.port(), { path })

test('a certificate rotates under load without a failed request', async (t) => {
  const { ca, peer, start } = await useProgramInMesh(t, 8)
  const program = await start()
  await eventually('the workload answers', async () => (await ask(program)).status === 200)
  const before = ca.requests.length
  const countByStatus = new Map<number, number>()
  const over = new AbortController()
  const load = Array.from({ length: 3 }, async () => {
    while (!over.signal.aborted) {
      const { status } = await ask(program)
      countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1)
    }
  })
  await eventually('three renewals', () => ca.requests.length >= before + 3)
  over.abort()
  await Promise.all(load)
  t.diagnostic(`${countByStatus.get(200)} requests over 3 renewals`)
  assert.deepEqual([...countByStatus.keys()], [200])
  assert.ok(new Set(peer.clients).size === 1 && peer.clients[0] === EDGE)
  assert.ok(peer.clients.length >= 3, 'each renewal opens new connections')
})

test('without a valid certificate requests of the mesh fail with the reason, and never reach the workload', async (t) => {
  const { ca, peer, foreign, origin, start } = await useProgramInMesh(t, 4)
  await ca.stop()
  const program = await start()
  await program.logged(/no new mesh certificate, retrying.*the mesh CA cannot be reached/)
  const early = await ask(program)
  assert.equal(early.status, 503)
  assert.match(early.body, /no mesh certificate yet$/)
  assert.equal((await ask(program, '/plain')).status, 200)
  assert.equal(origin.seen.length, 1)
  await ca.start()
  await eventually('the workload answers', async () => (await ask(program)).status === 200)
  assert.equal((await ask(program, '/foreign')).status, 503)
  assert.deepEqual(foreign.authorities, [])
  await ca.stop()
  await program.logged(/mesh certificate expired, connections of the mesh fail/)
  const tunnels = peer.authorities.length
  // An open stream may still be used, as in any TLS; no other is opened.
  peer.kill()
  const late = await ask(program)
  assert.equal(late.status, 503)
  assert.match(late.body, /the mesh certificate expired at /)
  assert.equal(peer.authorities.length, tunnels)
  assert.equal((await ask(program, '/plain')).status, 200)
  await ca.start()
  await eventually('the workload answers again', async () => (await ask(program)).status === 200)
})
