import assert from 'node:assert/strict'
import { createPrivateKey, randomBytes, sign, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { connect } from 'node:tls'
import { deleteObject, updateObject } from '../../../packages/controller/src/kube/objects.ts'
import {
  type Authorities,
  LIFETIMES,
  readAuthorities,
  writeAuthorities,
} from '../../../packages/controller/src/publish/authorities.ts'
import { createAuthority, type KeyPair } from '../../../packages/controller/src/publish/certificate.ts'
import { StreamClient } from '../../../packages/controller/src/testing/stream-client.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { CONFIG_MAPS, SECRETS } from '../bed/kubelet/cluster.ts'
import { bedFiles } from '../bed/settings.ts'
import { type Cluster, PATIENCE_MS, SYSTEM, WEB } from './cluster.ts'

const CA_SECRET = { namespace: SYSTEM, name: 'portico-controller-ca' }
const HOUR_MS = 3_600_000
const STREAM_PORT = 9978

/** Authorities and tokens that end, are replaced, or are of another time. */
export function trustFaults(cluster: () => Cluster): void {
  it('an authority that is near its end gives way to its successor, and nobody notices', async () => {
    const { load } = cluster()
    const { current } = await authorities()
    const madeAt = Date.now() - LIFETIMES.spreadMs - HOUR_MS
    const next = authority(madeAt)
    await load.unharmedBy(async () => {
      await put({ current, next })
      await eventually('the successor signs', async () => (await authorities()).current.cert === next.cert, PATIENCE_MS)
      assert.equal((await authorities()).previous, current.cert)
      await eventually('data planes are told', async () => (await bundle()).includes(next.cert), PATIENCE_MS)
      await eventually('all controllers show it', () => isShown(next), PATIENCE_MS)
      assert.ok(await cluster().isConnected())
      await restartControllers()
      await cluster().change()
    })
  })

  it('certificates of another time are refused, what is live stays, and a deleted authority is made anew', async () => {
    const { bed, load } = cluster()
    const [plane] = await cluster().ready('shop', WEB)
    assert.ok(plane !== undefined)
    await load.unharmedBy(async () => {
      // As by a controller whose clock is 26 hours ahead; a day would be forgiven.
      const early = authority(Date.now() + 26 * HOUR_MS)
      await put({ current: early })
      await restartControllers()
      const log = (): Promise<string> => bed.kubectl('-n', 'shop', 'logs', plane.name)
      await eventually('it is refused', async () => /not yet valid/.test(await log()), PATIENCE_MS)
      assert.equal(await cluster().metric(plane.address, 15_020, 'portico_controller_connected'), 0)
      await deleteObject(bed.client, SECRETS, CA_SECRET)
      await restartControllers()
      await cluster().change()
    })
  })

  it('tokens of another time are refused, and a clock that is a little wrong is forgiven', async () => {
    const { bed } = cluster()
    const [plane] = await cluster().ready('shop', WEB)
    const [service] = await cluster().ready(SYSTEM)
    assert.ok(plane !== undefined && service !== undefined)
    const port = await bed.reach(service.address, STREAM_PORT)
    const ca = await bundle()
    const real = JSON.parse(
      Buffer.from((await tokenOf(plane.name)).split('.')[1] ?? '', 'base64url').toString(),
    ) as Claims
    const statusAt = async (shiftSeconds: number): Promise<number | undefined> => {
      const now = Math.floor(Date.now() / 1000) + shiftSeconds
      const token = signed(bed.folder, {
        ...real,
        jti: randomBytes(16).toString('hex'),
        iat: now,
        nbf: now,
        exp: now + 600,
      })
      const client = new StreamClient({ port, ca, token, servername: 'portico-controller.portico-system.svc' })
      client.hello({ gateway: 'shop/web', instance: `skewed${shiftSeconds}` })
      await client.until(() => client.status !== undefined).catch(() => undefined)
      client.close()
      return client.status
    }
    for (const [shiftSeconds, status] of [
      [0, 200],
      [30, 200],
      [3600, 401],
      [-3600, 401],
    ] as const) {
      assert.equal(await statusAt(shiftSeconds), status, `${shiftSeconds} s`)
    }
  })

  /** As one that was made then. */
  function authority(madeAt: number): KeyPair {
    const validity = { from: new Date(madeAt - LIFETIMES.backdateMs), to: new Date(madeAt + LIFETIMES.authorityMs) }
    return createAuthority(`Portico controller ${randomBytes(4).toString('hex')}`, validity)
  }

  async function authorities(): Promise<Authorities> {
    const secret = await cluster().get(SECRETS, CA_SECRET)
    const read = readAuthorities((secret?.data ?? {}) as Record<string, unknown>)
    return read.ok ? read.authorities : assert.fail(read.problem)
  }

  async function put(wanted: Authorities): Promise<void> {
    const data = writeAuthorities(wanted)
    await updateObject(cluster().bed.client, SECRETS, { metadata: CA_SECRET, type: 'Opaque', data })
  }

  /** What data planes of the Gateway trust. */
  async function bundle(): Promise<string> {
    const found = await cluster().get(CONFIG_MAPS, { namespace: 'shop', name: 'web' })
    return String((found?.data as Record<string, string> | undefined)?.['controller-ca.crt'])
  }

  async function isShown({ cert }: KeyPair): Promise<boolean> {
    const controllers = await cluster().ready(SYSTEM)
    const shown = controllers.map(async ({ address }) =>
      shownAt(await cluster().bed.reach(address, STREAM_PORT)).then((one) =>
        one?.checkIssued(new X509Certificate(cert)),
      ),
    )
    return (await Promise.all(shown)).every((is) => is === true)
  }

  /** Both: data planes have to connect anew. */
  async function restartControllers(): Promise<void> {
    const before = new Set((await cluster().pods(SYSTEM)).map(({ name }) => name))
    await cluster().bed.kubectl('-n', SYSTEM, 'delete', 'pods', '--all', '--wait=false')
    const areNew = async (): Promise<boolean> =>
      (await cluster().ready(SYSTEM)).filter(({ name }) => !before.has(name)).length === 2
    await eventually('there are new ones', areNew, PATIENCE_MS)
  }

  function tokenOf(pod: string): Promise<string> {
    return cluster().bed.kubectl('-n', 'shop', 'exec', pod, '--', 'cat', '/var/run/secrets/portico/token')
  }
}

type Claims = Readonly<Record<string, unknown>>

/** A token as the API server would have made it. */
function signed(folder: string, claims: Claims): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`
  const key = createPrivateKey(readFileSync(bedFiles(folder).accounts.private))
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

/** The certificate that is shown on a port. */
function shownAt(port: number): Promise<X509Certificate | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] }, () => {
      resolve(socket.getPeerX509Certificate())
      socket.destroy()
    })
    socket.on('error', () => resolve(undefined))
  })
}
