import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { request } from '../../packages/gateway/src/testing/client.ts'
import {
  eventually,
  metric,
  type Program,
  useConfigFile,
  useProgram,
} from '../../packages/gateway/src/testing/process.ts'
import { closedPort, httpConfig, pathPrefix, useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { useServer } from './servers.ts'
import { built } from './servers/built.ts'

/** The certificate service and the HBONE server of Istio, from its Go module. */
const MESH = built('mesh', 'authority.go', 'credential.go', 'go.mod', 'go.sum', 'main.go', 'tunnel.go')
const skip = existsSync(MESH) ? false : 'no mesh server here; e2e/extensions/servers/build.sh builds it'

/** A mesh with one workload, whose HBONE server leads to an origin. */
async function useMesh(t: TestContext, options: { capTtl?: string; serverTrustDomain?: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-mesh-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const tokens = [
    'edge-token shop edge',
    'other-domain-token shop edge other.test',
    `app-token shop app ${options.serverTrustDomain ?? 'cluster.local'}`,
  ]
  const tokensFile = join(folder, 'tokens')
  const tokenFile = join(folder, 'istio-token')
  const rootFile = join(folder, 'root-cert.pem')
  writeFileSync(tokensFile, `${tokens.join('\n')}\n`)
  writeFileSync(tokenFile, 'edge-token\n')
  const caPort = await closedPort()
  const caArgs = ['ca', '-listen', `127.0.0.1:${caPort}`, '-state', folder, '-tokens', tokensFile]
  const cap = options.capTtl === undefined ? [] : ['-cap-ttl', options.capTtl]
  const startCa = () => useServer(t, { program: MESH, args: [...caArgs, ...cap], ports: [caPort] })
  const ca = await startCa()
  const origin = await useOrigin(t)
  const port = await closedPort()
  // The workload renews by the life that it asks for.
  const life = options.capTtl === undefined ? [] : ['-ttl', options.capTtl]
  const workload = ['-ca', `127.0.0.1:${caPort}`, '-token', 'app-token', '-root', rootFile, ...life]
  await useServer(t, { program: MESH, args: ['server', '-listen', `127.0.0.1:${port}`, ...workload], ports: [port] })
  const mesh = { caAddress: `https://127.0.0.1:${caPort}`, serviceAccount: 'edge', tokenFile, rootFile }
  const hbone = { port, identity: 'spiffe://cluster.local/ns/shop/sa/app' }
  const routes = [
    { ...pathPrefix('/plain'), backends: [{ host: origin.host }] },
    { backends: [{ host: origin.host, policies: { tunnel: { hbone } } }] },
  ]
  const start = (settings: object = {}): Promise<Program> => {
    const config = { ...httpConfig(routes), config: { workers: 2, mesh: { ...mesh, ...settings } } }
    return useProgram(t, { args: ['-f', useConfigFile(t, config).file], env: { NAMESPACE: 'shop' } })
  }
  return { ca, startCa, start, tokenFile, rootFile, folder }
}

const obtained = (program: Program): Promise<void> => program.logged(/mesh certificate obtained/)
const statusOf = async (program: Program, path = '/'): Promise<number> =>
  (await request(program.port(), { path })).status

describe('a gateway in a mesh of Istio', { skip }, () => {
  it('calls a workload with a certificate of the CA, and survives rotation under load without a failure', async (t) => {
    const mesh = await useMesh(t, { capTtl: '4s' })
    const program = await mesh.start()
    await obtained(program)
    await eventually('the workload answers', async () => (await statusOf(program)) === 200)
    const statuses = new Map<number, number>()
    const over = new AbortController()
    const load = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        const status = await statusOf(program)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    await eventually('five renewals', async () => (await metric(program, SUCCESSES)) >= 6)
    over.abort()
    await Promise.all(load)
    assert.deepEqual([...statuses.keys()], [200])
  })

  it('serves plain routes while the CA is away, and the mesh once the CA is there', async (t) => {
    const mesh = await useMesh(t, { capTtl: '4s' })
    await mesh.ca.kill()
    const program = await mesh.start()
    await program.logged(/no new mesh certificate.*cannot be reached/)
    assert.equal(await statusOf(program, '/plain'), 200)
    assert.equal(await statusOf(program), 503)
    const ca = await mesh.startCa()
    await eventually('the workload answers', async () => (await statusOf(program)) === 200)
    await ca.kill()
    await program.logged(/mesh certificate expired/)
    await eventually('no tunnel of the expired certificate is used', async () => (await statusOf(program)) === 503)
    assert.equal(await statusOf(program, '/plain'), 200)
    await mesh.startCa()
    await eventually('the workload answers again', async () => (await statusOf(program)) === 200)
  })

  it('gets no certificate with a bad token, of another trust domain, or with other roots', async (t) => {
    const mesh = await useMesh(t)
    writeFileSync(mesh.tokenFile, 'stolen')
    const program = await mesh.start()
    await program.logged(/the mesh CA rejected the token/)
    assert.equal(await statusOf(program), 503)
    writeFileSync(mesh.tokenFile, 'other-domain-token')
    await program.logged(/issued a certificate for spiffe:\/\/other\.test\/ns\/shop\/sa\/edge/)
    assert.equal(await statusOf(program), 503)
    writeFileSync(mesh.tokenFile, 'edge-token')
    await obtained(program)
    await eventually('the workload answers', async () => (await statusOf(program)) === 200)
    const other = await useMesh(t)
    const wrong = await mesh.start({ rootFile: other.rootFile })
    await wrong.logged(/the root file does not verify the mesh CA/)
    assert.equal(await statusOf(wrong), 503)
  })

  it('does not call a workload of a trust domain that is not accepted', async (t) => {
    const mesh = await useMesh(t, { serverTrustDomain: 'other.test' })
    const program = await mesh.start()
    await obtained(program)
    assert.equal(await statusOf(program), 503)
  })
})

const SUCCESSES = 'portico_mesh_certificate_requests_total'
