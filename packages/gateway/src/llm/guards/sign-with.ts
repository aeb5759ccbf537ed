import { HeaderBlock, sourceOf } from '@portico/http'
import { prepareAttempt } from '../../pipeline/call/attempt.ts'
import type { BackendIdentity } from '../../pipeline/compiled/compiled.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { Sign } from './ask.ts'

/** The backend policies of a guard, as far as they are headers. */
export function signWith(identity: Pick<BackendIdentity, 'request' | 'sign'>, bug: (error: unknown) => void): Sign {
  return async ({ method, authority, target, headers, body }) => {
    const outgoing: OutgoingRequest = {
      method,
      authority,
      target,
      headers: HeaderBlock.of(headers),
      body: sourceOf(body),
      upgrade: '',
      teTrailers: false,
    }
    const failure = await prepareAttempt(identity, { outgoing, rx: NO_REQUEST, isWanted: () => true, bug })
    if (failure !== undefined) throw new Error(failure.message)
    const known = new Set(headers.map(([name]) => name))
    const added: [string, string][] = []
    outgoing.headers.forEach((name, value) => {
      if (!known.has(name.toLowerCase())) added.push([name.toLowerCase(), value])
    })
    return added
  }
}

/** A guard call uses the gateway's own credentials; there is no client credential to forward. */
const NOTHING_TAKEN: RequestContext['taken'] = []
const NO_REQUEST = { clientToken: null, taken: NOTHING_TAKEN, trace: null } as RequestContext
