import type { JsonObject } from '../middle.ts'
import type { Reading, RequestVisitor, UnexaminedKind } from '../request-texts.ts'
import type { GuardChain } from './chain.ts'
import { failedClosed } from './decide.ts'
import type { GuardContext, GuardNote, Rejection, TextInfo } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'

export interface GuardedRequest {
  /** The same body object when nothing was masked. */
  outcome: { kind: 'body'; body: JsonObject } | Rejection
  notes: readonly GuardNote[]
  /** Parts of the request that no guard could examine. */
  unexamined: readonly Unexamined[]
}

export interface Unexamined {
  kind: UnexaminedKind
  /** Path in the client's body. */
  path: string
}

/** A client's body, and the reading that finds the texts of its format. */
export interface ReadRequest {
  body: JsonObject
  reading: Reading
}

/**
 * Guards every text of a request that a model would read. Parts that no guard can examine are refused, unless the
 * config allows them.
 */
export function guardRequest(
  chain: GuardChain,
  { body, reading }: ReadRequest,
  context: Omit<GuardContext, 'about'>,
): GuardedRequest | Promise<GuardedRequest> {
  const texts: string[] = []
  const about: TextInfo[] = []
  const unexamined: Unexamined[] = []
  readBody(body, reading, {
    text(text, info) {
      texts.push(text)
      about.push(info)
      return text
    },
    unexamined: (kind, path) => unexamined.push({ kind, path }),
    broken() {},
  })
  const refused = unexamined.find(({ kind }) => chain.refuses(kind))
  if (refused !== undefined) return refuseUnexamined(chain, refused, unexamined)
  return nowOrLater(chain.run(texts, { ...context, about }), ({ verdict, notes }): GuardedRequest => {
    if (verdict.kind === 'reject') return { outcome: verdict, notes, unexamined }
    if (verdict.kind === 'pass') return { outcome: { kind: 'body', body }, notes, unexamined }
    return { outcome: masked(body, reading, verdict.texts), notes, unexamined }
  })
}

/** Writes the masked texts into the body. The order of texts depends on the body alone, so it is the same as before. */
function masked(body: JsonObject, reading: Reading, texts: readonly string[]): GuardedRequest['outcome'] {
  const replacements = texts.values()
  let broken: Rejection | null = null
  const after = readBody(body, reading, {
    text: () => replacements.next().value ?? '',
    unexamined() {},
    broken: (path) => (broken = failedClosed(`masks broke the JSON of ${path}`)),
  })
  return broken ?? { kind: 'body', body: after }
}

function readBody(body: JsonObject, reading: Reading, visitor: RequestVisitor): JsonObject {
  return reading(body, { path: '', role: 'user', visitor }) as JsonObject
}

function refuseUnexamined(chain: GuardChain, { kind, path }: Unexamined, all: readonly Unexamined[]): GuardedRequest {
  const index = Math.max(
    chain.guards.findIndex(({ masksOnly }) => masksOnly !== true),
    0,
  )
  const reason = `${path} cannot be examined (${kind})`
  const note = { index, guard: chain.guards[index]?.name ?? '', verdict: 'reject', found: [kind], reason } as const
  const body = `The request was rejected: prompt guards cannot examine ${path} (${kind}).`
  return { outcome: { kind: 'reject', status: 403, body, found: [kind], reason }, notes: [note], unexamined: all }
}
