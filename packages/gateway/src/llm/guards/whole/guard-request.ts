import type { JsonObject, Reading, RequestVisitor, UnexaminedKind } from '@portico/chat'
import type { GuardChain } from '../chain.ts'
import type { ExchangeContext, GuardNote, Rejection, TextInfo } from '../guard.ts'
import { nowOrLater } from '../now-or-later.ts'
import { failedClosed } from '../rejection.ts'

export interface GuardedRequest {
  /** The same body object when nothing was masked. */
  outcome: { kind: 'body'; body: JsonObject } | Rejection
  notes: readonly GuardNote[]
  /** Parts of the request that no guard could examine. */
  unexamined: readonly UnexaminedPart[]
}

export interface UnexaminedPart {
  kind: UnexaminedKind
  /** Path in the client's body. */
  path: string
}

/** A client's body, and the reading that finds the texts of its format. */
export interface RequestBody {
  body: JsonObject
  reading: Reading
}

/**
 * Guards every text of a request that a model would read. Parts that no guard can examine are refused unless
 * `allowUnexamined` lists their kind, or no guard can reject a request.
 */
export function guardRequest(
  { chain, allowUnexamined }: { chain: GuardChain; allowUnexamined: readonly UnexaminedKind[] },
  { body, reading }: RequestBody,
  context: ExchangeContext,
): GuardedRequest | Promise<GuardedRequest> {
  const texts: string[] = []
  const about: TextInfo[] = []
  const unexamined: UnexaminedPart[] = []
  readBody(body, reading, {
    text(text, info) {
      texts.push(text)
      about.push(info)
      return text
    },
    unexamined: (kind, path) => unexamined.push({ kind, path }),
    broken() {},
  })
  const refused = unexamined.find(({ kind }) => !allowUnexamined.includes(kind) && canRefuse(chain, kind))
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

/** A block of an unknown type may contain anything: even masks may be in the wrong location, so any guard refuses it. */
function canRefuse({ guards }: GuardChain, kind: UnexaminedKind): boolean {
  return kind === 'Unknown' || guards.some(({ masksOnly }) => masksOnly !== true)
}

function refuseUnexamined(
  chain: GuardChain,
  { kind, path }: UnexaminedPart,
  all: readonly UnexaminedPart[],
): GuardedRequest {
  const index = Math.max(
    chain.guards.findIndex(({ masksOnly }) => masksOnly !== true),
    0,
  )
  const reason = `${path} cannot be examined (${kind})`
  const note = { index, guard: chain.guards[index]?.name ?? '', verdict: 'reject', found: [kind], reason } as const
  const body = `The request was rejected: prompt guards cannot examine ${path} (${kind}).`
  return { outcome: { kind: 'reject', status: 403, body, found: [kind], reason }, notes: [note], unexamined: all }
}
