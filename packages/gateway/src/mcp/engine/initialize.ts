import { isObject, objectAt, textAt } from '@portico/http/json'
import { mergeDiscover, mergeInitialize, type ServerPart } from '../merge/merge-servers.ts'
import { exactMember } from '../edit.ts'
import { INTERNAL_ERROR, type RpcMessage, REVISIONS } from '../protocol.ts'
import { introduce } from '../session/introduce.ts'
import type { TargetState } from '../session/state.ts'
import type { LinkCall, TargetFailure, TargetLink } from '../transport.ts'
import { ask, isFailure, unlessOut } from './ask.ts'
import { askTarget } from './single-target.ts'
import { answerFailure } from './answer-failure.ts'
import type { Exchange } from './exchange.ts'
import { GATEWAY } from './list.ts'
import type { Target } from '../targets/target.ts'

/** Serves `initialize`, which begins a session with all targets, and `server/discover` of revisions without sessions. */
export async function serveInitialize(exchange: Exchange, request: RpcMessage): Promise<void> {
  const { endpoint, record } = exchange
  const { targets, namer } = endpoint
  const isDiscovery = request.method === 'server/discover'
  if (isDiscovery && !namer.isMerged) return askTarget(exchange, targets[0], { request, message: request })
  record.askedAt = endpoint.now()
  const parts = await Promise.all(
    targets.map((target) => (isDiscovery ? discover(exchange, target, request) : begin(exchange, target, request))),
  )
  record.answeredAt = endpoint.now()
  const well = parts.filter(isWell)
  const ill = parts.filter((part) => !isWell(part))
  const hasFailed = well.length === 0 || (ill.length > 0 && !endpoint.failsOpen)
  // Ends the sessions that began at targets; discovery begins none.
  if (!isDiscovery && (exchange.isCancelled || hasFailed)) exchange.abandon(targets)
  if (exchange.isCancelled) return
  const [best] = well
  const [worst] = ill
  if (worst !== undefined && hasFailed) return refuse(exchange, request, worst)
  if (best === undefined) throw new Error('the backend has no targets')
  for (const { target, answer } of ill) exchange.leftOut(target.name, reasonOf(answer))
  if (!isDiscovery) admit(exchange, request, well)
  if (!namer.isMerged) return pass(exchange, best.target, best.answer)
  const servers = well.map(({ target, answer }): ServerPart => ({
    target: target.name,
    result: exactMember(answer, 'result') ?? {},
  }))
  const options = { namer, gateway: GATEWAY, canSubscribe: isDiscovery || endpoint.isStateful }
  exchange.respond(
    request,
    isDiscovery ? mergeDiscover(servers, REVISIONS, options) : mergeInitialize(servers, options),
  )
}

/** The response of one target. */
interface Part {
  target: Target
  answer: RpcMessage | TargetFailure
  /** The revision negotiated with the target; empty for discovery and failures. */
  version: string
}

type GoodPart = Part & { answer: RpcMessage }

async function discover(exchange: Exchange, target: Target, request: RpcMessage): Promise<Part> {
  return { target, answer: await ask(exchange, target, request), version: '' }
}

/** Sends `initialize` to a target, unless the target is left out because of an outage. */
async function begin(exchange: Exchange, target: Target, request: RpcMessage): Promise<Part> {
  const { endpoint, session } = exchange
  const { name, limits } = target
  const caller = exchange.callerFor(target)
  const greet = (link: TargetLink, keep: (call: LinkCall) => void) =>
    introduce({ link, target: name, limits, request, caller, keep })
  const introduced = await unlessOut(
    exchange,
    target,
    () => greet(session.link(target), (call) => void exchange.keep(call)),
    async () => {
      // This is a probe: the session begins without the target, which is initialized when it is needed.
      const link = target.transport.link({ key: endpoint.newKey(), target: '', isPassing: true })
      const answer = await greet(link, () => {})
      link.end(caller)
      return answer
    },
  )
  if ('code' in introduced) return { target, answer: introduced, version: '' }
  return { target, answer: introduced.response, version: introduced.version }
}

function isWell(part: Part): part is GoodPart {
  return !isFailure(part.answer) && isObject(part.answer.value.result)
}

/** Records the targets of the session, and gives it its id. */
function admit(exchange: Exchange, request: RpcMessage, well: readonly GoodPart[]): void {
  const { session, endpoint, answer } = exchange
  const targets = well.map(({ target, version }): TargetState => {
    session.took(target, version)
    return { name: target.name, session: session.link(target).session, version }
  })
  if (session.isPassing) return
  if (answer.isElsewhere) session.remember(objectAt(request.value, 'params'), targets)
  else answer.sessionId = endpoint.sessions.admit({ ...session.state, version: agreedVersion(well), targets })
}

/** Returns the oldest revision of the targets, which all of them support. */
function agreedVersion(well: readonly GoodPart[]): string {
  const versions = well.map(({ answer: { value } }) => textAt(objectAt(value, 'result'), 'protocolVersion') ?? '')
  return versions.toSorted()[0] ?? ''
}

function pass(exchange: Exchange, target: Target, response: RpcMessage): void {
  exchange.note(response, target.name)
  exchange.answer.respond(response, '')
  exchange.finish()
}

function refuse(exchange: Exchange, request: RpcMessage, { target, answer }: Part): void {
  if (isFailure(answer)) return answerFailure(exchange, request, target, answer)
  if (!exchange.endpoint.namer.isMerged) return pass(exchange, target, answer)
  const { error } = answer.value
  const code = isObject(error) && typeof error.code === 'number' ? error.code : INTERNAL_ERROR
  exchange.failFor(target.name, request, code, `target ${target.name}: ${reasonOf(answer)}`)
}

function reasonOf(answer: RpcMessage | TargetFailure): string {
  if (isFailure(answer)) return answer.message
  const { error } = answer.value
  return (isObject(error) ? textAt(error, 'message') : undefined) ?? 'it did not answer with a result'
}
