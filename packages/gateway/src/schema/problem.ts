export type Path = readonly (string | number)[]

/** Every kind of config problem; the codes are stable, so tools may rely on them. */
export type ProblemCode =
  | 'syntax'
  | 'duplicate_key'
  | 'unknown_key'
  | 'missing_key'
  | 'wrong_type'
  | 'out_of_range'
  | 'bad_format'
  | 'not_allowed'
  | 'conflict'
  | 'duplicate'
  | 'unknown_reference'
  | 'unset_variable'
  | 'unreadable_file'
  | 'bad_certificate'
  | 'bad_expression'
  | 'no_effect'
  | 'may_fail'
  | 'deprecated'

/**
 * One problem of a value. The phrases fit the sentence "<found>, expected <expected>"; an empty expectation is omitted.
 */
export interface Problem {
  code: ProblemCode
  path: Path
  /** Whether the key itself is at fault, or its value. */
  at: 'key' | 'value'
  found: string
  expected: string
  suggestion: string | null
}

/** `binds[0].listeners[1].hostname`, as people write it. */
export function printPath(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (!/^[\w-]+$/.test(step)) text += `[${JSON.stringify(step)}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}

export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 1 ? 'a list of 1 item' : `a list of ${value.length} items`
  if (typeof value === 'object' && value !== null) return 'a mapping'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

/** `a`, `b` or `c` in backquotes, for messages. */
export function printChoices(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``)
  if (quoted.length < 2) return quoted.join('')
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}
