import { readJsonTree } from '@portico/http/json'
import type { NativeTexts } from '@portico/chat'
import type { GuardChain } from '../chain.ts'
import type { ExchangeContext, GuardNote, Rejection } from '../guard.ts'
import { guardWholeTexts, NativeEdits, type NativeText } from '../stream/native-edits.ts'
import { nowOrLater } from '../now-or-later.ts'
import { failedClosed } from '../rejection.ts'

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
    if (written === null) return { body: failedClosed('masks broke the JSON of a part'), notes }
    return { body: { kind: 'body', json: written }, notes }
  })
}
