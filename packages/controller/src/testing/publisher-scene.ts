import type { TestContext } from 'node:test'
import type { Ir } from '@portico/gateway/ir'
import type { TokenReview } from '../kube/token-review.ts'
import { createAuthority, type Identity, issueServing, type KeyPair } from '../publish/certificate.ts'
import { Publisher, type PublisherOptions } from '../publish/publisher.ts'
import { StreamClient, type StreamClientOptions } from './stream-client.ts'

export interface PublisherScene {
  publisher: Publisher
  port: number
  ca: string
  authority: KeyPair
  /** The certificate of the controller, and one for another controller of the same authority. */
  identity: Identity
  /** Gateways whose state changed, in order. */
  changed: string[]
  logged: string[]
  connect: (options?: Partial<StreamClientOptions>) => StreamClient
}

const validity = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }

export function newAuthority(): KeyPair {
  return createAuthority('Portico controller test', validity)
}

export function servingOf(authority: KeyPair): Identity {
  const names = ['127.0.0.1', 'localhost']
  return { ...issueServing(authority, { names, name: 'portico-controller', validity }), ca: authority.cert }
}

/** Tokens are `good` for shop/web, or `namespace/account/pod`. */
export function reviewed(token: string): Promise<TokenReview> {
  if (token === 'good') return Promise.resolve({ ok: true, namespace: 'shop', serviceAccount: 'web', pod: undefined })
  const [namespace, serviceAccount, pod] = token.split('/')
  if (namespace === undefined || serviceAccount === undefined)
    return Promise.resolve({ ok: false, why: 'the token is not valid' })
  return Promise.resolve({ ok: true, namespace, serviceAccount, pod })
}

export async function usePublisher(
  t: TestContext,
  options: Partial<PublisherOptions> = {},
  authority = newAuthority(),
): Promise<PublisherScene> {
  const identity = servingOf(authority)
  const changed: string[] = []
  const logged: string[] = []
  const log = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields ?? {})}`)
  const publisher = new Publisher({
    review: reviewed,
    serviceAccountOf: (gateway) => gateway.split('/')[1] ?? '',
    changed: (gateway) => changed.push(gateway),
    log: { debug: log, info: log, warn: log },
    ...options,
  })
  const port = await publisher.listen(identity, { port: 0, host: '127.0.0.1' })
  const clients: StreamClient[] = []
  t.after(async () => {
    for (const client of clients) client.close()
    await publisher.close(0)
  })
  return {
    publisher,
    port,
    ca: authority.cert,
    authority,
    identity,
    changed,
    logged,
    connect(more = {}) {
      const client = new StreamClient({ port, ca: authority.cert, ...more })
      clients.push(client)
      return client
    },
  }
}

/**
 * Returns a config with this many backends of a simple kind. Tests of much data use long hosts, because each backend is hashed.
 */
export function irOf(count: number, edited: Readonly<Record<number, string>> = {}, suffix = '.example'): Ir {
  const backends = Array.from({ length: count }, (_, index) => ({
    key: `backend/b${index}`,
    name: `b${index}`,
    target: { kind: 'static' as const, host: edited[index] ?? `h${index}${suffix}`, port: 80 },
  }))
  return { binds: [], listeners: [], routes: [], backends, policies: [] }
}
