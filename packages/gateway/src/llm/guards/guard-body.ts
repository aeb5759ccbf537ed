import { readJsonTree } from '../../wire/json-tree.ts'
import type { FoundText, NativeTexts } from '../native-texts.ts'
import type { GuardChain } from './chain.ts'
import { failedClosed } from './decide.ts'
import type { GuardContext, GuardNote, Rejection, TextInfo } from './guard.ts'
import { NativeEdits, type NativeText } from './native-edits.ts'
import { nowOrLater } from './now-or-later.ts'

type Context = Omit<GuardContext, 'about'>

export interface GuardedBody {
  /** The JSON that was given, when nothing was masked; null when it is none. */
  body: { kind: 'body'; json: string } | Rejection | null
  notes: readonly GuardNote[]
}

/** Guards a whole response in its original format: texts are edited in place, and nothing else changes. */
export function guardBody(
  chain: GuardChain,
  { json, texts }: { json: string; texts: NativeTexts },
  context: Context,
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

export interface WholeOutcome {
  rejection: Rejection | null
  notes: readonly GuardNote[]
}

/** Guards texts that came whole, with one run per guard for all of them, and replaces the texts. */
export function guardWholeTexts(
  chain: GuardChain,
  texts: readonly NativeText[],
  context: Context,
): WholeOutcome | Promise<WholeOutcome> {
  const said = texts.filter(({ read }) => read !== '')
  for (const text of texts) if (text.read === '') text.replace('')
  if (said.length === 0) return NOTHING_ASKED
  const about = said.map(({ found }) => infoOf(found))
  const asked = chain.run(
    said.map(({ read }) => read),
    { ...context, about },
  )
  return nowOrLater(asked, ({ verdict, notes }): WholeOutcome => {
    if (verdict.kind === 'reject') return { rejection: verdict, notes }
    for (const [index, text] of said.entries()) {
      text.replace(verdict.kind === 'mask' ? (verdict.texts[index] ?? '') : text.read)
    }
    return { rejection: null, notes }
  })
}

export function infoOf({ form }: Pick<FoundText, 'form'>): TextInfo {
  return { role: 'assistant', form }
}

const NOTHING_ASKED: WholeOutcome = { rejection: null, notes: [] }
