import { ObservedBody, type Source } from '@portico/http'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { ShadowsOfRequest, type ShadowServices } from '../../pipeline/shadow/request-shadows.ts'
import { unknownOutcome } from '../../pipeline/shadow/verdict.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { ExchangeContext, GuardNote, GuardPhase, Rejection } from './guard.ts'
import type { ArrivingAnswer, RequestBody, RequestGuards, ResponseGuards, TriedGuards } from './prompt-guards.ts'

/** Guards that judge the prompt and the response of a request in the background, and only report what they would do. */
export class ShadowGuards implements TriedGuards {
  readonly #request: RequestGuards | null
  readonly #response: ResponseGuards | null
  readonly #services: ShadowServices
  /** The requests whose prompt was judged; after a failover, the prompt is not judged again. */
  readonly #judged = new WeakSet<RequestContext>()

  constructor(request: RequestGuards | null, response: ResponseGuards | null, services: ShadowServices) {
    this.#request = request
    this.#response = response
    this.#services = services
  }

  body(rx: RequestContext, body: RequestBody, context: ExchangeContext): void {
    const guards = this.#request
    if (guards === null) return
    this.#judge(rx, async () => {
      const { outcome, notes } = await guards.body(body, context)
      return outcomeOf('request', outcome.kind === 'reject' ? outcome : null, notes)
    })
  }

  texts(rx: RequestContext, texts: readonly string[], context: ExchangeContext): void {
    const guards = this.#request
    if (guards === null) return
    this.#judge(rx, async () => {
      const { verdict, notes } = await guards.texts(texts, context)
      return outcomeOf('request', verdict.kind === 'reject' ? verdict : null, notes)
    })
  }

  answer(rx: RequestContext, { body, maxBytes, decode }: ArrivingAnswer, context: ExchangeContext): Source {
    const guards = this.#response
    if (guards === null) return body
    const set = ShadowsOfRequest.of(rx, this.#services).begin(POLICY)
    const chunks: Buffer[] = []
    let size = 0
    const judge = async (): Promise<ShadowOutcome> => {
      const events = decode(Buffer.concat(chunks))
      if (events === null) return unknownOutcome(POLICY, 'the response cannot be read')
      const { answer, notes } = await guards.events(events, context)
      return outcomeOf('response', answer.kind === 'reject' ? answer : null, notes)
    }
    return new ObservedBody(body, {
      chunk(chunk) {
        size += chunk.length
        // The chunk is copied, because the next read of the socket may overwrite it.
        if (size <= maxBytes) chunks.push(Buffer.from(chunk))
      },
      over(isWhole) {
        if (!isWhole) set(unknownOutcome(POLICY, 'the response did not arrive as a whole'))
        else if (size > maxBytes) set(unknownOutcome(POLICY, 'the response is too large'))
        else void judge().then(set, () => set(unknownOutcome(POLICY, 'the response cannot be read')))
      },
    })
  }

  #judge(rx: RequestContext, run: () => Promise<ShadowOutcome>): void {
    if (this.#judged.has(rx)) return
    this.#judged.add(rx)
    const set = ShadowsOfRequest.of(rx, this.#services).begin(POLICY)
    void run().then(set, () => set(unknownOutcome(POLICY, 'the prompt cannot be read')))
  }
}

const POLICY = 'promptGuard'

/**
 * Returns the outcome of shadow guards. Findings are named by their kind only, because the text that was found may be
 * confidential.
 */
function outcomeOf(phase: GuardPhase, rejection: Rejection | null, notes: readonly GuardNote[]): ShadowOutcome {
  const found = [...new Set(notes.flatMap((note) => note.found ?? []))]
  const common = {
    policy: POLICY,
    values: { phase, guards: notes.map(({ guard, verdict }) => ({ guard, verdict })), found },
  }
  if (rejection === null) {
    const isMasked = notes.some(({ verdict }) => verdict === 'mask')
    const text = isMasked ? `would have masked the ${phase}: ${found.join(', ')}` : `would have allowed the ${phase}`
    return { ...common, outcome: 'allowed', status: null, code: null, text }
  }
  const failed = notes.find(({ verdict }) => verdict === 'failed')
  const { status, reason } = rejection
  if (failed !== undefined) {
    const text = `a guard of the ${phase} failed: ${failed.reason ?? reason}`
    return { ...common, outcome: 'error', status, code: 'guard_failed', text }
  }
  return {
    ...common,
    outcome: 'denied',
    status,
    code: 'guard_reject',
    text: `would have denied the ${phase}: ${reason}`,
  }
}
