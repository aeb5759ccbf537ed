import assert from 'node:assert/strict'
import { createPrivateKey, randomBytes, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import type { Authorities } from '../../../packages/controller/src/publish/authorities.ts'
import type { KeyPair } from '../../../packages/controller/src/publish/certificate.ts'
import { StreamClient } from '../../../packages/controller/src/testing/stream-client.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { bedFiles } from '../bed/settings.ts'
import { AuthoritySecret, authorityOf, HOUR_MS, STREAM_PORT } from './authorities.ts'
import { type Cluster, PATIENCE_MS, SYSTEM, WEB } from './cluster.ts'

/** Authorities and tokens that end, are replaced, or are of another time. */
export function trustFaults(cluster: () => Cluster, planted: () => Authorities & { next: KeyPair }): void {
  it('an authority gives way to its successor, and nobody notices', async () => {
    const { current, next } = planted()
    const secret = new AuthoritySecret(cluster())
    const signs = async (): Promise<boolean> => (await secret.read()).current.cert === next.cert
    await cluster().load.unharmedBy(async () => {
      await eventually('the successor signs', signs, PATIENCE_MS)
      assert.equal((await secret.read()).previous, current.cert)
      await eventually('data planes are told', async () => (await secret.bundle()).includes(next.cert), PATIENCE_MS)
      await eventually('all controllers show it', () => secret.isShown(next), PATIENCE_MS)
      assert.ok(await cluster().isConnected())
      await restartControllers(cluster())
      await cluster().change()
    })
  })

  it('certificates of another time are refused, what is live stays, and a deleted authority is made anew', async () => {
    const { bed, load } = cluster()
    const secret = new AuthoritySecret(cluster())
    const [plane = assert.fail('no data plane')] = await cluster().ready('shop', WEB)
    await load.unharmedBy(async () => {
      // As by a controller whose clock is 26 hours ahead; a day would be forgiven.
      await secret.write({ current: authorityOf(Date.now() + 26 * HOUR_MS) })
      await restartControllers(cluster())
      const log = (): Promise<string> => bed.kubectl('-n', 'shop', 'logs', plane.name)
      await eventually('it is refused', async () => /not yet valid/.test(await log()), PATIENCE_MS)
      assert.equal(await cluster().metric(plane.address, 15_020, 'portico_controller_connected'), 0)
      await secret.remove()
      await restartControllers(cluster())
      await cluster().change()
    })
  })

  it('tokens of another time are refused, and a clock that is a little wrong is forgiven', async () => {
    const { bed } = cluster()
    const [plane = assert.fail('no data plane')] = await cluster().ready('shop', WEB)
    const [controller = assert.fail('no controller')] = await cluster().ready(SYSTEM)
    const port = await bed.reach(controller.address, STREAM_PORT)
    const ca = await new AuthoritySecret(cluster()).bundle()
    const real = claimsOf(await bed.kubectl('-n', 'shop', 'exec', plane.name, '--', 'cat', TOKEN_FILE))
    for (const [shiftSeconds, status] of [
      [0, 200],
      [30, 200],
      [3600, 401],
      [-3600, 401],
    ] as const) {
      const client = new StreamClient({ port, ca, token: shifted(bed.folder, real, shiftSeconds), servername: NAME })
      client.hello({ gateway: 'shop/web', instance: `skewed${shiftSeconds}` })
      await client.until(() => client.status !== undefined)
      client.close()
      assert.equal(client.status, status, `${shiftSeconds} s`)
    }
  })
}

const TOKEN_FILE = '/var/run/secrets/portico/token'
const NAME = `portico-controller.${SYSTEM}.svc`

/** Both: data planes have to connect anew. */
async function restartControllers(cluster: Cluster): Promise<void> {
  const before = new Set((await cluster.pods(SYSTEM)).map(({ name }) => name))
  await cluster.bed.kubectl('-n', SYSTEM, 'delete', 'pods', '--all', '--wait=false')
  const areNew = async (): Promise<boolean> =>
    (await cluster.ready(SYSTEM)).filter(({ name }) => !before.has(name)).length === 2
  await eventually('there are new ones', areNew, PATIENCE_MS)
}

type Claims = Readonly<Record<string, unknown>>

function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims
}

/** The token as the API server makes it when its clock is so many seconds ahead. */
function shifted(folder: string, claims: Claims, seconds: number): string {
  const now = Math.floor(Date.now() / 1000) + seconds
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const own = { ...claims, jti: randomBytes(16).toString('hex'), iat: now, nbf: now, exp: now + 600 }
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(own)}`
  const key = createPrivateKey(readFileSync(bedFiles(folder).accounts.private))
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
