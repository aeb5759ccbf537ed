import { isObject, textAt } from '@portico/http/json'
import { Deadline } from '@portico/http'
import { withSpan } from '../../pipeline/traced/with-span.ts'
import { endWith } from '../targets/end-span.ts'
import type { TargetLimits } from '../targets/target.ts'
import { asInitialize, discoveryFor, knowsNoSessions } from '../targets/newer-target.ts'
import { type RpcMessage, isSessionless, LATEST_WITH_SESSIONS, SESSIONLESS } from '../protocol.ts'
import type { Caller, LinkCall, TargetFailure, TargetLink } from '../transport.ts'

/** The outcome of `initialize` at a target. */
interface Introduction {
  /** The response to `initialize`, sent by the target or built from its discovery. */
  response: RpcMessage
  /** The revision negotiated with the target. */
  version: string
}

interface IntroduceParts {
  link: TargetLink
  /** The name of the target, for its span. */
  target: string
  limits: TargetLimits
  /** The `initialize` of the client, or one that the gateway sends for the client. */
  request: RpcMessage
  caller: Caller
  /** Called with each call, so that the caller can cancel it. */
  keep: (call: LinkCall) => void
  /** Whether to try `server/discover` first: a target of a revision without sessions needs no `initialize`. */
  discoversFirst?: boolean
}

/**
 * Initializes a target for a session. A target that knows only revisions without sessions gets `server/discover` in its
 * place. After a timeout or a cancellation, the session at the target is ended.
 */
export async function introduce(parts: IntroduceParts): Promise<Introduction | TargetFailure> {
  const { link, limits, request, caller } = parts
  const until = performance.now() + limits.beginMs
  if (parts.discoversFirst === true) {
    // Some older servers do not respond to unknown methods, so discovery gets half of the time.
    const discovered = await askOnce(parts, discoveryFor(request), SESSIONLESS, until - limits.beginMs / 2)
    const response = asInitialize(request, discovered)
    if (response !== null) return { response, version: SESSIONLESS }
    if (!('kind' in discovered) && discovered !== TOO_SLOW) return discovered
  }
  const answer = await askOnce(parts, request, '', until)
  if (answer === TOO_SLOW || answer === GIVEN_UP) link.end(caller)
  if (knowsNoSessions(answer)) {
    const discovered = await askOnce(parts, discoveryFor(request), SESSIONLESS, until)
    const response = asInitialize(request, discovered)
    if (response !== null) return { response, version: SESSIONLESS }
  }
  if (!('kind' in answer)) return answer
  const { result } = answer.value
  const version = (isObject(result) ? textAt(result, 'protocolVersion') : undefined) ?? ''
  // A target that answers `initialize` uses a revision with sessions, whatever revision it states.
  return { response: answer, version: isSessionless(version) ? LATEST_WITH_SESSIONS : version }
}

async function askOnce(
  parts: IntroduceParts,
  request: RpcMessage,
  version: string,
  until: number,
): Promise<RpcMessage | TargetFailure> {
  const { target, caller } = parts
  const begun = caller.rx.spans?.beginMessage({ method: request.method, target, version }) ?? null
  if (begun === null) return send(parts, request, version, until)
  const { span, parent } = begun
  const spanned = { ...parts, caller: { ...caller, context: withSpan(caller.context, parent) } }
  const answer = await send(spanned, request, version, until)
  if ('kind' in answer) endWith(span, answer)
  else span.end(answer.code, answer.message)
  return answer
}

function send(
  { link, limits: { deadlines }, caller, keep }: IntroduceParts,
  request: RpcMessage,
  version: string,
  until: number,
): Promise<RpcMessage | TargetFailure> {
  return new Promise((resolve) => {
    let response: RpcMessage | null = null
    const limit = new Deadline(() => giveUp(TOO_SLOW, new Error(TOO_SLOW.message)))
    const settle = (answer: RpcMessage | TargetFailure): void => {
      deadlines.clear(limit)
      resolve(answer)
    }
    deadlines.set(limit, Math.max(1, until - performance.now()))
    const call = link.request(
      request,
      { ...caller, version },
      {
        message(said) {
          if (said.kind === 'response' && said.id === request.id) response = said
          return true
        },
        closed: () => settle(response ?? NO_ANSWER),
        failed: settle,
      },
    )
    const giveUp = (failure: TargetFailure, cause: Error): void => {
      call.cancel(cause)
      settle(failure)
    }
    keep({ cancel: (cause) => giveUp(GIVEN_UP, cause), resume: () => call.resume() })
  })
}

const TOO_SLOW: TargetFailure = {
  code: 'unavailable',
  cause: 'timeout',
  message: 'it did not answer `initialize` in time',
}
const GIVEN_UP: TargetFailure = { code: 'unavailable', message: 'the client no longer waits for it' }
const NO_ANSWER: TargetFailure = {
  code: 'bad_answer',
  cause: 'lost',
  message: 'it closed the stream without an answer',
}
