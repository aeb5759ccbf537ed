import { fieldOf } from './kit.ts'
import type { Node, Schema } from './kit.ts'
import { describeValue, printChoices } from './problem.ts'
import type { Path, Problem } from './problem.ts'
import { readQuickly, UNREAD } from './quick-read.ts'
import { foreignName } from './foreign-names.ts'
import { didYouMean, nearest } from '../formats/suggest.ts'
import { type IssueParams, zodOf } from './zod.ts'

export type ValidationResult<Out> = { ok: true; value: Out } | { ok: false; problems: Problem[] }

/** Checks a value against a definition; every problem is reported, not only the first. */
export function validate<Out>(schema: Schema<Out>, input: unknown): ValidationResult<Out> {
  const quick = readQuickly(schema, input)
  if (quick !== UNREAD) return { ok: true, value: quick }
  const result = zodOf(schema).safeParse(input)
  if (result.success) return { ok: true, value: result.data }
  // A misspelled key is one mistake: the missing correct key is not reported too.
  const issues = (result.error.issues as Issue[]).filter((issue) => !isMisspelt(schema, input, issue))
  return { ok: false, problems: issues.flatMap((issue) => toProblems(schema, input, issue)) }
}

/** Whether the missing key is present under a similar name. */
function isMisspelt(schema: Schema, input: unknown, { code, path, params }: Issue): boolean {
  if (code === 'unrecognized_keys') return false
  const isMissing = params?.absent === undefined && path.length > 0 && valueAt(input, path) === undefined
  const absent = isMissing ? [String(path.at(-1))] : (params?.absent ?? [])
  if (absent.length === 0) return false
  const place = isMissing ? path.slice(0, -1) : path
  const node = nodeAt(schema, place)
  const value = valueAt(input, place)
  if (node.kind !== 'object' || typeof value !== 'object' || value === null) return false
  const known = Object.keys(node.fields)
  const unknown = Object.keys(value).filter((key) => !known.includes(key))
  return unknown.some((key) => absent.includes(nearest(key, known) ?? ''))
}

interface Issue {
  code: string
  path: Path
  keys?: string[]
  params?: IssueParams
}

function toProblems(schema: Schema, input: unknown, issue: Issue): Problem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const node = nodeAt(schema, path)
  if (issue.code === 'unrecognized_keys') return (issue.keys ?? []).map((key) => unknownKey(path, key, node))
  const value = valueAt(input, path)
  const params = issue.params
  if (value === undefined && path.length > 0) return [missingKey(path, node)]
  const detail = params?.detail ?? null
  // Problems are logged, so a message about a secret contains only the detail, not the value.
  const isSecret = node.kind === 'scalar' && node.secret
  const found = isSecret ? (detail ?? 'an invalid value') : describeValue(value)
  return [
    {
      code: params?.code ?? codesByIssue[issue.code] ?? 'wrong_type',
      path: params?.key === undefined ? path : [...path, params.key],
      at: params?.key === undefined ? 'value' : 'key',
      found: params?.found ?? `found ${found}`,
      expected: (params?.expected ?? expectationOf(node)) + (detail === null || isSecret ? '' : ` (${detail})`),
      suggestion: params?.suggestion ?? null,
    },
  ]
}

const codesByIssue: Record<string, Problem['code']> = { too_small: 'out_of_range', too_big: 'out_of_range' }

function unknownKey(path: Path, key: string, node: Node): Problem {
  const known = node.kind === 'object' ? Object.keys(node.fields) : []
  return {
    code: 'unknown_key',
    path: [...path, key],
    at: 'key',
    found: `unknown key \`${key}\``,
    expected: known.length > 12 ? `a key of ${placeOf(path)}` : printChoices(known),
    suggestion: foreignName(key, known) ?? didYouMean(key, known),
  }
}

function missingKey(path: Path, node: Node): Problem {
  const found = `required key \`${path.at(-1)}\` is missing`
  return { code: 'missing_key', path, at: 'value', found, expected: expectationOf(node), suggestion: null }
}

function placeOf(path: Path): string {
  const name = path.findLast((step) => typeof step === 'string')
  return name === undefined ? 'the top level' : `\`${name}\``
}

function expectationOf(node: Node): string {
  if (node.kind === 'scalar') return node.expected
  if (node.kind === 'list') return `a list of ${node.min} to ${node.max} items`
  if (node.kind === 'map') return `a mapping with ${node.min} to ${node.max} keys`
  return `a mapping with ${Object.keys(node.fields).length > 12 ? 'known keys' : `the keys ${printChoices(Object.keys(node.fields))}`}`
}

function nodeAt(schema: Schema, path: Path): Node {
  let node = fieldOf(schema).node
  for (const step of path) {
    const next = childOf(node, step)
    if (next === undefined) return node
    node = fieldOf(next).node
  }
  return node
}

function childOf(node: Node, step: string | number): Schema | undefined {
  switch (node.kind) {
    case 'object':
      return node.fields[step]
    case 'list':
      return node.item
    case 'map':
      return node.value
    case 'scalar':
      return undefined
  }
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const step of path) value = (value as Record<string | number, unknown> | null | undefined)?.[step]
  return value
}
