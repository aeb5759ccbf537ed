import { isCelError, type Result, toJson, type Value } from '@portico/cel'
import { type Need, type Part, partsOf, type Remedy, remediesFor } from '@portico/cel/explain'
import type { ExpressionPhase } from '../expressions/variables.ts'
import { environmentFor } from '../pipeline/expression/expression.ts'
import { recordScope } from '../pipeline/views/record-scope.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { Change, ExplainedPart, Passing, ReadValue, ReadonlyJson, SourceLocation } from './explanation.ts'
import { isHidden, keptState, stateOf } from './kept.ts'
import { sentence, wordsOf } from './words.ts'

/** Records do not contain the identity of the proxy. */
const NOBODY = { podName: '', namespace: '', gateway: '' }

/** The values of the parts of an expression for a recorded request; null when the expression cannot be parsed. */
export function explainExpression(source: string, phase: ExpressionPhase, record: RequestRecord): ExplainedPart | null {
  const part = partsOf(source, environmentFor(phase), recordScope(record, NOBODY))
  return part === null ? null : explainPart(part, leavesOf(record))
}

/** Decides the state of a value that an expression reads directly. */
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

/**
 * The state of a part with subparts: an unknown subpart makes the part unknown, unless the other subparts decide the
 * result.
 */
function stateOfWhole({ result, text }: Part, parts: readonly ExplainedPart[]): ExplainedPart['state'] {
  const unknown = parts.find(({ state }) => state === 'hidden' || state === 'notKept')
  if (unknown !== undefined) {
    const decides = parts.some(({ value, state }) => state === 'found' && value === result)
    if (!(decides && typeof result === 'boolean' && /&&|\|\|/.test(text))) return unknown.state
  }
  return isCelError(result) ? 'failed' : 'found'
}

/** All values that an expression read, without duplicates. */
export function valuesIn(part: ExplainedPart): ReadValue[] {
  const leaves = (each: ExplainedPart): ExplainedPart[] =>
    each.parts.length === 0 ? [each] : each.parts.flatMap(leaves)
  const found = leaves(part).flatMap(({ text, value, state }): ReadValue[] =>
    state === 'failed' ? [] : [{ name: text, value, state }],
  )
  return [...new Map(found.map((each) => [each.name, each])).values()]
}

/** The changes that would have made an expression true, or false, for a recorded request. */
export function passingWays(
  wanted: boolean,
  source: string,
  { phase, record, place }: { phase: ExpressionPhase; record: RequestRecord; place: SourceLocation | null },
): Passing[] {
  const remedies = remediesFor(wanted, source, environmentFor(phase), recordScope(record, NOBODY))
  return remedies.filter((remedy) => remedy.length > 0).map((remedy) => passing(remedy, record, place))
}

function passing(remedy: Remedy, record: RequestRecord, place: SourceLocation | null): Passing {
  const changes = remedy.map((need) => changeOf(need, record, place))
  return { text: sentence(changes.map(({ text }) => text).join(', and ')), changes }
}

function changeOf(need: Need, record: RequestRecord, place: SourceLocation | null): Change {
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

function shown(result: Result): ReadonlyJson {
  return toJson(result, { values: 200, characters: 4000 })
}
