import { isObject, textAt } from '@portico/http/json'
import { Deadline } from '@portico/http'
import { withSpan } from '../../pipeline/traced/with-span.ts'
import { endWith } from '../targets/end-span.ts'
import type { TargetLimits } from '../targets/target.ts'
import { asInitialize, discoveryFor, knowsNoSessions } from '../targets/newer-target.ts'
import type { RpcMessage } from '../message.ts'
import { isSessionless, LATEST_WITH_SESSIONS, SESSIONLESS } from '../revisions.ts'
import type { Caller, LinkCall, TargetFailure, TargetLink } from '../transport.ts'

/** What a target made of `initialize`. */
export interface Introduction {
  /** Its answer, whoever wrote it. */
  response: RpcMessage
  /** Revision that is spoken with the target from now on. */
  version: string
}

export interface IntroduceParts {
  link: TargetLink
  /** Name of the target, for its span. */
  target: string
  limits: TargetLimits
  /** The `initialize` of the client, or one in its name. */
  request: RpcMessage
  caller: Caller
  /** Takes each call, so that it can be cancelled. */
  keep: (call: LinkCall) => void
  /** The client speaks a revision without sessions: a target that knows it too needs no `initialize`. */
  discoversFirst?: boolean
}

/**
 * Tells a target of a session. One that knows only revisions without them is asked who it is instead. One that takes too
 * long, or is not waited for any more, keeps nothing.
 */
export async function introduce(parts: IntroduceParts): Promise<Introduction | TargetFailure> {
  const { link, limits, request, caller } = parts
  const until = performance.now() + limits.beginMs
  if (parts.discoversFirst === true) {
    // Some older servers do not answer what they do not know.
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
  // Whoever answers `initialize` speaks a revision that has it, whatever it calls that.
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
  const { span, place } = begun
  const spanned = { ...parts, caller: { ...caller, context: withSpan(caller.context, place) } }
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

const TOO_SLOW: TargetFailure = { code: 'unavailable', message: 'it did not answer `initialize` in time' }
const GIVEN_UP: TargetFailure = { code: 'unavailable', message: 'nobody waits for it any more' }
const NO_ANSWER: TargetFailure = { code: 'bad_answer', message: 'it closed the stream without an answer' }
