import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { type Env, implement } from '../../../pipeline/context/step.ts'
import type { UpstreamCall, UpstreamHandler } from '@portico/http/client'
import { discardingSink } from '@portico/http'
import { TeeBody } from './tee-body.ts'
import type { RequestMirrorConfig } from './schema.ts'
import { HTTP_CREDENTIAL_HEADERS } from '../../../redaction/credential-names.ts'

export const requestMirror = implement<RequestMirrorConfig>(({ others = [], ...first }, env) => {
  const mirrors = [first, ...others].map((place) => createMirror(place, env))
  return {
    request(rx) {
      if (rx.exchange.upgrade !== '' || rx.method === 'CONNECT') return
      for (const mirror of mirrors) mirror(rx)
    },
  }
})

/** Sends copies to one place. */
function createMirror({ backend, percentage }: { backend: string; percentage: number }, env: Env) {
  const client = env.client(backend)
  const share = percentage / 100
  const underWay = new Set<MirrorCall>()
  return (rx: RequestContext): void => {
    if (env.random() >= share) return
    const tee = rx.body.length === 0 ? null : new TeeBody(rx.body, env.maxBufferBytes)
    if (tee !== null) rx.body = tee
    const headers = rx.headers.clone()
    // Whoever watches traffic has no business with what opens accounts.
    for (const name of HTTP_CREDENTIAL_HEADERS) headers.remove(name)
    const mirrored = new MirrorCall(underWay)
    const call = client.send(
      {
        method: rx.method,
        target: rx.upstreamTarget,
        authority: rx.authorityFor(client.hostname),
        headers,
        body: tee === null ? rx.body : tee.copy,
        upgrade: '',
        teTrailers: false,
      },
      {
        hops: rx.exchange.hops,
        clientVersion: rx.exchange.version,
        clientScheme: rx.scheme,
        connectingTo: () => {},
        span: rx.spans?.parentFor('mirror') ?? null,
      },
      mirrored,
    )
    mirrored.started(call)
    tee?.onOverflow(() => mirrored.giveUp(TOO_SLOW))
  }
}

/** One copy on its way; its answer is ignored. */
class MirrorCall implements UpstreamHandler {
  readonly #underWay: Set<MirrorCall>
  #call: UpstreamCall | null = null

  /** The call is under way from here on, because it may fail while it is being started. */
  constructor(underWay: Set<MirrorCall>) {
    this.#underWay = underWay
    underWay.add(this)
  }

  started(call: UpstreamCall): void {
    this.#call = call
    // A mirror that does not answer would collect connections: the oldest copy makes room.
    if (this.#underWay.size > MAX_UNDER_WAY) this.#underWay.values().next().value?.giveUp(NO_ANSWER)
  }

  giveUp(cause: Error): void {
    this.#over()
    this.#call?.cancel(cause)
  }

  informed(): void {}

  responded(response: Parameters<UpstreamHandler['responded']>[0]): void {
    response.body.pipe(discardingSink(() => this.#over()))
  }

  upgraded(...[, , raw]: Parameters<UpstreamHandler['upgraded']>): void {
    raw.socket.destroy()
    this.#over()
  }

  failed(): void {
    this.#over()
  }

  #over(): void {
    this.#underWay.delete(this)
  }
}

const TOO_SLOW = new Error('mirror is too slow')
const NO_ANSWER = new Error('mirror does not answer')
const MAX_UNDER_WAY = 256
