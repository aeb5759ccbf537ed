import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../testing/client.ts'
import { metric, runProgram, useConfigFile, useProgram } from '../../testing/process.ts'
import { httpConfig, routeTo, useOrigin } from '../../testing/scene.ts'
import { useMeshCa } from '../../testing/services/mesh-ca.ts'

test('a gateway without its mesh CA serves plain routes, and obtains its certificate once the CA is there', async (t) => {
  const ca = await useMeshCa(t, { names: ['spiffe://mesh.test/ns/shop/sa/edge'] })
  await ca.stop()
  const origin = await useOrigin(t)
  const plain = httpConfig([routeTo(origin)])
  const mesh = {
    caAddress: `https://127.0.0.1:${ca.port}`,
    trustDomain: 'mesh.test',
    serviceAccount: 'edge',
    clusterId: 'blue',
    tokenFile: ca.tokenFile,
    rootFile: ca.rootFile,
  }
  const config = { ...plain, config: { workers: 1, mesh } }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, config).file], env: { NAMESPACE: 'shop' } })
  await program.logged(/no new mesh certificate, retrying.*ECONNREFUSED/)
  assert.equal((await request(program.port())).status, 200)
  await ca.start()
  await program.logged(/mesh certificate obtained.*spiffe:\/\/mesh\.test\/ns\/shop\/sa\/edge/)
  const expiry = await metric(program, 'portico_mesh_certificate_not_after_seconds')
  assert.ok(expiry > Date.now() / 1000, String(expiry))
  assert.ok((await metric(program, 'portico_mesh_certificate_age_seconds')) >= 0)
  assert.ok((await metric(program, 'portico_mesh_certificate_requests_total')) >= 2)
  assert.equal(ca.requests.at(-1)?.clusterId, 'blue')
})

test('mistakes in `config.mesh` are reported with their locations', async (t) => {
  const mesh = { caAddress: 'http://ca:15012', trustDomain: 'Cluster.Local', serviceAccount: 'a/b', tokenfile: 'x' }
  const { file } = useConfigFile(t, { config: { mesh } })
  const { code, stderr } = await runProgram({ args: ['-f', file, '--validate-only'] })
  assert.equal(code, 2)
  for (const text of ['`https://host:port`', 'a trust domain such as `cluster.local`', 'the name of a service account'])
    assert.ok(stderr.includes(text), stderr)
  assert.match(stderr, /unknown key `tokenfile`.*tokenFile/s)
})
