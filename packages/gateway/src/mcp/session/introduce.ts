import { isObject, textAt } from '../../wire/json.ts'
import { asInitialize, discoveryFor, knowsNoSessions } from '../engine/newer-target.ts'
import type { RpcMessage } from '../message.ts'
import { isSessionless, LATEST_WITH_SESSIONS, SESSIONLESS } from '../revisions.ts'
import type { Caller, LinkCall, TargetFailure, TargetLink } from '../transports/transport.ts'

/** What a target made of `initialize`. */
export interface Introduction {
  /** Its answer, whoever wrote it. */
  response: RpcMessage
  /** Revision that is spoken with the target from now on. */
  version: string
}

export interface IntroduceParts {
  link: TargetLink
  /** The `initialize` of the client, or one in its name. */
  request: RpcMessage
  caller: Caller
  /** Takes each call, so that it can be cancelled. */
  keep: (call: LinkCall) => void
}

/** Tells a target of a session. One that knows only revisions without them is asked who it is instead. */
export async function introduce({
  link,
  request,
  caller,
  keep,
}: IntroduceParts): Promise<Introduction | TargetFailure> {
  const answer = await askOnce(link, request, { ...caller, version: '' }, keep)
  if (knowsNoSessions(answer)) {
    const discovered = await askOnce(link, discoveryFor(request), { ...caller, version: SESSIONLESS }, keep)
    const response = asInitialize(request, discovered)
    if (response !== null) return { response, version: SESSIONLESS }
  }
  if (!('kind' in answer)) return answer
  const { result } = answer.value
  const version = (isObject(result) ? textAt(result, 'protocolVersion') : undefined) ?? ''
  // Whoever answers `initialize` speaks a revision that has it, whatever it calls that.
  return { response: answer, version: isSessionless(version) ? LATEST_WITH_SESSIONS : version }
}

function askOnce(
  link: TargetLink,
  request: RpcMessage,
  caller: Caller,
  keep: IntroduceParts['keep'],
): Promise<RpcMessage | TargetFailure> {
  return new Promise((resolve) => {
    let response: RpcMessage | null = null
    const call = link.request(request, caller, {
      message(said) {
        if (said.kind === 'response' && said.id === request.id) response = said
        return true
      },
      closed: () => resolve(response ?? NO_ANSWER),
      failed: resolve,
    })
    keep(call)
  })
}

const NO_ANSWER: TargetFailure = { code: 'bad_answer', message: 'it closed the stream without an answer' }
