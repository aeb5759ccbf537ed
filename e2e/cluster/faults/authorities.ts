import assert from 'node:assert/strict'
import { randomBytes, X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { deleteObject, updateObject } from '../../../packages/controller/src/kube/objects.ts'
import {
  type Authorities,
  LIFETIMES,
  readAuthorities,
  writeAuthorities,
} from '../../../packages/controller/src/publish/authorities.ts'
import { createAuthority, type KeyPair } from '../../../packages/controller/src/publish/certificate.ts'
import { CONFIG_MAPS, SECRETS } from '../bed/kubelet/cluster.ts'
import { type Cluster, SYSTEM } from './cluster.ts'

export const HOUR_MS = 3_600_000
export const STREAM_PORT = 9978
const CA_SECRET = { namespace: SYSTEM, name: 'portico-controller-ca' }

/** An authority as one that was made then. */
export function authorityOf(madeAt: number): KeyPair {
  const validity = { from: new Date(madeAt - LIFETIMES.backdateMs), to: new Date(madeAt + LIFETIMES.authorityMs) }
  return createAuthority(`Portico controller ${randomBytes(4).toString('hex')}`, validity)
}

/** The Secret of the controllers' authorities, and what has become of it. */
export class AuthoritySecret {
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  async read(): Promise<Authorities> {
    const secret = await this.#cluster.get(SECRETS, CA_SECRET)
    const read = readAuthorities((secret?.data ?? {}) as Record<string, unknown>)
    return read.ok ? read.authorities : assert.fail(read.problem)
  }

  async write(wanted: Authorities): Promise<void> {
    const data = writeAuthorities(wanted)
    await updateObject(this.#cluster.bed.client, SECRETS, { metadata: CA_SECRET, type: 'Opaque', data })
  }

  /** One that was made known long enough to take over. Controllers look once a minute. */
  async plantSuccessor(): Promise<Authorities & { next: KeyPair }> {
    const { current } = await this.read()
    const planted = { current, next: authorityOf(Date.now() - LIFETIMES.spreadMs - HOUR_MS) }
    await this.write(planted)
    return planted
  }

  async remove(): Promise<void> {
    await deleteObject(this.#cluster.bed.client, SECRETS, CA_SECRET)
  }

  /** The CA certificates that data planes of the Gateway trust. */
  async bundle(): Promise<string> {
    const found = await this.#cluster.get(CONFIG_MAPS, { namespace: 'shop', name: 'web' })
    return String((found?.data as Record<string, string> | undefined)?.['controller-ca.crt'])
  }

  /** Whether every controller shows a certificate that it has signed. */
  async isShown({ cert }: KeyPair): Promise<boolean> {
    const authority = new X509Certificate(cert)
    const controllers = await this.#cluster.ready(SYSTEM)
    const shown = controllers.map(async ({ address }) => shownAt(await this.#cluster.bed.reach(address, STREAM_PORT)))
    return (await Promise.all(shown)).every((one) => one?.checkIssued(authority) === true)
  }
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
