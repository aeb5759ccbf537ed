import { isCelError, type Result, toJson, type Value } from '@portico/cel'
import { type Need, type Part, partsOf, type Remedy, remediesFor } from '@portico/cel/explain'
import type { ExpressionPhase } from '../expressions/variables.ts'
import { environmentFor } from '../pipeline/expression.ts'
import { recordScope } from '../pipeline/views/record-scope.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { Change, ExplainedPart, Passing, ReadValue, Shown, WrittenPlace } from './explanation.ts'
import { isHidden, keptState, stateOf } from './kept.ts'
import { sentence, wordsOf } from './words.ts'

/** Who the proxy was is not in records. */
const NOBODY = { podName: '', namespace: '', gateway: '' }

/** The values that the parts of an expression have on a recorded request; null where it cannot be read. */
export function explainExpression(source: string, phase: ExpressionPhase, record: RequestRecord): ExplainedPart | null {
  const part = partsOf(source, environmentFor(phase), recordScope(record, NOBODY))
  return part === null ? null : explainPart(part, leavesOf(record))
}

/** What becomes of something that is read as it is. */
export type LeafState = (result: Result, path: readonly string[]) => ExplainedPart['state']

export function explainPart(part: Part, leafState: LeafState): ExplainedPart {
  const parts = part.parts.map((each) => explainPart(each, leafState))
  const { text, result, path } = part
  const error = isCelError(result) ? result.kind : null
  const state = path === null ? stateOfWhole(part, parts) : leafState(result, path)
  return {
    text,
    value: state === 'found' ? shown(result) : null,
    state,
    error: state === 'failed' ? error : null,
    parts,
  }
}

export function leavesOf(record: RequestRecord): LeafState {
  return (result, path) => stateOf(record, path, isCelError(result) ? undefined : (result ?? undefined))
}

/** What nobody knows makes a part unknown, unless the others decide it. */
function stateOfWhole({ result, text }: Part, parts: readonly ExplainedPart[]): ExplainedPart['state'] {
  const unknown = parts.find(({ state }) => state === 'hidden' || state === 'notKept')
  if (unknown !== undefined) {
    const decides = parts.some(({ value, state }) => state === 'found' && value === result)
    if (!(decides && typeof result === 'boolean' && /&&|\|\|/.test(text))) return unknown.state
  }
  return isCelError(result) ? 'failed' : 'found'
}

/** Every thing that an expression read, once. */
export function valuesIn(part: ExplainedPart): ReadValue[] {
  const leaves = (each: ExplainedPart): ExplainedPart[] =>
    each.parts.length === 0 ? [each] : each.parts.flatMap(leaves)
  const found = leaves(part).flatMap(({ text, value, state }): ReadValue[] =>
    state === 'failed' ? [] : [{ name: text, value, state }],
  )
  return [...new Map(found.map((each) => [each.name, each])).values()]
}

/** What would have made an expression true, or false, on a recorded request. */
export function passingWays(
  wanted: boolean,
  source: string,
  { phase, record, place }: { phase: ExpressionPhase; record: RequestRecord; place: WrittenPlace | null },
): Passing[] {
  const remedies = remediesFor(wanted, source, environmentFor(phase), recordScope(record, NOBODY))
  return remedies.filter((remedy) => remedy.length > 0).map((remedy) => passing(remedy, record, place))
}

function passing(remedy: Remedy, record: RequestRecord, place: WrittenPlace | null): Passing {
  const changes = remedy.map((need) => changeOf(need, record, place))
  return { text: sentence(changes.map(({ text }) => text).join(', and ')), changes }
}

function changeOf(need: Need, record: RequestRecord, place: WrittenPlace | null): Change {
  const { path, relation, value, found, example } = need
  const isKept = path === null || (keptState(record, path) === 'kept' && !isHidden(asValue(found)))
  return {
    by: 'client',
    text: wordsOf(need, isKept),
    of: path?.join('.') ?? null,
    found: isKept && found !== undefined ? shown(found) : null,
    relation,
    value: value === undefined ? null : shown(value),
    example: example === undefined ? null : shown(example),
    place,
  }
}

function asValue(result: Result | undefined): Value | undefined {
  return isCelError(result) ? undefined : (result ?? undefined)
}

function shown(result: Result): Shown {
  return toJson(result, { values: 200, characters: 4000 })
}
