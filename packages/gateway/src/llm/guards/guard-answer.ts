import type { ChatEvent, NativeTexts } from '@portico/chat'
import type { GuardChain } from './chain.ts'
import { nowOrLater } from '../../pipeline/call/follow.ts'
import { EventGuard } from './stream/event-guard.ts'
import type { ExchangeContext, GuardNote, Rejection, TextInfo } from './guard.ts'
import { NOTHING } from './passage.ts'
import type { Stage } from './stage.ts'
import { readJsonTree } from '@portico/http/json'
import { guardWholeTexts, NativeEdits, type NativeText } from './stream/native-edits.ts'
import { failedClosed } from './rejection.ts'

export interface GuardedAnswer {
  /** The events that were given, when nothing was masked. */
  answer: { kind: 'events'; events: readonly ChatEvent[] } | Rejection
  notes: readonly GuardNote[]
}

/** Guards a whole response: the same parts as in a stream, but each guard runs once, for all of them. */
export function guardAnswer(
  chain: GuardChain,
  events: readonly ChatEvent[],
  context: ExchangeContext,
): GuardedAnswer | Promise<GuardedAnswer> {
  const texts: string[] = []
  const about: TextInfo[] = []
  replaceTexts(events, (text, info) => {
    texts.push(text)
    about.push(info)
    return text
  })
  return nowOrLater(chain.run(texts, { ...context, about }), ({ verdict, notes }): GuardedAnswer => {
    if (verdict.kind === 'reject') return { answer: verdict, notes }
    if (verdict.kind === 'pass') return { answer: { kind: 'events', events }, notes }
    const masked = verdict.texts.values()
    return { answer: replaceTexts(events, () => masked.next().value ?? ''), notes }
  })
}

/** Calls back with every text, in an order that depends on the events alone. */
function replaceTexts(
  events: readonly ChatEvent[],
  replace: (text: string, about: TextInfo) => string,
): GuardedAnswer['answer'] {
  const replaced: ChatEvent[] = []
  const guard = new EventGuard({ create: (about) => wholeStage((text) => replace(text, about)), notes: [] })
  for (const released of [guard.push(events), guard.end()]) if (Array.isArray(released)) replaced.push(...released)
  return guard.rejection ?? { kind: 'events', events: replaced }
}

function wholeStage(replace: (text: string) => string): Stage {
  let whole = ''
  return {
    push(text) {
      whole += text
      return NOTHING
    },
    end() {
      const text = replace(whole)
      return [{ text, of: whole.length, isMask: text !== whole }]
    },
  }
}

export interface GuardedBody {
  /** The same JSON when nothing was masked; null when the body is not JSON. */
  body: { kind: 'body'; json: string } | Rejection | null
  notes: readonly GuardNote[]
}

/** Guards a whole response in its original format: texts are edited in place, and nothing else changes. */
export function guardBody(
  chain: GuardChain,
  { json, texts }: { json: string; texts: NativeTexts },
  context: ExchangeContext,
): GuardedBody | Promise<GuardedBody> {
  const root = readJsonTree(json)
  if (root === null) return { body: null, notes: [] }
  const edits = new NativeEdits(json)
  const found: NativeText[] = []
  for (const step of texts.whole(root)) {
    if (step.do === 'text') found.push(edits.addText(step))
    else if (step.do === 'depend') edits.addDependent(step)
  }
  return nowOrLater(guardWholeTexts(chain, found, context), ({ rejection, notes }): GuardedBody => {
    if (rejection !== null) return { body: rejection, notes }
    const masked = new Set(found.filter((text) => text.isChanged).map((text) => text.found.name))
    const written = edits.write(masked)
    if (written === null) return { body: failedClosed('masking would make the JSON of a part invalid'), notes }
    return { body: { kind: 'body', json: written }, notes }
  })
}
